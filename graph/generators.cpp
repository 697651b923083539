#include "graph/generators.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "graph/build.hpp"
#include "graph/parallel.hpp"
#include "graph/random.hpp"

namespace cohort {
namespace {

/// Independent streams of random numbers from one seed.
enum Stream : std::uint64_t {
  permutation = std::uint64_t{1} << 62U,
  roads,
  places,
  choices = std::uint64_t{1} << 61U
};

// ---- R-MAT

/// One edge: a quadrant of the matrix for each bit of its ends.
Edge rmat_edge(std::uint32_t scale, std::uint64_t seed, std::uint64_t index,
               const RmatShares& shares) {
  // Thresholds of 32 bits: a, a + b, a + b + c.
  const auto share = [](std::uint64_t percent) { return (percent << 32U) / 100; };
  const std::uint64_t a = share(shares.a);
  const std::uint64_t ab = share(std::uint64_t{shares.a} + shares.b);
  const std::uint64_t abc = share(std::uint64_t{shares.a} + shares.b + shares.c);
  Random random{seed, index};
  std::uint64_t draws = 0;
  Edge edge{0, 0};
  for (std::uint32_t bit = 0; bit < scale; ++bit) {
    draws = bit % 2 == 0 ? random.next() : draws >> 32U;
    const std::uint64_t draw = draws & 0xFFFF'FFFFU;
    edge.from = edge.from << 1U | static_cast<Node>(draw >= ab);
    edge.to = edge.to << 1U | static_cast<Node>((draw >= a && draw < ab) || draw >= abc);
  }
  return edge;
}

/// A random permutation of the nodes (Fisher and Yates).
std::vector<Node> shuffled(Node nodes, std::uint64_t seed) {
  std::vector<Node> names(nodes);
  std::iota(names.begin(), names.end(), 0);
  Random random{seed, Stream::permutation};
  for (Node left = nodes; left > 1; --left) std::swap(names[left - 1], names[random.below(left)]);
  return names;
}

// ---- road

/// Sets of connected nodes (union-find: union by index, path halving).
class Parts {
 public:
  explicit Parts(Node nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0); }

  /// Returns false if both nodes were in the same set already.
  bool join(Node one, Node other) {
    one = find(one);
    other = find(other);
    if (one == other) return false;
    parent_[std::max(one, other)] = std::min(one, other);
    return true;
  }

 private:
  Node find(Node node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  std::vector<Node> parent_;
};

struct Point {
  std::int64_t x;
  std::int64_t y;
};

/// Coordinates are below 2^31. The sum of their squares is exact, and the root is rounded the same
/// way on every machine.
double distance(const Point& one, const Point& other) {
  const std::int64_t dx = one.x - other.x;
  const std::int64_t dy = one.y - other.y;
  return std::sqrt(static_cast<double>(dx * dx + dy * dy));
}

Weight weight_of(double distance) { return std::max(Weight{1}, static_cast<Weight>(distance)); }

/// A random point in the middle part of the node's 1000 by 1000 square.
Point crossing(Node node, Node width, std::uint64_t seed) {
  Random random{seed, Stream::places + node};
  return {std::int64_t{1000} * (node % width) + random.below(800),
          std::int64_t{1000} * (node / width) + random.below(800)};
}

}  // namespace

Csr grid(Node width, Node height) {
  const std::uint64_t nodes = std::uint64_t{width} * height;
  Csr graph;
  graph.offsets.reserve(nodes + 1);
  graph.targets.reserve(4 * nodes - 2 * (std::uint64_t{width} + height));
  for (Node y = 0; y < height; ++y) {
    for (Node x = 0; x < width; ++x) {
      const Node here = y * width + x;
      if (y > 0) graph.targets.push_back(here - width);
      if (x > 0) graph.targets.push_back(here - 1);
      if (x + 1 < width) graph.targets.push_back(here + 1);
      if (y + 1 < height) graph.targets.push_back(here + width);
      graph.offsets.push_back(graph.targets.size());
    }
  }
  return graph;
}

std::vector<Edge> rmat_edges(std::uint32_t scale, std::uint64_t seed, std::uint64_t begin,
                             std::uint64_t end, const RmatShares& shares) {
  const std::vector<Node> names = shuffled(Node{1} << scale, seed);
  std::vector<Edge> edges(end - begin);
  for_blocks(edges.size(), 1U << 14U, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Edge edge = rmat_edge(scale, seed, begin + i, shares);
      edges[i] = {names[edge.from], names[edge.to]};
    }
  });
  return edges;
}

Csr rmat(std::uint32_t scale, std::uint64_t seed, std::uint32_t factor, const RmatShares& shares) {
  return symmetrise({.nodes = Node{1} << scale,
                     .edges = rmat_edges(scale, seed, 0, std::uint64_t{factor} << scale, shares),
                     .weights = {}});
}

Csr power_law(Node nodes, std::uint32_t exponent, std::uint32_t factor, std::uint64_t seed) {
  if (nodes < 2) return empty(nodes);
  // The probability of a copy, as a fraction of 2^32.
  const std::uint64_t copies = (std::uint64_t{100} << 32U) / (exponent - 100);
  const std::vector<Node> names = shuffled(nodes, seed);
  Random random{seed, Stream::choices};
  // For each node, beginning with node 1.
  std::vector<Node> chosen(std::size_t{nodes - 1} * factor);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto node = static_cast<Node>(i / factor + 1);
    // Number of edges of earlier nodes.
    const std::uint64_t earlier = std::uint64_t{node - 1} * factor;
    const bool copy = earlier > 0 && random.next() >> 32U < copies;
    chosen[i] = copy ? chosen[random.next() % earlier] : random.below(node);
  }
  EdgeList list{.nodes = nodes, .edges = std::vector<Edge>(chosen.size()), .weights = {}};
  for (std::size_t i = 0; i < chosen.size(); ++i)
    list.edges[i] = {names[i / factor + 1], names[chosen[i]]};
  return symmetrise(list);
}

