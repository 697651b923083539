// Octree partitioning, host side: particles, options, run and verification.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/dialect/host.hpp"
#include "apps/inputs.hpp"
#include "apps/octree/kernel.hpp"
#include "apps/pool_memory.hpp"
#include "apps/registry.hpp"

namespace cohort::apps {

struct OctreeOptions {
  PoolOptions pools = {};
  std::uint32_t max_leaf = 5;
  std::uint32_t max_depth = 40;  ///< depth at which coincident particles become a leaf
  /// Maximum number of boxes; 0: an estimate that is almost always enough.
  std::uint32_t boxes = 0;
  /// Upper limit on the particles of a task; 0: all particles of its box. Default: 65536; with the
  /// paper's pools 0, as in the paper.
  std::optional<std::uint32_t> chunk = {};
};

struct OctreeResult {
  std::vector<Box> boxes;  ///< the first box is the root
  std::vector<Particle> particles;
  Report report;
};

/// Size of a tree.
struct TreeSize {
  std::int64_t tasks = 0;
  std::int64_t depth = 0;   ///< depth of the deepest divided box; the root has depth 0
  std::int64_t leaves = 0;  ///< number of leaves with particles
  std::int64_t empty_leaves = 0;

  friend bool operator==(const TreeSize&, const TreeSize&) = default;
};

/// `count` particles in clusters of 100; the result is always the same.
[[nodiscard]] std::vector<Particle> make_particles(std::uint32_t count);

[[nodiscard]] TreeSize tree_size(const OctreeResult& result);

/// Compares the result, and the particles of each leaf, with a tree that independent sequential
/// code builds. Describes the first difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_octree(const std::vector<Particle>& particles,
                                                      const OctreeResult& result,
                                                      const OctreeOptions& how = {});

namespace octree {

/// The tree of `particles`. It is complete only when the job has finished.
struct App {
  static constexpr std::string_view name = "octree";
  static constexpr std::string_view summary =
      "octree partitioning by work stealing; on particles:N";
  static constexpr std::string_view options =
      "pools=deque|mutex kill=highest|any max-leaf=N max-depth=N boxes=N chunk=N pool-room=N";
  static constexpr std::string_view algorithm = "deque";
  static constexpr std::string_view paper = "pools=mutex";
  static constexpr std::string_view dialect_options = "max-leaf max-depth";
  static constexpr std::array<std::string_view, 1> examples{"particles:200000"};
  using Result = OctreeResult;

  std::shared_ptr<const std::vector<Particle>> particles;
  OctreeOptions how = {};

  static App from(const std::string& input, Settings& settings) {
    OctreeOptions how;
    how.pools = PoolOptions::from(settings);
    how.max_leaf = static_cast<std::uint32_t>(settings.number("max-leaf", 5, 1, 1U << 20U));
    how.max_depth = static_cast<std::uint32_t>(settings.number("max-depth", 40, 1, 1000));
    how.boxes = static_cast<std::uint32_t>(settings.number("boxes", 0, 0, 1U << 31U));
    how.chunk = settings.number_if_given("chunk");
    settings.check_all_used();
    const auto count = static_cast<std::uint32_t>(
        number_in(input, particles_spec, "the number of particles", 0, 1U << 28U));
    return {shared_input<std::vector<Particle>>(input, [=] { return make_particles(count); }), how};
  }
  static App tiny() {
    return {std::make_shared<const std::vector<Particle>>(make_particles(8)), {.max_leaf = 2}};
  }

  [[nodiscard]] std::string input() const {
    return std::to_string(particles->size()) + " particles";
  }
  [[nodiscard]] static std::uint32_t threads_per_sm() { return 512; }

