// Graphs made from a few numbers, the same on every machine.
#pragma once

#include "graph/csr.hpp"

namespace cohort {

/// An undirected grid: node `y * width + x` has an edge to each of its at most four neighbours.
/// Needs `1 <= width * height < 2^32`.
[[nodiscard]] Csr grid(Node width, Node height);

}  // namespace cohort
