// A graph with cached facts about it. Invariant: each fact is computed once, and each engine holds
// at most one copy of the graph.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "apps/cuts.hpp"
#include "apps/graph_memory.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

class KnownGraph {
 public:
  explicit KnownGraph(Csr graph) : graph_(std::move(graph)) {}

  [[nodiscard]] const Csr& csr() const { return graph_; }
  /// A fact such as the hub or the transpose: the result of find(csr()), computed once.
  template <class Fact>
  const Fact& get(Fact (*find)(const Csr&)) const {
    const std::scoped_lock lock{mutex_};
    auto& fact = facts_[reinterpret_cast<void (*)()>(find)];
    if (fact == nullptr) fact = std::make_shared<const Fact>(find(graph_));
    return *static_cast<const Fact*>(fact.get());
  }
  /// A copy of `graph`, which is csr() or one of its facts, in an engine's memory.
  template <class Engine>
  const GraphMemory& in_memory(Engine& engine, const Csr& graph) const {
    const std::scoped_lock lock{mutex_};
    auto& memory = residents_[{&engine.memory(), &graph}];
    if (memory == nullptr) memory = std::make_unique<const GraphMemory>(engine, graph);
    return *memory;
  }
  template <class Engine>
  const GraphMemory& in_memory(Engine& engine) const {
    return in_memory(engine, graph_);
  }
  /// A description: "1000000 nodes, 3996000 edges".
  [[nodiscard]] std::string in_words() const {
    return std::to_string(graph_.num_nodes()) + " nodes, " + std::to_string(graph_.num_edges()) +
           " edges";
  }

 private:
  Csr graph_;
  mutable std::mutex mutex_;
  mutable std::map<void (*)(), std::shared_ptr<const void>> facts_;
  mutable std::map<std::pair<const cohort::detail::Memory*, const Csr*>,
                   std::unique_ptr<const GraphMemory>>
      residents_;
};

/// A graph that the apps running on it share.
using GraphInput = std::shared_ptr<const KnownGraph>;

/// The cuts of a graph. Cuts of the default sizes are computed once.
[[nodiscard]] inline HostCuts cuts_of(const KnownGraph& graph, const CutSizes& sizes) {
  return sizes == CutSizes{} ? graph.get(&default_cuts) : cut(graph.csr(), sizes);
}

/// What an app requires of a graph's edges.
enum class Edges : std::uint8_t {
  as_they_are,
  weighted,    ///< unweighted graphs get weights
  undirected,  ///< missing opposite edges are added
};

/// The graph that `spec` names. It is loaded once and shared as long as it has a user. Throws the
/// same errors as load_graph.
[[nodiscard]] GraphInput known_graph(const std::string& spec, Edges edges = Edges::as_they_are);

/// A graph in memory that apps can use as their input: known_graph() finds it by its spec.
class NamedGraph {
 public:
  explicit NamedGraph(Csr graph);
  NamedGraph(const NamedGraph&) = delete;
  NamedGraph& operator=(const NamedGraph&) = delete;
  ~NamedGraph();

  [[nodiscard]] const std::string& spec() const { return spec_; }
  [[nodiscard]] Node num_nodes() const { return num_nodes_; }

 private:
  std::string spec_;
  Node num_nodes_;
};

/// Wraps a copy of `graph`.
[[nodiscard]] inline GraphInput known_graph(const Csr& graph) {
  return std::make_shared<const KnownGraph>(graph);
}

/// One input of each kind, for tests of graph apps.
inline constexpr std::array<std::string_view, 5> graph_examples{
    "grid:300x300", "rmat:14", "road:100000", "star:5000", "geometric:50000"};

/// Base class of apps that run on a graph.
struct AppOnGraph {
  static constexpr const auto& examples = graph_examples;

  GraphInput graph;

  [[nodiscard]] std::string input() const { return graph->in_words(); }
  [[nodiscard]] static std::uint32_t threads_per_sm() { return 1024; }
};

/// A square with a tail, and one unreachable node. One way round the square is shorter than the
/// other. Small enough to be explored.
[[nodiscard]] GraphInput tiny_graph();

}  // namespace cohort::apps
