// Where searches start: `source=0` (default), another node, or `source=hub`.
#pragma once

#include <charconv>

#include "apps/settings.hpp"
#include "cohort/error.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

class SourceChoice {
 public:
  explicit SourceChoice(Settings& settings) : text_(settings.text("source", "0")) {}

  /// Hub: the node of highest degree, the lowest id of those.
  [[nodiscard]] Node of(const Csr& graph) const {
    if (text_ == "hub") {
      Node best = 0;
      for (Node node = 1; node < graph.num_nodes(); ++node) {
        if (degree(graph, node) > degree(graph, best)) best = node;
      }
      return best;
    }
    Node node = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stopped, error] = std::from_chars(text_.data(), end, node);
    if (error == std::errc{} && stopped == end) return node;
    throw Error{Errc::bad_options, "option 'source=" + text_ +
                                       "': give a node's number, or hub for the highest degree"};
  }

 private:
  static std::uint64_t degree(const Csr& graph, Node node) {
    return graph.offsets[node + 1] - graph.offsets[node];
  }

  std::string text_;
};

}  // namespace cohort::apps