  /// Throws Error{out_of_memory} if there is too little room for boxes or tasks.
  template <class Engine>
  OctreeResult run(Engine& engine, const RunOptions& run_options) const {
    const auto count = static_cast<std::uint32_t>(particles->size());
    const std::uint32_t num_boxes = how.boxes != 0 ? how.boxes : 8 * (count / 4 + 1024) + 1;
    if (num_boxes < 9)
      throw Error{Errc::bad_options, "octree: boxes=" + std::to_string(num_boxes) +
                                         " leaves no room for a single division; give 9 or more"};
    const Buffer<Particle> buffers[2] = {engine.upload(*particles),
                                         memory_for<Particle>(engine, count, run_options)};
    const auto result = memory_for<Particle>(engine, count, run_options);
    const auto boxes = memory_for<Box>(engine, num_boxes, run_options);
    const Box root{.children = Box::leaf,
                   .begin = 0,
                   .end = count,
                   .depth = 0,
                   .x = 0,
                   .y = 0,
                   .z = 0,
                   .half = 256};
    boxes.write(std::span{&root, 1});
    const bool as_in_paper = how.pools.kind == PoolOptions::Kind::mutex;
    const std::uint32_t chunk = how.chunk.value_or(as_in_paper ? 0 : 1U << 16U);
    const auto done = engine.template fill<std::uint32_t>(chunk != 0 ? num_boxes : 0, 0);
    const PoolMemory pools{engine, run_options, how.pools, 1U << 16U};
    pools.start(count, 1);
    OctreeResult tree;
    tree.report = with_pools(engine, how.pools, [&]<class Pools, KillOrder order>() {
      if (count > 0) pools.template put<Pools>({0});
      const Octree<Pools, order> kernel{.work = pools.template view<Pools>(),
                                        .by_depth = {buffers[0].data(), buffers[1].data()},
                                        .result = result.data(),
                                        .boxes = boxes.data(),
                                        .num_particles = count,
                                        .num_boxes = num_boxes,
                                        .max_leaf = how.max_leaf,
                                        .max_depth = how.max_depth,
                                        .chunk = chunk,
                                        .done = done.data()};
      return apps::run(engine, kernel, run_options);
    });
    pools.check("octree", "the tree has more boxes than there is room for; give more than boxes=" +
                              std::to_string(num_boxes));
    if (!run_options.results) return tree;
    tree.boxes = boxes.read();
    tree.boxes.resize(pools.progress().next_place);
    tree.particles = result.read();
    return tree;
  }

  template <class Engine>
  OctreeResult run_dialect(Engine& engine, ProgramKernel kernel,
                           const RunOptions& run_options) const {
    const auto count = static_cast<std::uint32_t>(particles->size());
    // Particle and Box have the layout of compiler/apps/octree.cl.
    const Buffer<Particle> buffers[3] = {engine.upload(*particles),
                                         engine.template fill<Particle>(count, {}),
                                         engine.template fill<Particle>(count, {})};
    const std::uint32_t room = 8 * (count / 4 + 1024) + 1;
    const auto boxes = engine.template fill<Box>(room, Box{});
    const Box root{.end = count, .half = 256};
    boxes.write(std::span{&root, 1});
    const auto used = engine.template fill<std::uint32_t>(1, 1);
    const auto left = engine.template fill<std::uint32_t>(1, count);
    const DialectPools pools{engine, run_options, std::vector<std::uint32_t>(count > 0 ? 1 : 0)};
    kernel.set("boxes", boxes.data()).set("used", used.data()).set("room_for_boxes", room);
    kernel.set("particles0", buffers[0].data()).set("particles1", buffers[1].data());
    kernel.set("result", buffers[2].data()).set("left", left.data());
    kernel.set("max_leaf", how.max_leaf).set("max_depth", how.max_depth);
    pools.give(kernel);
    OctreeResult tree;
    tree.report = run_program(engine, kernel, run_options);
    pools.check("octree");
    tree.boxes = boxes.read();
    tree.boxes.resize(used.read().front());
    tree.particles = buffers[2].read();
    return tree;
  }

  [[nodiscard]] static Numbers numbers(const OctreeResult& result) {
    const TreeSize size = tree_size(result);
    return {{"tasks", size.tasks},
            {"depth", size.depth},
            {"leaves", size.leaves},
            {"empty_leaves", size.empty_leaves}};
  }
  [[nodiscard]] std::optional<std::string> difference(const OctreeResult& result) const {
    return check_octree(*particles, result, how);
  }
};

}  // namespace octree

template <class Engine>
[[nodiscard]] OctreeResult run_octree(Engine& engine, const std::vector<Particle>& particles,
                                      const RunOptions& options = {},
                                      const OctreeOptions& how = {}) {
  return solve(engine, octree::App{std::make_shared<const std::vector<Particle>>(particles), how},
               options);
}

}  // namespace cohort::apps
