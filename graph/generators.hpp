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

/// The probability, in hundredths, that an edge of an R-MAT graph falls into each quadrant of the
/// matrix. The fourth quadrant gets the rest. The defaults are those of Graph500. A larger `a`
/// gives larger hubs.
struct RmatShares {
  std::uint32_t a = 57;
  std::uint32_t b = 19;
  std::uint32_t c = 19;
};

/// An R-MAT graph (Chakrabarti, Zhan, Faloutsos, SDM 2004): 2^scale nodes, and `factor` * 2^scale
/// edges drawn. The nodes are renumbered at random. The graph is symmetrised afterwards, and
/// duplicates and self loops are removed, so there are fewer edges than drawn. Nodes without edges
/// stay. `scale` is at most 31.
[[nodiscard]] Csr rmat(std::uint32_t scale, std::uint64_t seed = default_seed,
                       std::uint32_t factor = 16, const RmatShares& shares = {});

/// The edges `begin` to `end` - 1 in the order in which rmat() draws them, before they are
/// symmetrised.
[[nodiscard]] std::vector<Edge> rmat_edges(std::uint32_t scale, std::uint64_t seed,
                                           std::uint64_t begin, std::uint64_t end,
                                           const RmatShares& shares = {});

/// A graph like a social network: the number of nodes of degree d falls as d^-exponent, where the
/// exponent is given in hundredths, above 200. Nodes arrive one by one, and each draws `factor`
/// neighbours among the earlier nodes. With a probability of 1 / (exponent - 1) it copies the
/// choice of an earlier edge; otherwise it draws any node (Kumar et al., FOCS 2000). Renumbered and
/// symmetrised like an R-MAT graph.
[[nodiscard]] Csr power_law(Node nodes, std::uint32_t exponent = 250, std::uint32_t factor = 8,
                            std::uint64_t seed = default_seed);

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

/// Node 0 with an edge to every other node. If `tail` is not 0, only every (tail + 1)th node has
/// such an edge, and the nodes between two of these follow the first as a path.
[[nodiscard]] Csr star(Node nodes, Node tail = 0);

/// A chain of edges: node 0 to 1 to 2 and so on.
[[nodiscard]] Csr path(Node nodes);

/// A graph with an edge between any two nodes.
[[nodiscard]] Csr complete(Node nodes);

/// A graph without edges.
[[nodiscard]] Csr empty(Node nodes);

}  // namespace cohort
