#include "graph/generators.hpp"

namespace cohort {

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

}  // namespace cohort
