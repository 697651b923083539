// Graphs generated from a few numbers, the same on every machine. All are undirected: each edge
// exists in both directions, with equal weights. There are no self loops and no duplicates, and
// fewer than 2^32 nodes.
#pragma once

#include "graph/build.hpp"
#include "graph/csr.hpp"

namespace cohort {

/// The generators' default seed.
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

/// The edges `begin` to `end` - 1 in the order in which rmat() draws them, before they are
/// symmetrised.
[[nodiscard]] std::vector<Edge> rmat_edges(std::uint32_t scale, std::uint64_t seed,
                                           std::uint64_t begin, std::uint64_t end);

/// A graph like a road network: crossings of a square grid, moved at random. Neighbours are
/// connected with a probability of 0.6; then parts that are still separate are connected. The graph
/// has about 2.5 edges per node, and a diameter that grows with the square root of the number of
/// nodes. An edge's weight is its length, where 1000 is the side of a grid square.
[[nodiscard]] Csr road(Node nodes, std::uint64_t seed = default_seed);

/// A random geometric graph: points in the unit square, each connected with all points nearer than
/// a radius. The radius is chosen for `degree` neighbours on average (fewer near the border). Nodes
/// are numbered by squares of that size, row by row. An edge's weight is its length, where 1000 is
/// the radius, and at least 1.
[[nodiscard]] Csr geometric(Node nodes, std::uint32_t degree = 8,
                            std::uint64_t seed = default_seed);

/// Node 0 with an edge to every other node.
[[nodiscard]] Csr star(Node nodes);

/// A chain of edges: node 0 to 1 to 2 and so on.
[[nodiscard]] Csr path(Node nodes);

/// A graph with an edge between any two nodes.
[[nodiscard]] Csr complete(Node nodes);

/// A graph without edges.
[[nodiscard]] Csr empty(Node nodes);

}  // namespace cohort
