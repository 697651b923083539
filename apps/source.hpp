// The source of a search: `source=NODE` or `source=hub`. Default: the hub for R-MAT graphs,
// otherwise node 0.
#pragma once

#include <charconv>

#include "apps/known_graph.hpp"
#include "apps/settings.hpp"
#include "cohort/error.hpp"
#include "graph/arguments.hpp"
#include "graph/build.hpp"

namespace cohort::apps {

class SourceChoice {
 public:
  SourceChoice(const std::string& input, Settings& settings)
      : text_(settings.text("source", kind_of(input) == "rmat" ? "hub" : "0")) {}

  [[nodiscard]] Node of(const KnownGraph& graph) const {
    return of([&graph] { return graph.get(&hub); });
  }
  /// `find_hub()` returns the hub.
  template <class FindHub>
  [[nodiscard]] Node of(const FindHub& find_hub) const {
    if (text_ == "hub") return find_hub();
    Node node = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stopped, error] = std::from_chars(text_.data(), end, node);
    if (error == std::errc{} && stopped == end) return node;
    throw Error{Errc::bad_options, "option 'source=" + text_ +
                                       "': give a node's number, or hub for the highest degree"};
  }

 private:
  std::string text_;
};

}  // namespace cohort::apps
