// Values of all first moves in connect four by minimax to a fixed depth, with work stealing, as in
// the paper: a task is a node of the game tree.
// Invariant: the last child of a node to finish also finishes the node, whose value is final then.
#pragma once

#include "apps/game/board.hpp"
#include "apps/pools.hpp"

namespace cohort::apps {

/// A position, reached by a move.
struct Position {
  static constexpr std::uint32_t no_parent = ~0U;

  Board board;
  std::uint32_t parent = no_parent;
  std::uint32_t level = 0;  ///< moves since the start; odd moves are x's
  std::int32_t value = 0;
  std::uint32_t open = 0;  ///< number of children that have not finished
};

template <class Pools, KillOrder order>
struct Game {
  static constexpr Traits traits{.kill_order = order};
  static constexpr std::uint32_t max_grain = 16;
  struct Local {
    std::int32_t value[Board::columns];
    std::uint32_t counted;
  };

  Stealing<Pools> work;  // tasks are positions; `left` is the number of first moves without a value
  Position* positions;
  std::uint32_t num_positions;  // maximum number of positions
  std::uint64_t* counted;       // number of positions evaluated that were not tasks
  std::uint32_t depth;
  // A task evaluates this many levels below it by itself; 0: none, as in the paper.
  std::uint32_t grain;

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    work.buffers(visit);
    visit("positions", positions, num_positions);
    visit("counted", counted, 1);
  }

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (std::uint32_t victim = work.neighbour(group);;) {
      if (group.offer(state)) return;
      const std::uint32_t task = work.take(group, victim);
      if (task == all_done) return;
      if (task != no_task) visit(group, task);
    }
  }

 private:
  static COHORT_FN bool x_moves(std::uint32_t level) { return level % 2 == 0; }
  /// A score that is worse than any real score for the player who moves at that level.
  static COHORT_FN std::int32_t worst(std::uint32_t level) {
    return x_moves(level) ? -Board::won - 1 : Board::won + 1;
  }
  static COHORT_FN std::int32_t better(std::uint32_t level, std::int32_t a, std::int32_t b) {
    return (a < b) == x_moves(level) ? b : a;
  }
  COHORT_FN bool ends(const Board& board, std::uint32_t level, std::int32_t score) const {
    return level >= depth || score == Board::won || score == -Board::won || board.full();
  }

  template <class Group>
  COHORT_FN void visit(Group& group, std::uint32_t task) const {
    const Position here = group.view(static_cast<const Position*>(positions))[task];
    const std::int32_t score = here.board.score();
    if (ends(here.board, here.level, score)) {
      if (group.local_id() == 0) finish(group, task, score);
    } else if (depth - here.level <= grain) {
      const std::int32_t value = look_ahead(group, here.board, here.level);
      if (group.local_id() == 0) finish(group, task, value);
    } else if (group.local_id() == 0) {
      add_children(group, task, here);
    }
    group.barrier();  // keeps threads from taking the next task while this one is being written
  }

  template <class Group>
  COHORT_FN void add_children(Group& group, std::uint32_t task, const Position& here) const {
    std::uint32_t moves = 0;
    for (std::uint32_t i = 0; i < Board::columns; ++i) moves += here.board.can_play(i) ? 1 : 0;
    const std::uint32_t first = group.atomic(work.progress->next_place).fetch_add(moves);
    if (first + moves > num_positions) {
      work.fail(group, Stop::memory_full);
      return;
    }
    const auto all = group.view(positions);
    group.atomic(positions[task].value).store(worst(here.level));
    group.atomic(positions[task].open).store(moves);  // published by the pushes
    std::uint32_t at = first;
    for (std::uint32_t i = 0; i < Board::columns; ++i) {
      if (!here.board.can_play(i)) continue;
      all[at] = {.board = here.board.play(i, x_moves(here.level)),
                 .parent = task,
                 .level = here.level + 1,
                 .value = 0,
                 .open = 0};
      ++at;
    }
    work.push(group, first, (1U << moves) - 1U);
  }

  /// Passes a value on to the parents, as long as each parent waits for no other child.
  template <class Group>
  COHORT_FN void finish(Group& group, std::uint32_t task, std::int32_t value) const {
    for (;;) {
      group.atomic(positions[task].value).store(value);
      const std::uint32_t parent = positions[task].parent;
      if (parent == Position::no_parent) {
        work.done(group, 1);
        return;
      }
      Position& above = positions[parent];
      if (x_moves(above.level)) {
        group.atomic(above.value).fetch_max(value);
      } else {
        group.atomic(above.value).fetch_min(value);
      }
      // The child that finishes last must see the values of all children, so each child's update of
      // the count releases and acquires.
      if (group.atomic(above.open).fetch_sub(1, Order::acq_rel) != 1) return;
      value = group.atomic(above.value).load();
      task = parent;
    }
  }

  /// Evaluates a position within the group, whose threads share the first two moves. All threads
  /// return the same value.
  template <class Group>
  COHORT_FN std::int32_t look_ahead(Group& group, const Board& board, std::uint32_t level) const {
    constexpr std::uint32_t columns = Board::columns;
    if (group.alone()) {
      std::uint64_t seen = 0;
      const std::int32_t value = minimax(board, level, seen);
      group.atomic(*counted).fetch_add(seen);
      return value;
    }
    Local& local = group.local();
    for (const std::size_t i : group.local_stride(columns)) local.value[i] = worst(level + 1);
    if (group.local_id() == 0) local.counted = 0;
    group.barrier();
    std::uint64_t seen = 0;
    for (const std::size_t i : group.local_stride(std::size_t{columns} * columns)) {
      const auto first = static_cast<std::uint32_t>(i / columns);
      const auto second = static_cast<std::uint32_t>(i % columns);
      if (!board.can_play(first)) continue;
      const Board child = board.play(first, x_moves(level));
      const std::int32_t score = child.score();
      if (second == 0) ++seen;
      const auto value = group.atomic(local.value[first]);
      if (ends(child, level + 1, score)) {
        if (second == 0) value.store(score);
      } else if (child.can_play(second)) {
        const std::int32_t its = minimax_of_child(child, level + 1, second, seen);
        if (x_moves(level + 1)) {
          value.fetch_max(its);
        } else {
          value.fetch_min(its);
        }
      }
    }
    if (seen > 0) group.atomic(local.counted).fetch_add(static_cast<std::uint32_t>(seen));
    group.barrier();
    std::int32_t best = worst(level);
    for (std::uint32_t i = 0; i < columns; ++i) {
      if (board.can_play(i)) best = better(level, best, local.value[i]);
    }
    if (group.local_id() == 0) group.atomic(*counted).fetch_add(std::uint64_t{local.counted});
    group.barrier();  // before a thread uses the local memory again
    return best;
  }

  COHORT_FN std::int32_t minimax_of_child(const Board& board, std::uint32_t level,
                                          std::uint32_t column, std::uint64_t& seen) const {
    const Board child = board.play(column, x_moves(level));
    ++seen;
    const std::int32_t score = child.score();
    return ends(child, level + 1, score) ? score : minimax(child, level + 1, seen);
  }

  /// Evaluates, by one thread, a position that does not end the game. Not recursive, because
  /// devices handle recursion badly. Counts the positions below.
  COHORT_FN std::int32_t minimax(const Board& start, std::uint32_t start_level,
                                 std::uint64_t& seen) const {
    Board boards[max_grain];
    std::uint32_t next[max_grain];
    std::int32_t best[max_grain];
    std::uint32_t at = 0;
    boards[0] = start;
    next[0] = 0;
    best[0] = worst(start_level);
    for (;;) {
      const std::uint32_t level = start_level + at;
      if (next[at] == Board::columns) {
        if (at == 0) return best[0];
        --at;
        best[at] = better(level - 1, best[at], best[at + 1]);
        continue;
      }
      const std::uint32_t column = next[at]++;
      if (!boards[at].can_play(column)) continue;
      const Board child = boards[at].play(column, x_moves(level));
      ++seen;
      const std::int32_t score = child.score();
      if (ends(child, level + 1, score)) {
        best[at] = better(level, best[at], score);
        continue;
      }
      ++at;
      boards[at] = child;
      next[at] = 0;
      best[at] = worst(level + 1);
    }
  }
};

}  // namespace cohort::apps
