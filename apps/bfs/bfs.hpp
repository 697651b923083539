// Breadth-first search, level by level: each step visits one frontier and fills the next. One
// resizing barrier a level. Invariant: a node enters a frontier once, in the step that sets its
// level.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cohort/kernel.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// A bag of nodes with room for all of them. Its atomics are relaxed: the barrier between two steps
/// orders those who fill it before those who read it.
struct Frontier {
  Node* nodes;
  std::uint32_t* count;

  [[nodiscard]] COHORT_FN std::size_t size() const {
    return std::atomic_ref{*count}.load(std::memory_order_relaxed);
  }
  [[nodiscard]] COHORT_FN Node operator[](std::size_t i) const { return nodes[i]; }
  COHORT_FN void push(Node node) const {
    nodes[std::atomic_ref{*count}.fetch_add(1, std::memory_order_relaxed)] = node;
  }
  COHORT_FN void clear() const { std::atomic_ref{*count}.store(0, std::memory_order_relaxed); }
};

struct Bfs {
  static constexpr std::uint32_t unreached = ~0U;
  struct State {
    std::uint32_t level = 0;
  };  // all that a joining group receives

  CsrView graph;
  Frontier frontier[3];     // by level modulo 3: one is read, the next filled, the last emptied
  std::uint32_t* level_of;  // unreached, or the distance from the source

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Frontier& in = frontier[state.level % 3];
    const Frontier& out = frontier[(state.level + 1) % 3];
    bool reached = false;
    for (const std::size_t i : group.stride(in.size())) reached |= visit(in[i], out, state.level);
    if (group.global_id() == 0) frontier[(state.level + 2) % 3].clear();
    ++state.level;
    return reached ? Next::again : Next::halt;
  }

 private:
  /// Takes the neighbours of `node` that nobody has reached. True: there was one.
  COHORT_FN bool visit(Node node, const Frontier& out, std::uint32_t level) const {
    bool reached = false;
    for (const Node next : graph.neighbours(node)) {
      if (!reach(next, level + 1)) continue;
      out.push(next);
      reached = true;
    }
    return reached;
  }

  /// Test and set. Relaxed: of several groups that reach a node in one step one wins, and what it
  /// writes is read only after the barrier.
  COHORT_FN bool reach(Node node, std::uint32_t level) const {
    const std::atomic_ref mine{level_of[node]};
    std::uint32_t seen = mine.load(std::memory_order_relaxed);
    return seen == unreached && mine.compare_exchange_strong(seen, level, std::memory_order_relaxed,
                                                             std::memory_order_relaxed);
  }
};

}  // namespace cohort::apps
