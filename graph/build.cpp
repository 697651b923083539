#include "graph/build.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "graph/parallel.hpp"
#include "graph/random.hpp"

namespace cohort {
namespace {

constexpr std::size_t nodes_in_block = 4096;

/// Calls `visit(from, to, index)` for every edge that the list represents.
template <class Visit>
void for_edges(const EdgeList& list, Edges kind, const Visit& visit) {
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    const Edge edge = list.edges[i];
    visit(edge.from, edge.to, i);
    if (kind == Edges::undirected && edge.from != edge.to) visit(edge.to, edge.from, i);
  }
}

/// Calls `visit(from, to, index)` for every edge.
template <class Visit>
void for_edges(const Csr& graph, const Visit& visit) {
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge)
      visit(node, graph.targets[edge], edge);
  }
}

/// Builds rows by counting. `each(visit)` must call `visit(from, to, index)` for every edge; it is
/// called twice.
template <class Each>
Csr count_into_rows(std::uint64_t nodes, const std::vector<Weight>& weights, const Each& each) {
  Csr graph;
  graph.offsets.assign(nodes + 1, 0);
  std::uint64_t* const next = graph.offsets.data() + 1;  // per node: the place of its next edge
  each([next](Node from, Node /*to*/, std::uint64_t /*index*/) { ++next[from]; });
  std::uint64_t edges = 0;
  for (std::uint64_t node = 0; node < nodes; ++node) edges += std::exchange(next[node], edges);
  graph.targets.resize(edges);
  if (weights.empty()) {
    each([&, next](Node from, Node to, std::uint64_t /*index*/) {
      graph.targets[next[from]++] = to;
    });
  } else {
    graph.weights.resize(edges);
    each([&, next](Node from, Node to, std::uint64_t index) {
      const std::uint64_t place = next[from]++;
      graph.targets[place] = to;
      graph.weights[place] = weights[index];
    });
  }
  return graph;
}

/// Sorts the edges of `node` and drops self loops and duplicates. Returns the number of edges left.
std::uint64_t tidy(Csr& graph, Node node, std::vector<std::pair<Node, Weight>>& room) {
  const std::uint64_t begin = graph.offsets[node];
  const std::uint64_t end = graph.offsets[node + 1];
  if (graph.weights.empty()) {
    Node* const first = graph.targets.data() + begin;
    Node* const last = graph.targets.data() + end;
    std::sort(first, last);
    return static_cast<std::uint64_t>(std::remove(first, std::unique(first, last), node) - first);
  }
  room.clear();
  for (std::uint64_t edge = begin; edge < end; ++edge) {
    if (graph.targets[edge] != node) room.emplace_back(graph.targets[edge], graph.weights[edge]);
  }
  std::sort(room.begin(), room.end());  // among equal targets, the smallest weight comes first
  std::uint64_t kept = 0;
  for (const auto& [target, weight] : room) {
    if (kept > 0 && graph.targets[begin + kept - 1] == target) continue;
    graph.targets[begin + kept] = target;
    graph.weights[begin + kept] = weight;
    ++kept;
  }
  return kept;
}

/// Tidies all rows of a graph that already has every edge in both directions.
Csr tidied(Csr graph) {
  std::vector<std::uint64_t> kept(graph.num_nodes());
  for_blocks(kept.size(), nodes_in_block, [&](std::size_t begin, std::size_t end) {
    std::vector<std::pair<Node, Weight>> room;
    for (std::size_t node = begin; node < end; ++node)
      kept[node] = tidy(graph, static_cast<Node>(node), room);
  });
  const auto close_up = [&graph, &kept](auto& values) {
    if (values.empty()) return;
    auto to = values.begin();
    for (std::size_t node = 0; node < kept.size(); ++node) {
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(graph.offsets[node]);
      to = std::copy(from, from + static_cast<std::ptrdiff_t>(kept[node]), to);
    }
    values.erase(to, values.end());
  };
  close_up(graph.targets);
  close_up(graph.weights);
  std::inclusive_scan(kept.begin(), kept.end(), graph.offsets.begin() + 1);
  return graph;
}

}  // namespace

Csr to_csr(const EdgeList& list, Edges edges) {
  return count_into_rows(list.nodes, list.weights,
                         [&](const auto& visit) { for_edges(list, edges, visit); });
}

Csr transpose(const Csr& graph) {
  return count_into_rows(graph.num_nodes(), graph.weights, [&](const auto& visit) {
    for_edges(graph, [&visit](Node from, Node to, std::uint64_t edge) { visit(to, from, edge); });
  });
}

