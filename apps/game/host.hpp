// Connect four, host side: evaluates the first moves and verifies them.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "apps/dialect/host.hpp"
#include "apps/game/kernel.hpp"
#include "apps/inputs.hpp"
#include "apps/pool_memory.hpp"
#include "apps/registry.hpp"

namespace cohort::apps {

struct GameOptions {
  PoolOptions pools = {};
  std::uint32_t depth = 6;
  /// A task evaluates this many levels below it by itself; 0: none, as in the paper. Default: 4 for
  /// groups of many threads, which share these levels, if the job is not movable; 2 otherwise.
  std::optional<std::uint32_t> grain = {};
  std::uint32_t positions = 0;  ///< maximum number of positions; 0: every possible one
};

struct GameResult {
  /// Values of x's first moves; empty if the move is not possible.
  std::vector<std::optional<std::int32_t>> values;
  std::uint64_t positions = 0;  ///< number of positions evaluated
  Report report;
};

/// The paper's start: x, the computer, moves next.
[[nodiscard]] Board start_board();

/// Plain recursive minimax on another board representation.
[[nodiscard]] GameResult plain_game(const Board& start, std::uint32_t depth);
/// Describes the first difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_game(const GameResult& right,
                                                    const GameResult& result);
[[nodiscard]] inline std::optional<std::string> check_game(const Board& start, std::uint32_t depth,
                                                           const GameResult& result) {
  return check_game(plain_game(start, depth), result);
}

namespace game {

/// The app `game`: finds the value of every first move from `start`.
struct App {
  static constexpr std::string_view name = "game";
  static constexpr std::string_view summary = "connect four by work stealing; on connect4:DEPTH";
  static constexpr std::string_view options =
      "pools=deque|mutex kill=highest|any grain=N positions=N pool-room=N";
  static constexpr std::string_view algorithm = "deque";
  static constexpr std::string_view paper = "pools=mutex grain=0";
  static constexpr std::string_view dialect_options = "";
  static constexpr std::array<std::string_view, 1> examples{"connect4:7"};
  using Result = GameResult;

  Board start;
  GameOptions how = {};
  /// The expected result, computed on first use.
  std::shared_future<GameResult> right = expected(start, how.depth);

  static App from(const std::string& input, Settings& settings) {
    GameOptions how;
    how.pools = PoolOptions::from(settings);
    how.grain = settings.number_if_given("grain");
    how.positions = static_cast<std::uint32_t>(settings.number("positions", 0, 0, 1U << 28U));
    settings.check_all_used();
    how.depth = static_cast<std::uint32_t>(number_in(input, connect4_spec, "the depth", 1, 38));
    return {start_board(), how};
  }
  static App tiny() { return {start_board(), {.depth = 2, .grain = 1}}; }

  [[nodiscard]] std::string input() const {
    return "connect four to depth " + std::to_string(how.depth);
  }
  [[nodiscard]] static std::uint32_t threads_per_sm() { return 1024; }

