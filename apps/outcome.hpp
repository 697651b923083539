// From a result to an Outcome: the part that all apps share.
#pragma once

#include "apps/registry.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

[[nodiscard]] inline std::string in_words(const Csr& graph) {
  return std::to_string(graph.num_nodes()) + " nodes, " + std::to_string(graph.num_edges()) +
         " edges";
}

/// `numbers()` tells the result, `check()` the first difference from the right one, if any.
template <class Numbers, class Check>
Outcome outcome(std::string input, const Report& report, const Request& request, Numbers numbers,
                Check check) {
  Outcome result{
      .input = std::move(input), .report = report, .result = {}, .verified = {}, .difference = {}};
  if (report.status != Status::finished || !request.options.results) return result;
  result.result = numbers();
  if (request.verify) {
    const std::optional<std::string> difference = check();
    result.verified = !difference;
    result.difference = difference.value_or("");
  }
  return result;
}

}  // namespace cohort::apps
