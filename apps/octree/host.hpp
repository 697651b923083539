// Octree partitioning, the host side: make particles, divide them, and check what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/octree/octree.hpp"
#include "apps/pool_memory.hpp"
#include "apps/registry.hpp"

namespace cohort::apps {

struct OctreeOptions {
  PoolOptions pools = {};
  std::uint32_t max_leaf = 5;
  std::uint32_t max_depth = 40;  ///< where coincident particles become a leaf
  std::uint32_t boxes = 0;       ///< that there is room for; 0: a guess that is large enough mostly
  /// The most particles of a task; 0: all of its box. Nothing: 65536, or 0 as in the paper with its
  /// pools.
  std::optional<std::uint32_t> chunk = {};
};

struct OctreeResult {
  std::vector<Box> boxes;  ///< the first is the root
  std::vector<Particle> particles;
  Report report;
};

/// What a tree has.
struct TreeSize {
  std::int64_t tasks = 0;
  std::int64_t depth = 0;   ///< of the deepest box that was divided; the root has 0
  std::int64_t leaves = 0;  ///< with particles
  std::int64_t empty_leaves = 0;

  friend bool operator==(const TreeSize&, const TreeSize&) = default;
};

/// `count` particles in clusters of 100, always the same.
[[nodiscard]] std::vector<Particle> make_particles(std::uint32_t count);

[[nodiscard]] TreeSize tree_size(const OctreeResult& result);

/// The tree of `particles`. It is complete only when the job has finished. Throws
/// Error{out_of_memory} where boxes or pools are too few.
template <class Engine>
[[nodiscard]] OctreeResult run_octree(Engine& engine, const std::vector<Particle>& particles,
                                      const RunOptions& options = {},
                                      const OctreeOptions& how = {}) {
  const auto count = static_cast<std::uint32_t>(particles.size());
  const std::uint32_t num_boxes = how.boxes != 0 ? how.boxes : 8 * (count / 4 + 1024) + 1;
  if (num_boxes < 9)
    throw Error{Errc::bad_options, "octree: boxes=" + std::to_string(num_boxes) +
                                       " leaves no room for a single division; give 9 or more"};
  const Buffer<Particle> buffers[2] = {engine.upload(particles),
                                       engine.template allocate<Particle>(count)};
  const auto result = engine.template allocate<Particle>(count);
  const auto boxes = engine.template allocate<Box>(num_boxes);
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
  const PoolMemory pools{engine, options, how.pools, 1U << 16U};
  pools.start(count, 1);
  OctreeResult tree;
  tree.report = with_pools(engine, how.pools, [&]<class Pools, KillOrder order>() {
    if (count > 0) pools.template put<Pools>({0});
    const Octree<Pools, order> kernel{.work = pools.template view<Pools>(),
                                      .buffers = {buffers[0].data(), buffers[1].data()},
                                      .result = result.data(),
                                      .boxes = boxes.data(),
                                      .num_boxes = num_boxes,
                                      .max_leaf = how.max_leaf,
                                      .max_depth = how.max_depth,
                                      .chunk = chunk,
                                      .done = done.data()};
    return run(engine, kernel, options);
  });
  pools.check("octree", "the tree has more boxes than there is room for; give more than boxes=" +
                            std::to_string(num_boxes));
  if (!options.results) return tree;
  tree.boxes = boxes.read();
  tree.boxes.resize(pools.progress().next_place);
  tree.particles = result.read();
  return tree;
}

/// Compares with a tree that is built sequentially by other code, box by box, and the particles of
/// each leaf. The first difference in words, or nothing.
[[nodiscard]] std::optional<std::string> check_octree(const std::vector<Particle>& particles,
                                                      const OctreeResult& result,
                                                      const OctreeOptions& how = {});

extern template OctreeResult run_octree(cpu::Engine&, const std::vector<Particle>&,
                                        const RunOptions&, const OctreeOptions&);

}  // namespace cohort::apps
