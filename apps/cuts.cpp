#include "apps/cuts.hpp"

#include <algorithm>
#include <numeric>

#include "apps/degrees.hpp"

namespace cohort::apps {

HostCuts cut(const Csr& graph, const CutSizes& sizes) {
  HostCuts cuts{.first = {}, .pieces = {}, .sizes = sizes};
  if (max_degree(graph) <= std::min(sizes.hub, most_few_edges)) return cuts;
  std::uint32_t hubs = 0;
  // Work in the current block; starts full, so the first node begins a block.
  std::uint64_t work = sizes.block;
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    const std::uint64_t begin = graph.offsets[node];
    const std::uint64_t degree = graph.offsets[node + 1] - begin;
    const bool hub = degree > sizes.hub;
    // A hub counts too, because color visits it in its block.
    const std::uint64_t its = 1 + std::min<std::uint64_t>(degree, sizes.hub);
    if (work + its > sizes.block) {
      cuts.first.push_back(node);
      work = 0;
    }
    work += its;
    if (!hub) continue;
    const auto pieces = static_cast<std::uint32_t>((degree + sizes.piece - 1) / sizes.piece);
    for (std::uint32_t i = 0; i < pieces; ++i) {
      const std::uint64_t from = begin + degree * i / pieces;
      const std::uint64_t to = begin + degree * (i + 1) / pieces;
      cuts.pieces.push_back({.begin = from,
                             .hub = node,
                             .count = static_cast<std::uint32_t>(to - from),
                             .number = hubs});
    }
    ++hubs;
  }
  cuts.first.push_back(graph.num_nodes());
  return cuts;
}

std::vector<std::uint32_t> pieces_of_hubs(const HostCuts& cuts) {
  std::vector<std::uint32_t> count;
  for (const HubPiece& piece : cuts.pieces) {
    if (piece.number == count.size()) count.push_back(0);
    ++count.back();
  }
  return count;
}

HostCuts default_cuts(const Csr& graph) { return cut(graph, {}); }

HostCuts default_incoming_cuts(const Csr& graph) {
  Csr rows;  // contains no edges: only degrees matter
  rows.offsets.resize(graph.offsets.size());
  for (const Node target : graph.targets) ++rows.offsets[target + 1];
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  return default_cuts(rows);
}

}  // namespace cohort::apps
