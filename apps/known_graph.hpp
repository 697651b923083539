// A graph with what apps want to know of it. Invariant: what was found once is not sought again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "apps/graph_memory.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

class KnownGraph {
 public:
  explicit KnownGraph(Csr graph) : graph_(std::move(graph)) {}

  [[nodiscard]] const Csr& csr() const { return graph_; }
  /// find(csr()): its hub, say, or the graph with its edges turned round.
  template <class Fact>
  const Fact& get(Fact (*find)(const Csr&)) const {
    const std::scoped_lock lock{mutex_};
    auto& fact = facts_[reinterpret_cast<void (*)()>(find)];
    if (fact == nullptr) fact = std::make_shared<const Fact>(find(graph_));
    return *static_cast<const Fact*>(fact.get());
  }
  /// Where it is in engines' memory.
  [[nodiscard]] ResidentGraphs& residents() const { return residents_; }

 private:
  Csr graph_;
  mutable std::mutex mutex_;
  mutable std::map<void (*)(), std::shared_ptr<const void>> facts_;
  mutable ResidentGraphs residents_;
};

/// `options` for a run on `graph`, which must outlive them.
[[nodiscard]] inline RunOptions on(const KnownGraph& graph, RunOptions options) {
  options.graphs = &graph.residents();
  return options;
}

/// What is wanted of a graph.
enum class Edges : std::uint8_t {
  as_they_are,
  weighted,    ///< those that have no weights get some
  undirected,  ///< those that have one direction only get the other
};

/// The graph that `spec` names; kept while there is a KeepInput. Throws as load_graph does.
[[nodiscard]] std::shared_ptr<const KnownGraph> known_graph(const std::string& spec,
                                                            Edges edges = Edges::as_they_are);

}  // namespace cohort::apps