  /// Throws Error{out_of_memory} if there is too little room for positions or tasks, and
  /// Error{bad_options} for depth 0.
  template <class Engine>
  GameResult run(Engine& engine, const RunOptions& run_options) const {
    const bool small = run_options.movable || threads_per_group<Engine>(run_options) == 1;
    const std::uint32_t grain = how.grain.value_or(small ? 2 : 4);
    if (how.depth == 0 || grain > Game<DequePools, KillOrder::any>::max_grain)
      throw Error{Errc::bad_options, "game: the depth must be 1 or more, the grain 16 at most"};
    std::uint64_t needed = 7;  // number of positions that become tasks: the levels above the grain
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
    for (const std::uint32_t column : first_columns()) {
      tasks.push_back(static_cast<std::uint32_t>(first.size()));
      first.push_back({.board = start.play(column, true),
                       .parent = Position::no_parent,
                       .level = 1,
                       .value = 0,
                       .open = 0});
    }
    const auto positions = engine.template fill<Position>(room, Position{});
    positions.write(first);
    const auto counted = engine.template fill<std::uint64_t>(1, 0);
    const PoolMemory pools{engine, run_options, how.pools, 1U << 12U};
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
      return apps::run(engine, kernel, run_options);
    });
    pools.check("game",
                "there are more positions than there is room for; give more than positions=" +
                    std::to_string(room));
    if (!run_options.results) return result;
    set_values(result, positions.read());
    result.positions = pools.progress().next_place + counted.read().front();
    return result;
  }

  template <class Engine>
  GameResult run_dialect(Engine& engine, ProgramKernel kernel,
                         const RunOptions& run_options) const {
    if (how.depth > 8)
      throw Error{Errc::bad_options, "game: in the dialect the depth can be 1 to 8"};
    std::uint32_t room = 7;
    for (std::uint32_t level = 1; level < how.depth; ++level) room = 7 + room * 7;
    std::vector<DialectPosition> first;
    std::vector<std::uint32_t> tasks;
    for (const std::uint32_t column : first_columns()) {
      tasks.push_back(static_cast<std::uint32_t>(first.size()));
      first.push_back({.board = start.play(column, true)});
    }
    const auto nodes = engine.template fill<DialectPosition>(room, DialectPosition{});
    nodes.write(first);
    const auto used =
        engine.template fill<std::uint32_t>(1, static_cast<std::uint32_t>(first.size()));
    const auto open =
        engine.template fill<std::uint32_t>(1, static_cast<std::uint32_t>(first.size()));
    const DialectPools pools{engine, run_options, tasks};
    kernel.set("nodes", nodes.data()).set("used", used.data()).set("room_for_nodes", room);
    kernel.set("depth", how.depth).set("roots_open", open.data());
    pools.give(kernel);
    GameResult result;
    result.report = run_program(engine, kernel, run_options);
    pools.check("game");
    set_values(result, nodes.read());
    result.positions = used.read().front();
    return result;
  }

  [[nodiscard]] static Numbers numbers(const GameResult& result) {
    Numbers numbers;
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      if (result.values[i]) numbers.emplace_back("move" + std::to_string(i), *result.values[i]);
    }
    numbers.emplace_back("positions", static_cast<std::int64_t>(result.positions));
    return numbers;
  }
  [[nodiscard]] std::optional<std::string> difference(const GameResult& result) const {
    return check_game(right.get(), result);
  }

 private:
  /// A position with the layout of compiler/apps/game.cl. Its bit sets are those of Board.
  struct DialectPosition {
    Board board;
    std::uint32_t parent = ~0U;
    std::uint32_t level = 1;
    std::int32_t value = 0;
    std::uint32_t open = 0;
  };

  static std::shared_future<GameResult> expected(const Board& start, std::uint32_t depth) {
    return std::async(std::launch::deferred, [start, depth] { return plain_game(start, depth); })
        .share();
  }
  /// Columns in which x can play first.
  [[nodiscard]] std::vector<std::uint32_t> first_columns() const {
    std::vector<std::uint32_t> columns;
    for (std::uint32_t column = 0; column < Board::columns; ++column) {
      if (start.can_play(column)) columns.push_back(column);
    }
    return columns;
  }
  /// Copies the values of the first moves, which are the first entries of `positions`.
  template <class Positions>
  void set_values(GameResult& result, const Positions& positions) const {
    result.values.resize(Board::columns);
    std::size_t i = 0;
    for (const std::uint32_t column : first_columns()) result.values[column] = positions[i++].value;
  }
};

}  // namespace game

template <class Engine>
[[nodiscard]] GameResult run_game(Engine& engine, const Board& start,
                                  const RunOptions& options = {}, const GameOptions& how = {}) {
  return solve(engine, game::App{start, how}, options);
}

}  // namespace cohort::apps
