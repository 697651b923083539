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
  COHORT_FN void push(const Node* first, std::uint32_t size) const {
    if (size == 0) return;
    Node* const to = nodes + std::atomic_ref{*count}.fetch_add(size, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < size; ++i) to[i] = first[i];
  }
  COHORT_FN void clear() const { std::atomic_ref{*count}.store(0, std::memory_order_relaxed); }
};

/// Fills a frontier in batches, so that threads meet at its count once for many nodes.
class Batch {
 public:
  COHORT_FN explicit Batch(const Frontier& into) : into_(into) {}
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  COHORT_FN ~Batch() { into_.push(nodes_, size_); }

  COHORT_FN void push(Node node) {
    if (size_ == room) {
      into_.push(nodes_, size_);
      size_ = 0;
    }
    nodes_[size_++] = node;
  }

 private:
  static constexpr std::uint32_t room = 64;

  const Frontier& into_;
  Node nodes_[room];
  std::uint32_t size_ = 0;
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
    Batch out{frontier[(state.level + 1) % 3]};
    bool reached = false;
    for (const std::size_t i : group.stride(in.size())) reached |= visit(in[i], out, state.level);
    if (group.global_id() == 0) frontier[(state.level + 2) % 3].clear();
    ++state.level;
    return reached ? Next::again : Next::halt;
  }

 private:
  /// Takes the neighbours of `node` that nobody has reached. True: there was one.
  COHORT_FN bool visit(Node node, Batch& out, std::uint32_t level) const {
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