Csr symmetrise(const Csr& graph) {
  return tidied(count_into_rows(graph.num_nodes(), graph.weights, [&](const auto& visit) {
    for_edges(graph, [&visit](Node from, Node to, std::uint64_t edge) {
      visit(from, to, edge);
      visit(to, from, edge);
    });
  }));
}

Csr symmetrise(const EdgeList& list) { return tidied(to_csr(list, Edges::undirected)); }

void SymmetryCheck::add(Node from, Node to, Weight weight) {
  if (from == to) return;
  const std::uint64_t ends = (std::uint64_t{std::min(from, to)} << 32U) | std::max(from, to);
  const auto signed_hash = [&](std::uint64_t its_weight) {
    const std::uint64_t hash = splitmix64(splitmix64(ends) + its_weight);
    return from < to ? hash : 0 - hash;
  };
  plain_ += signed_hash(0);
  weighted_ += signed_hash(weight);
}

void SymmetryCheck::add(const SymmetryCheck& others) {
  plain_ += others.plain_;
  weighted_ += others.weighted_;
}

bool is_symmetric(const Csr& graph) {
  const bool weighted = !graph.weights.empty();
  SymmetryCheck check;
  std::mutex mutex;  // of `check`
  for_blocks(graph.num_nodes(), nodes_in_block, [&](std::size_t begin, std::size_t end) {
    SymmetryCheck block;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::uint64_t edge = graph.offsets[i]; edge < graph.offsets[i + 1]; ++edge) {
        block.add(static_cast<Node>(i), graph.targets[edge], weighted ? graph.weights[edge] : 0);
      }
    }
    const std::lock_guard lock{mutex};
    check.add(block);
  });
  return check.symmetric(weighted);
}

std::optional<Edge> one_way_edge(const Csr& graph) {
  if (is_symmetric(graph)) return std::nullopt;
  const Csr reverse = transpose(graph);
  using Ends = std::vector<std::pair<Node, Weight>>;
  const auto sorted = [](const Csr& of, Node node) {
    Ends ends;
    for (std::uint64_t edge = of.offsets[node]; edge < of.offsets[node + 1]; ++edge)
      ends.emplace_back(of.targets[edge], of.weights.empty() ? 0 : of.weights[edge]);
    std::sort(ends.begin(), ends.end());
    return ends;
  };
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    const Ends out = sorted(graph, node);
    const Ends in = sorted(reverse, node);
    Ends lonely;
    std::set_difference(out.begin(), out.end(), in.begin(), in.end(), std::back_inserter(lonely));
    if (!lonely.empty()) return Edge{node, lonely.front().first};
  }
  return std::nullopt;
}

Weight given_weight(Node from, Node to, Node nodes) {
  const std::uint64_t ends = std::uint64_t{std::min(from, to)} * nodes + std::max(from, to);
  return static_cast<Weight>(1 + splitmix64(ends) % 255);
}

Csr with_weights(Csr graph) {
  if (!graph.weights.empty()) return graph;
  const Node nodes = graph.num_nodes();
  graph.weights.resize(graph.targets.size());
  for_blocks(nodes, nodes_in_block, [&graph, nodes](std::size_t begin, std::size_t end) {
    for (std::uint64_t node = begin; node < end; ++node) {
      for (std::uint64_t edge = graph.offsets[node]; edge < graph.offsets[node + 1]; ++edge)
        graph.weights[edge] = given_weight(static_cast<Node>(node), graph.targets[edge], nodes);
    }
  });
  return graph;
}

Node hub(const Csr& graph) {
  const CsrView view = graph.view();
  Node best = 0;
  for (Node node = 1; node < view.num_nodes(); ++node) {
    if (view.degree(node) > view.degree(best)) best = node;
  }
  return best;
}

std::optional<std::string> broken(const Csr& graph) {
  const auto& offsets = graph.offsets;
  if (offsets.empty() || offsets.front() != 0) return "the offsets do not start at 0";
  if (offsets.size() > (std::uint64_t{1} << 32U)) return "there are too many nodes";
  if (!std::is_sorted(offsets.begin(), offsets.end())) return "the offsets decrease";
  if (offsets.back() != graph.targets.size()) return "the last offset is not the number of edges";
  if (!graph.weights.empty() && graph.weights.size() != graph.targets.size())
    return "there are not as many weights as edges";
  Node most = 0;
  for (const Node target : graph.targets) most = std::max(most, target);
  if (!graph.targets.empty() && most >= graph.num_nodes())
    return "there is an edge to node " + std::to_string(most) + ", which does not exist";
  return std::nullopt;
}

}  // namespace cohort
