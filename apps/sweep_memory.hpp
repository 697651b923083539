// Sweeps in an engine's memory.
#pragma once

#include "apps/graph_memory.hpp"
#include "apps/sweep.hpp"

namespace cohort::apps {

class SweepMemory {
 public:
  template <class Engine>
  SweepMemory(Engine& engine, const HostCuts& cuts, Node num_nodes, std::uint64_t chunk)
      : chunk_(chunk),
        block_size_(static_cast<std::uint32_t>(chunk == 0 ? 1024 : least(chunk, 1024))),
        cuts_(engine, cuts, num_nodes, chunk),
        open_(engine.template fill<Node>(num_nodes, 0)),
        count_(engine.template fill<std::uint32_t>(
            most(num_nodes / block_size_, cuts.first.size()) + 1, 0)),
        flags_(engine.template fill<std::uint32_t>(TurnFlags::words, 0)) {}

  [[nodiscard]] Sweep view() const {
    return {open_.data(), count_.data(), {flags_.data()}, cuts_.view(), block_size_, chunk_};
  }

 private:
  std::uint64_t chunk_;
  std::uint32_t block_size_;
  CutsMemory cuts_;
  Buffer<Node> open_;
  Buffer<std::uint32_t> count_;
  Buffer<std::uint32_t> flags_;
};

}  // namespace cohort::apps
