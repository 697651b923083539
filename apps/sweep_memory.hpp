// Sweeps in an engine's memory.
#pragma once

#include "apps/graph_memory.hpp"
#include "apps/sweep.hpp"

namespace cohort::apps {

class SweepMemory {
 public:
  template <class Engine>
  SweepMemory(Engine& engine, Node num_nodes)
      : open_(engine.template fill<Node>(num_nodes, 0)),
        count_(engine.template fill<std::uint32_t>(num_nodes / Sweep::block_size + 1, 0)),
        flags_(engine.template fill<std::uint32_t>(32, 0)) {}

  [[nodiscard]] Sweep view(std::uint64_t chunk) const {
    return {open_.data(), count_.data(), flags_.data(), static_cast<Node>(open_.size()), chunk};
  }

 private:
  Buffer<Node> open_;
  Buffer<std::uint32_t> count_;
  Buffer<std::uint32_t> flags_;
};

}  // namespace cohort::apps
