#include <cmath>

#include "apps/pagerank/host.hpp"

namespace cohort::apps::pagerank {
namespace {

std::vector<double> next(const Csr& graph, const std::vector<double>& ranks) {
  constexpr double damping = 0.85;
  std::vector<double> sums(ranks.size(), 0);
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    const std::uint64_t begin = graph.offsets[node];
    const std::uint64_t end = graph.offsets[node + 1];
    if (begin == end) sums[node] += ranks[node];
    for (std::uint64_t edge = begin; edge < end; ++edge)
      sums[graph.targets[edge]] += ranks[node] / static_cast<double>(end - begin);
  }
  for (double& each : sums) each = (1 - damping) + damping * each;
  return sums;
}

double most_change(const std::vector<double>& one, const std::vector<double>& other) {
  double most = 0;
  for (std::size_t i = 0; i < one.size(); ++i) most = std::max(most, std::abs(one[i] - other[i]));
  return most;
}

std::optional<std::string> compare(const std::vector<double>& ranks,
                                   const std::vector<double>& expected) {
  for (std::size_t node = 0; node < ranks.size(); ++node) {
    if (!(std::abs(ranks[node] - expected[node]) <= 1e-9 * (1 + expected[node])))
      return "node " + std::to_string(node) + " has rank " + std::to_string(ranks[node]) +
             " instead of " + std::to_string(expected[node]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> check_ranks(const Csr& graph, double tolerance,
                                       const std::vector<double>& ranks) {
  if (ranks.size() != graph.num_nodes()) {
    return std::to_string(ranks.size()) + " ranks for " + std::to_string(graph.num_nodes()) +
           " nodes";
  }
  std::vector<double> before(ranks.size(), 1);
  for (;;) {
    std::vector<double> after = next(graph, before);
    const double change = most_change(before, after);
    // Rounding differs, so an iteration whose largest change is close to the tolerance may be the
    // last.
    const bool last = change <= tolerance;
    const bool about_last = std::abs(change - tolerance) <= 1e-6 * tolerance;
    if (last || about_last) {
      auto difference = compare(ranks, after);
      if (!difference || !about_last) return difference;
    }
    before = std::move(after);
  }
}

}  // namespace cohort::apps::pagerank
