// The march: a kernel whose groups check in every step that all of them are there, at the same
// step, with one M and one state. It finds a group that is lost, doubled, late or misinformed, on
// whatever way it came.
#pragma once

#include "conformance/support.hpp"

namespace cohort::test {

/// What the groups of a march write down. All plain: only the barriers order it.
struct Board {
  struct Cell {
    std::uint32_t step = ~0U;
    std::uint32_t groups = 0;  // M as this group saw it
    std::uint32_t mark = 0;    // of its State
  };
  Cell cells[2][capacity] = {};          // of the current and of the last step
  std::uint32_t announced[2] = {};       // by group 0: the number of the next step
  bool last[2] = {};                     // by group 0: this step is the last one
  std::vector<std::uint32_t> sizes;      // by group 0: M in each step
  std::atomic<std::uint32_t> groups{0};  // the same, for the host to follow
  std::atomic<std::uint32_t> steps{0};
  std::atomic<std::uint32_t> wrong{0};

  void expect(bool right) { wrong.fetch_add(right ? 0 : 1, std::memory_order_relaxed); }
};

/// What joiners receive from group 0: where it is, and a mark that only a group which has been
/// through all steps, or was told, can know.
struct MarchState {
  std::uint32_t step = 0;
  std::uint32_t mark = 1;
  std::uint32_t before = 0;  // M in the last step

  [[nodiscard]] MarchState next(std::uint32_t groups) const {
    return {.step = step + 1, .mark = mark * 1664525U + 1013904223U, .before = groups};
  }
};

/// One step of the march: every group checks where it is, and that in the last step exactly the ids
/// 0 .. M-1 were there, all with the same M and state.
template <class Group>
void march(Group& group, const MarchState& state, Board& board, const std::atomic<bool>& stop) {
  const std::uint32_t groups = group.num_groups();
  const std::uint32_t id = group.group_id();
  board.expect(groups >= 1 && groups <= group.max_groups() && id < groups);
  board.expect(group.global_size() == std::size_t{groups} * group.local_size());
  if (state.step > 0) {
    board.expect(board.announced[state.step % 2] == state.step);
    for (std::uint32_t i = 0; i < capacity; ++i) {
      const Board::Cell& cell = board.cells[(state.step + 1) % 2][i];
      board.expect(i < state.before ? cell.step == state.step - 1 && cell.groups == state.before &&
                                          cell.mark == board.cells[(state.step + 1) % 2][0].mark
                                    : cell.step != state.step - 1);
    }
  }
  if (!leader(group)) return;
  board.cells[state.step % 2][id] = {.step = state.step, .groups = groups, .mark = state.mark};
  if (id != 0) return;
  board.announced[(state.step + 1) % 2] = state.step + 1;
  board.last[state.step % 2] = stop.load();
  board.sizes.push_back(groups);
  board.groups.store(groups);
  board.steps.fetch_add(1);
}

/// The march, step style.
struct Steps {
  using State = MarchState;
  Board* board;
  const std::atomic<bool>* stop;

  template <class Group>
  Next step(Group& group, State& state) const {
    march(group, state, *board, *stop);
    const bool last = group.group_id() != 0 || !leader(group) || board->last[state.step % 2];
    state = state.next(group.num_groups());
    return last ? Next::halt : Next::again;  // group 0's word is what counts
  }
};

}  // namespace cohort::test
