// Lengths of paths.
#pragma once

#include <cstdint>

#include "graph/csr.hpp"

namespace cohort::apps {

/// An edge is at most 2^32 - 1 long and a shortest path has less than 2^32 edges, so that no sum
/// reaches `infinite`.
using Distance = std::uint64_t;
inline constexpr Distance infinite = ~Distance{0};

/// Half as large, so that more of them fit a cache. The largest is infinite.
using ShortDistance = std::uint32_t;

/// No shortest path of `graph` is longer with any edge added: that is looked at, too.
[[nodiscard]] Distance longest_path(const Csr& graph);

/// Whether all lengths of a graph with such a longest path are short.
[[nodiscard]] constexpr bool are_short(Distance longest) { return longest < 0xFFFF'FFF0U; }

}  // namespace cohort::apps
