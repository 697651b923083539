// Graphs and worklists in an engine's memory. Invariant: each object owns the memory to which its
// view points.
#pragma once

#include <vector>

#include "apps/run.hpp"
#include "apps/worklist.hpp"
#include "cohort/buffer.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// A graph in an engine's memory.
class GraphMemory {
 public:
  template <class Engine>
  GraphMemory(Engine& engine, const Csr& graph)
      : offsets_(engine.upload(graph.offsets)),
        targets_(engine.upload(graph.targets)),
        weights_(engine.upload(graph.weights)),
        num_nodes_(graph.num_nodes()) {}

  [[nodiscard]] CsrView view() const {
    return {offsets_.data(), targets_.data(), weights_.size() == 0 ? nullptr : weights_.data(),
            num_nodes_};
  }

 private:
  Buffer<std::uint64_t> offsets_;
  Buffer<Node> targets_;
  Buffer<Weight> weights_;
  Node num_nodes_;
};

/// A worklist with room for every node. If `slots` is set, groups of one thread get slots, unless
/// the job is movable.
class WorklistMemory {
 public:
  template <class Engine>
  WorklistMemory(Engine& engine, Node num_nodes, const RunOptions& options, bool slots)
      : num_slots_(slots && threads_per_group<Engine>(options) == 1 && !options.movable
                       ? most_groups(engine, options)
                       : 0),
        slots_(engine.template allocate<Node>(std::size_t{num_slots_} * room)),
        spill_(memory_for<Node>(engine, num_nodes, options)),
        counts_(engine.template fill<Count>(num_slots_ + 1, Count{})) {}

  /// Makes `node` the only entry of an empty list.
  void put(Node node, std::uint64_t degree) const {
    spill_.write(std::span{&node, 1});
    std::vector<Count> counts(num_slots_ + 1);
    counts.back() = {.nodes = 1, .edges = degree};
    counts_.write(counts);
  }
  [[nodiscard]] Worklist view() const {
    return {slots_.data(), spill_.data(), counts_.data(), num_slots_, room};
  }

 private:
  static constexpr std::uint32_t room = 4096;

  std::uint32_t num_slots_;
  Buffer<Node> slots_;
  Buffer<Node> spill_;
  Buffer<Count> counts_;
};

/// Throws Error{bad_options} if `source` is not a node of `graph`.
inline void check_source(std::string_view app, Node nodes, Node source) {
  if (source < nodes) return;
  throw Error{Errc::bad_options, std::string{app} + ": no node " + std::to_string(source) +
                                     "; the graph has " + std::to_string(nodes)};
}
inline void check_source(std::string_view app, const Csr& graph, Node source) {
  check_source(app, graph.num_nodes(), source);
}

}  // namespace cohort::apps
