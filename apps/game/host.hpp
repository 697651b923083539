// Connect four, the host side: value the first moves, and check what came out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/game/game.hpp"
#include "apps/pool_memory.hpp"
#include "apps/registry.hpp"

namespace cohort::apps {

struct GameOptions {
  PoolOptions pools = {};
  std::uint32_t depth = 6;
  /// Levels that a task looks ahead by itself; 0: none, as in the paper. Nothing: 2, or 4 for
  /// groups of many threads, which share them.
  std::optional<std::uint32_t> grain = {};
  std::uint32_t positions = 0;  ///< that there is room for; 0: for every position there can be
};

struct GameResult {
  std::vector<std::optional<std::int32_t>> values;  ///< of x's first moves; nothing: not possible
  std::uint64_t positions = 0;                      ///< that were looked at
  Report report;
};

/// The paper's start: x, the computer, moves next.
[[nodiscard]] Board start_board();

/// The value of every first move from `start`. Complete only when the job has finished. Throws
/// Error{out_of_memory} where positions or pools are too few, Error{bad_options} for depth 0.
template <class Engine>
[[nodiscard]] GameResult run_game(Engine& engine, const Board& start,
                                  const RunOptions& options = {}, const GameOptions& how = {}) {
  const std::uint32_t grain = how.grain.value_or(threads_per_group<Engine>(options) == 1 ? 2 : 4);
  if (how.depth == 0 || grain > Game<DequePools, KillOrder::any>::max_grain)
    throw Error{Errc::bad_options, "game: the depth must be 1 or more, the grain 16 at most"};
  std::uint64_t needed = 7;  // positions that are tasks: those above the grain
  for (std::uint32_t level = 1; level + grain < how.depth && needed < (1U << 28U); ++level)
    needed = 7 + needed * 7;
  const auto room = how.positions != 0 ? how.positions : static_cast<std::uint32_t>(needed);
  if (room > (1U << 28U) || room < 7) {
    throw Error{Errc::bad_options,
                "game: depth " + std::to_string(how.depth) + " needs room for " +
                    std::to_string(room) +
                    " positions; give positions=N from 7 to 268435456, or a larger grain"};
  }

  std::vector<Position> first;
  std::vector<std::uint32_t> tasks;
  std::vector<std::uint32_t> columns;
  for (std::uint32_t column = 0; column < Board::columns; ++column) {
    if (!start.can_play(column)) continue;
    tasks.push_back(static_cast<std::uint32_t>(first.size()));
    columns.push_back(column);
    first.push_back({.board = start.play(column, true),
                     .parent = Position::no_parent,
                     .level = 1,
                     .value = 0,
                     .open = 0});
  }
  const auto positions = engine.template fill<Position>(room, Position{});
  positions.write(first);
  const auto counted = engine.template fill<std::uint64_t>(1, 0);
  const PoolMemory pools{engine, options, how.pools, 1U << 12U};
  pools.start(first.size(), static_cast<std::uint32_t>(first.size()));
  GameResult result;
  result.report = with_pools(engine, how.pools, [&]<class Pools, KillOrder order>() {
    pools.template put<Pools>(tasks);
    const Game<Pools, order> kernel{.work = pools.template view<Pools>(),
                                    .positions = positions.data(),
                                    .num_positions = room,
                                    .counted = counted.data(),
                                    .depth = how.depth,
                                    .grain = grain};
    return run(engine, kernel, options);
  });
  pools.check("game", "there are more positions than there is room for; give more than positions=" +
                          std::to_string(room));
  if (!options.results) return result;
  const std::vector<Position> all = positions.read();
  result.values.resize(Board::columns);
  for (std::size_t i = 0; i < columns.size(); ++i) result.values[columns[i]] = all[i].value;
  result.positions = pools.progress().next_place + counted.read().front();
  return result;
}

/// By a plain recursive minimax on another kind of board.
[[nodiscard]] GameResult plain_game(const Board& start, std::uint32_t depth);
/// The first difference in words, or nothing.
[[nodiscard]] std::optional<std::string> check_game(const GameResult& right,
                                                    const GameResult& result);
[[nodiscard]] inline std::optional<std::string> check_game(const Board& start, std::uint32_t depth,
                                                           const GameResult& result) {
  return check_game(plain_game(start, depth), result);
}

extern template GameResult run_game(cpu::Engine&, const Board&, const RunOptions&,
                                    const GameOptions&);

}  // namespace cohort::apps
