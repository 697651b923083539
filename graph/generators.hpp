// Graphs made from a few numbers, the same on every machine. All are undirected: both directions of
// an edge are there, with equal weights; no self loops, no duplicates. Node counts are below 2^32.
#pragma once

#include "graph/build.hpp"
#include "graph/csr.hpp"

namespace cohort {

/// Seed of the generators, unless another is given.
inline constexpr std::uint64_t default_seed = 1;

/// A grid: node `y * width + x` has an edge to each of its at most four neighbours. Needs
/// `1 <= width * height < 2^32`.
[[nodiscard]] Csr grid(Node width, Node height);

/// An R-MAT graph (Chakrabarti, Zhan, Faloutsos, SDM 2004) with the parameters of Graph500: 2^scale
/// nodes, and `factor` * 2^scale edges drawn with a = 0.57, b = c = 0.19, d = 0.05. The nodes are
/// renumbered at random. The graph is symmetrised afterwards, and duplicates and self loops are
/// removed, so there are fewer edges than drawn. Nodes without edges stay. `scale` is at most 31.
[[nodiscard]] Csr rmat(std::uint32_t scale, std::uint64_t seed = default_seed,
                       std::uint32_t factor = 16);

/// The edges `begin` to `end` - 1 of those that it draws, before they are symmetrised.
[[nodiscard]] std::vector<Edge> rmat_edges(std::uint32_t scale, std::uint64_t seed,
                                           std::uint64_t begin, std::uint64_t end);

/// Like a road network: crossings of a square grid, moved at random. Neighbours are connected with
/// a probability of 0.6, and then the parts that are still separate are connected. The graph has
/// about 2.5 edges per node, and a diameter that grows with the square root of the nodes. Weights:
/// the distance, where 1000 is a square of the grid.
[[nodiscard]] Csr road(Node nodes, std::uint64_t seed = default_seed);

/// A random geometric graph: points in the unit square, each connected with those nearer than a
/// radius. The radius gives `degree` neighbours on average (fewer near the border). Nodes are
/// numbered by squares of that size, row by row. Weights: the distance, where 1000 is the radius,
/// and at least 1.
[[nodiscard]] Csr geometric(Node nodes, std::uint32_t degree = 8,
                            std::uint64_t seed = default_seed);

/// Node 0 with an edge to every other node.
[[nodiscard]] Csr star(Node nodes);

/// Node 0 to 1 to 2 and so on.
[[nodiscard]] Csr path(Node nodes);

/// An edge between any two nodes.
[[nodiscard]] Csr complete(Node nodes);

/// No edges.
[[nodiscard]] Csr empty(Node nodes);

}  // namespace cohort