Csr road(Node nodes, std::uint64_t seed) {
  if (nodes == 0) return {};
  const auto width = std::max(static_cast<Node>(std::sqrt(static_cast<double>(nodes))), Node{1});
  // Calls `visit(node, neighbour, open)` for every pair of neighbours in the grid.
  const auto for_pairs = [nodes, width, seed](const auto& visit) {
    constexpr std::uint64_t open_of_1000 = 600;
    Random random{seed, Stream::roads};
    for (Node node = 0; node < nodes; ++node) {
      const std::uint64_t draw = random.next();
      if (node % width + 1 < width && node + 1 < nodes)
        visit(node, node + 1, (draw & 0xFFFF'FFFFU) % 1000 < open_of_1000);
      if (nodes - node > width) visit(node, node + width, (draw >> 32U) % 1000 < open_of_1000);
    }
  };
  Parts parts{nodes};
  EdgeList list{.nodes = nodes, .edges = {}, .weights = {}};
  list.edges.reserve(std::size_t{nodes} / 4 * 6);
  for_pairs([&](Node node, Node neighbour, bool open) {
    if (!open) return;
    parts.join(node, neighbour);
    list.edges.push_back({node, neighbour});
  });
  for_pairs([&](Node node, Node neighbour, bool open) {
    if (!open && parts.join(node, neighbour)) list.edges.push_back({node, neighbour});
  });
  list.weights.reserve(list.edges.size());
  for (const Edge& edge : list.edges) {
    list.weights.push_back(
        weight_of(distance(crossing(edge.from, width, seed), crossing(edge.to, width, seed))));
  }
  return symmetrise(list);
}

Csr geometric(Node nodes, std::uint32_t degree, std::uint64_t seed) {
  if (nodes == 0 || degree == 0) return empty(nodes);
  constexpr unsigned bits = 31;
  constexpr double side = 1U << bits;
  const double radius = side * std::min(1.0, std::sqrt(degree / (std::numbers::pi * nodes)));
  const auto rows =
      static_cast<std::uint64_t>(side / radius);  // cells are at least as large as the radius
  const auto cell_of = [rows](std::int64_t coordinate) {
    return static_cast<std::uint64_t>(coordinate) * rows >> bits;
  };

  // Points sorted by cell.
  std::vector<Point> points(nodes);
  std::vector<Node> first(rows * rows + 1);
  const auto place = [seed](Node index) {
    const std::uint64_t draw = Random{seed, Stream::places + index}.next();
    return Point{static_cast<std::int64_t>(draw >> (64 - bits)),
                 static_cast<std::int64_t>(draw & ((1U << bits) - 1))};
  };
  const auto cell = [&](const Point& at) { return cell_of(at.y) * rows + cell_of(at.x); };
  for (Node i = 0; i < nodes; ++i) ++first[cell(place(i)) + 1];
  std::inclusive_scan(first.begin(), first.end(), first.begin());
  {
    std::vector<Node> next(first.begin(), first.end() - 1);
    for (Node i = 0; i < nodes; ++i) {
      const Point at = place(i);
      points[next[cell(at)]++] = at;
    }
  }

  // All points within the radius are in the nine cells around the point.
  Csr graph;
  graph.offsets.reserve(std::size_t{nodes} + 1);
  for (Node node = 0; node < nodes; ++node) {
    const Point here = points[node];
    const std::uint64_t x = cell_of(here.x);
    const std::uint64_t y = cell_of(here.y);
    for (std::uint64_t row = y == 0 ? 0 : y - 1; row <= std::min(y + 1, rows - 1); ++row) {
      const Node begin = first[row * rows + (x == 0 ? 0 : x - 1)];
      const Node end = first[row * rows + std::min(x + 1, rows - 1) + 1];
      for (Node other = begin; other < end; ++other) {
        const double apart = distance(here, points[other]);
        if (other == node || apart >= radius) continue;
        graph.targets.push_back(other);
        graph.weights.push_back(weight_of(1000.0 * apart / radius));
      }
    }
    graph.offsets.push_back(graph.targets.size());
  }
  return graph;
}

Csr star(Node nodes, Node tail) {
  if (tail > 0) {
    EdgeList list{.nodes = nodes, .edges = {}, .weights = {}};
    for (Node node = 1; node < nodes; ++node)
      list.edges.push_back({(node - 1) % (std::uint64_t{tail} + 1) == 0 ? 0 : node - 1, node});
    return symmetrise(list);
  }
  Csr graph = empty(nodes);
  if (nodes < 2) return graph;
  graph.targets.assign(2 * (std::size_t{nodes} - 1), 0);
  std::iota(graph.targets.begin(), graph.targets.begin() + nodes - 1, 1);
  std::iota(graph.offsets.begin() + 1, graph.offsets.end(), nodes - 1);
  return graph;
}

Csr path(Node nodes) { return nodes == 0 ? Csr{} : grid(nodes, 1); }

Csr complete(Node nodes) {
  Csr graph;
  graph.offsets.reserve(std::size_t{nodes} + 1);
  graph.targets.reserve(nodes == 0 ? 0 : std::size_t{nodes} * (nodes - 1));
  for (Node node = 0; node < nodes; ++node) {
    for (Node other = 0; other < nodes; ++other) {
      if (other != node) graph.targets.push_back(other);
    }
    graph.offsets.push_back(graph.targets.size());
  }
  return graph;
}

Csr empty(Node nodes) {
  Csr graph;
  graph.offsets.assign(std::size_t{nodes} + 1, 0);
  return graph;
}

}  // namespace cohort
