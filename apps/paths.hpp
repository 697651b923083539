// Shortest paths by Dijkstra's algorithm, for the verifiers: they share no code with the kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/distance.hpp"
#include "apps/registry.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// Compares with the distances that Dijkstra's algorithm finds. The first difference in words, or
/// nothing.
[[nodiscard]] std::optional<std::string> check_paths(const Csr& graph, Node source,
                                                     const std::vector<Distance>& distances);

/// The largest distance, the sum of all, and how many nodes have one.
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> paths_in_numbers(
    const std::vector<Distance>& distances);

}  // namespace cohort::apps
