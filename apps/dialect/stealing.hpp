// The two work-stealing applications of the dialect: host sides for any engine.
#pragma once

#include "apps/dialect/see_through.hpp"
#include "apps/game/app.hpp"
#include "apps/octree/app.hpp"

namespace cohort::apps::detail {

/// Pools of task numbers, as compiler/apps/pools.h declares them; the first tasks in pool 0.
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
  /// Throws Error{out_of_memory} when the job stopped for want of room.
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

/// As compiler/apps/game.cl declares it: the sets of bits are those of Board.
struct DialectPosition {
  Board board;
  std::uint32_t parent = ~0U;
  std::uint32_t level = 1;
  std::int32_t value = 0;
  std::uint32_t open = 0;
};

template <class Engine>
Outcome dialect_octree(Engine& engine, ProgramKernel kernel, Request& request) {
  OctreeOptions how;
  how.max_leaf = static_cast<std::uint32_t>(request.settings.number("max-leaf", 5, 1, 1U << 20U));
  how.max_depth = static_cast<std::uint32_t>(request.settings.number("max-depth", 40, 1, 1000));
  request.settings.check_all_used();
  const auto count = static_cast<std::uint32_t>(
      number_in(request.input, particles_spec, "the number of particles", 0, 1U << 28U));
  const std::vector<Particle> particles = make_particles(count);
  // Particle and Box are as compiler/apps/octree.cl declares them.
  const Buffer<Particle> buffers[3] = {engine.upload(particles),
                                       engine.template fill<Particle>(count, {}),
                                       engine.template fill<Particle>(count, {})};
  const std::uint32_t room = 8 * (count / 4 + 1024) + 1;
  const auto boxes = engine.template fill<Box>(room, Box{});
  const Box root{.end = count, .half = 256};
  boxes.write(std::span{&root, 1});
  const auto used = engine.template fill<std::uint32_t>(1, 1);
  const auto left = engine.template fill<std::uint32_t>(1, count);
  const DialectPools pools{engine, request.options, std::vector<std::uint32_t>(count > 0 ? 1 : 0)};
  kernel.set("boxes", boxes.data()).set("used", used.data()).set("room_for_boxes", room);
  kernel.set("particles0", buffers[0].data()).set("particles1", buffers[1].data());
  kernel.set("result", buffers[2].data()).set("left", left.data());
  kernel.set("max_leaf", how.max_leaf).set("max_depth", how.max_depth);
  pools.give(kernel);
  OctreeResult result;
  result.report = see_through(engine, kernel, request.options);
  pools.check("octree");
  result.boxes = boxes.read();
  result.boxes.resize(used.read().front());
  result.particles = buffers[2].read();
  return outcome(
      std::to_string(count) + " particles", result.report, request,
      [&] {
        const TreeSize size = tree_size(result);
        return Numbers{{"tasks", size.tasks},
                       {"depth", size.depth},
                       {"leaves", size.leaves},
                       {"empty_leaves", size.empty_leaves}};
      },
      [&] { return check_octree(particles, result, how); });
}

template <class Engine>
Outcome dialect_game(Engine& engine, ProgramKernel kernel, Request& request) {
  request.settings.check_all_used();
  const auto depth =
      static_cast<std::uint32_t>(number_in(request.input, connect4_spec, "the depth", 1, 8));
  std::uint32_t room = 7;
  for (std::uint32_t level = 1; level < depth; ++level) room = 7 + room * 7;
  const Board start = start_board();
  std::vector<DialectPosition> first;
  std::vector<std::uint32_t> tasks;
  std::vector<std::uint32_t> columns;
  for (std::uint32_t column = 0; column < Board::columns; ++column) {
    if (!start.can_play(column)) continue;
    tasks.push_back(static_cast<std::uint32_t>(first.size()));
    columns.push_back(column);
    first.push_back({.board = start.play(column, true)});
  }
  const auto nodes = engine.template fill<DialectPosition>(room, DialectPosition{});
  nodes.write(first);
  const auto used =
      engine.template fill<std::uint32_t>(1, static_cast<std::uint32_t>(first.size()));
  const auto open =
      engine.template fill<std::uint32_t>(1, static_cast<std::uint32_t>(first.size()));
  const DialectPools pools{engine, request.options, tasks};
  kernel.set("nodes", nodes.data()).set("used", used.data()).set("room_for_nodes", room);
  kernel.set("depth", depth).set("roots_open", open.data());
  pools.give(kernel);
  GameResult result;
  result.report = see_through(engine, kernel, request.options);
  pools.check("game");
  result.values.resize(Board::columns);
  const std::vector<DialectPosition> all = nodes.read();
  for (std::size_t i = 0; i < columns.size(); ++i) result.values[columns[i]] = all[i].value;
  result.positions = used.read().front();
  return outcome(
      "connect four to depth " + std::to_string(depth), result.report, request,
      [&] {
        Numbers numbers;
        for (std::size_t i = 0; i < result.values.size(); ++i) {
          if (result.values[i]) numbers.emplace_back("move" + std::to_string(i), *result.values[i]);
        }
        numbers.emplace_back("positions", static_cast<std::int64_t>(result.positions));
        return numbers;
      },
      [&] { return check_game(start, depth, result); });
}

}  // namespace cohort::apps::detail
