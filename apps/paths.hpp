// Shortest paths: shared by the host sides of p-sssp and l-sssp. The verifier is Dijkstra's
// algorithm; it shares no code with the kernels.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/distance.hpp"
#include "apps/known_graph.hpp"
#include "apps/registry.hpp"
#include "cohort/buffer.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

struct SsspResult {
  std::vector<Distance> distances;  ///< indexed by node; `infinite` if there is no path
  Report report;
};

/// Initial distances: 0 for the source, and for other nodes the largest `Length`, which means
/// infinite.
template <class Length, class Engine>
Buffer<Length> distances_from(Engine& engine, Node nodes, Node source) {
  auto distances = engine.template fill<Length>(nodes, static_cast<Length>(infinite));
  distances.write(std::vector{Length{0}}, source);
  return distances;
}

template <class Length>
std::vector<Distance> read_distances(const Buffer<Length>& distances) {
  const std::vector<Length> found = distances.read();
  std::vector<Distance> result(found.begin(), found.end());
  std::ranges::replace(result, Distance{static_cast<Length>(infinite)}, infinite);
  return result;
}

/// Compares with the distances that Dijkstra's algorithm finds. Describes the first difference, or
/// returns nothing.
[[nodiscard]] std::optional<std::string> check_paths(const Csr& graph, Node source,
                                                     const std::vector<Distance>& distances);

/// Distances from `source`. Edges of an unweighted graph have length 1. Complete only when the job
/// has finished.
struct SsspApp : AppOnGraph {
  static constexpr std::string_view paper = "algorithm=paper";
  static constexpr std::string_view dialect_options = "source";
  using Result = SsspResult;

  Node source;

  [[nodiscard]] static const auto& by_node(const SsspResult& result) { return result.distances; }
  /// The largest finite distance, the sum of all finite distances, and their number.
  [[nodiscard]] static Numbers numbers(const SsspResult& result);
  [[nodiscard]] std::optional<std::string> difference(const SsspResult& result) const {
    return check_paths(graph->csr(), source, result.distances);
  }
};

}  // namespace cohort::apps
