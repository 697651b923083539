// Shared by the host sides of the dialect kernels (compiler/apps): memory, launching and waiting.
// Invariant: after run_program() no group touches the kernel's memory.
#pragma once

#include <array>

#include "apps/graph_memory.hpp"
#include "cohort/program.hpp"

namespace cohort::apps {

/// Launches a kernel whose arguments are set, and waits until it has ended. The kernel was compiled
/// with the barrier of the options.
template <class Engine>
Report run_program(Engine& engine, const ProgramKernel& kernel, const RunOptions& options) {
  if (options.movable || !options.restore.empty())
    throw Error{Errc::bad_options, "apps of the dialect have no checkpoints; drop --checkpoint"};
  const Traits traits{.kill_order = kernel.info().kill_order, .survivors = kernel.info().survivors};
  return detail::see_through(engine, traits, options, [&](const LaunchOptions& launch) {
    return kernel.launch(engine, launch);
  });
}

/// A graph as the kernels read it: edges are counted in 32 bits.
class DialectGraph {
 public:
  template <class Engine>
  DialectGraph(Engine& engine, const Csr& graph)
      : row_(engine.upload(narrowed(graph))),
        target_(engine.upload(graph.targets)),
        weight_(engine.upload(graph.weights)) {}
  void give(ProgramKernel& kernel, const char* targets) const {
    kernel.set("row", row_.data()).set(targets, target_.data());
  }
  void give_weights(ProgramKernel& kernel) const { kernel.set("weight", weight_.data()); }

 private:
  static std::vector<std::uint32_t> narrowed(const Csr& graph) {
    if (graph.num_edges() >= ~0U) {
      throw Error{Errc::bad_options, "a graph of " + std::to_string(graph.num_edges()) +
                                         " edges; kernels of the dialect count them in 32 bits"};
    }
    return {graph.offsets.begin(), graph.offsets.end()};
  }

  Buffer<std::uint32_t> row_;
  Buffer<Node> target_;
  Buffer<Weight> weight_;
};

/// Two lists of nodes; the first contains the source.
class DialectLists {
 public:
  template <class Engine>
  DialectLists(Engine& engine, Node nodes, Node source)
      : lists_{engine.template fill<Node>(nodes, source), engine.template fill<Node>(nodes, 0)},
        sizes_(engine.upload(std::vector<std::uint32_t>{1, 0})) {}
  void give(ProgramKernel& kernel) const {
    kernel.set("list0", lists_[0].data()).set("list1", lists_[1].data());
    kernel.set("size0", sizes_.data()).set("size1", sizes_.data() + 1);
  }

 private:
  std::array<Buffer<Node>, 2> lists_;
  Buffer<std::uint32_t> sizes_;
};

/// Pools of task numbers, with the layout of compiler/apps/pools.h. Pool 0 has the first tasks.
class DialectPools {
 public:
  template <class Engine>
  DialectPools(Engine& engine, const RunOptions& options, const std::vector<std::uint32_t>& first)
      : count_(most_groups(engine, options)),
        pools_(engine.template fill<Pool>(count_, Pool{})),
        tasks_(engine.template fill<std::uint32_t>(std::size_t{count_} * room, 0)),
        lost_(engine.template fill<std::uint32_t>(1, 0)) {
    tasks_.write(first);
    Pool pool;
    pool.count = static_cast<std::uint32_t>(first.size());
    pools_.write(std::span{&pool, 1});
  }
  void give(ProgramKernel& kernel) const {
    kernel.set("pools", pools_.data()).set("tasks", tasks_.data());
    kernel.set("pool_count", count_).set("room", room).set("lost", lost_.data());
  }
  /// Throws Error{out_of_memory} if the job stopped because its memory was full.
  void check(const std::string& app) const {
    if (lost_.read().front() == 0) return;
    throw Error{Errc::out_of_memory,
                app + ": its pools or its memory are too small for this input"};
  }

 private:
  struct alignas(64) Pool {
    std::uint32_t lock = 0;
    std::uint32_t count = 0;
    std::uint32_t victim = 0;
    std::uint32_t first = 0;
  };
  static constexpr std::uint32_t room = 1U << 16U;

  std::uint32_t count_;
  Buffer<Pool> pools_;
  Buffer<std::uint32_t> tasks_;
  Buffer<std::uint32_t> lost_;
};

}  // namespace cohort::apps
