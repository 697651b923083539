// Lengths of paths.
#pragma once

#include <cstdint>

#include "graph/csr.hpp"

namespace cohort::apps {

/// An edge is at most 2^32 - 1 long and a shortest path has fewer than 2^32 edges, so no sum
/// reaches `infinite`.
using Distance = std::uint64_t;
inline constexpr Distance infinite = ~Distance{0};

/// Half the size of a Distance, so that more distances fit into a cache. The largest value means
/// infinite.
using ShortDistance = std::uint32_t;

/// Upper bound on a shortest path plus one edge, the longest path that kernels compute.
[[nodiscard]] Distance longest_path(const Csr& graph);

/// Whether all distances in a graph fit ShortDistance, given its longest_path().
[[nodiscard]] constexpr bool are_short(Distance longest) { return longest < 0xFFFF'FFF0U; }

}  // namespace cohort::apps
