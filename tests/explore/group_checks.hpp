// Checks of cases that no scenario covers: static launches, and the threads of one group.
#pragma once

#include <stdexcept>
#include <string>

#include "cohort/explore.hpp"
#include "explore/expect.hpp"

namespace cohort::test {

template <class Run>
void explore_program(explore::Options options, const Run& run) {
  options.shrink = false;
  const explore::Result result = explore::check_program(run, options);
  expect(result.ok, result.failure);
}

/// Six rounds of three groups.
struct StaticRounds {
  static constexpr std::uint32_t groups = 3;
  static constexpr std::uint32_t rounds = 6;
  struct State {
    std::uint32_t round = 0;
  };
  std::uint32_t* cells;
};

/// In a static launch, offers and forks do nothing, query returns 0, and both barriers are plain.
struct Static : StaticRounds {
  template <class Group>
  void run(Group& group, State state) const {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (group.offer_kill(state) || group.offer(state)) throw std::logic_error{"told to leave"};
      if (group.request_fork(state) != 0) throw std::logic_error{"groups were forked"};
      if (group.query() != 0) throw std::logic_error{"groups are wanted back"};
      if (group.num_groups() != groups) throw std::logic_error{"M has changed"};
      group.view(cells)[round * groups + group.group_id()] = round + 1;
      if (round % 3 == 1) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(state)) {
        throw std::logic_error{"told to leave"};
      }
      for (std::uint32_t id = 0; id < groups; ++id) {
        if (group.view(cells)[round * groups + id] != round + 1) {
          throw std::logic_error{"a barrier was passed early"};
        }
      }
    }
  }
};

/// The same in step style. In each step, one group votes for the next step, a different one each
/// time.
struct StaticSteps : StaticRounds {
  template <class Group>
  Next step(Group& group, State& state) const {
    if (state.round >= rounds) throw std::logic_error{"a step too many"};
    group.view(cells)[state.round * groups + group.group_id()] = 1;
    const std::uint32_t voter = state.round % groups;
    return ++state.round < rounds && group.group_id() == voter ? Next::again : Next::halt;
  }
};

template <class Kernel>
void static_launches_work() {
  explore_program(
      {.schedules = 100, .weak_memory = true}, [](explore::Engine& engine) -> std::string {
        auto cells = engine.fill<std::uint32_t>(Kernel::groups * Kernel::rounds, 0);
        engine.launch(Kernel{{cells.data()}}, {.max_groups = Kernel::groups, .resizable = false})
            .wait();
        for (const std::uint32_t cell : cells.read()) {
          if (cell == 0) return "a group has not done all its rounds";
        }
        return {};
      });
}

/// Writes by a group's other threads are visible after its barrier.
struct Neighbours {
  struct State {};
  std::uint32_t* cells;

  template <class Group>
  void run(Group& group, State /*state*/) const {
    for (std::uint32_t round = 0; round < 3; ++round) {
      group.view(cells)[round * 3 + group.local_id()] = 1;
      group.barrier();
      for (std::uint32_t i = 0; i < group.local_size(); ++i) {
        if (group.view(cells)[round * 3 + i] != 1) throw std::logic_error{"a barrier let it pass"};
      }
    }
  }
};

inline void groups_have_barriers() {
  explore_program({.schedules = 100}, [](explore::Engine& engine) {
    auto cells = engine.fill<std::uint32_t>(9, 0);
    engine.launch(Neighbours{cells.data()}, {.max_groups = 1, .local_size = 3}).wait();
    return true;
  });
}

/// Tracers receive every offer, even if the quick check settles it.
struct TwoOffers {
  struct State {};

  template <class Group>
  void run(Group& group, State state) const {
    if (group.offer_kill(state) || group.offer(state)) throw std::logic_error{"told to leave"};
  }
};

inline void offers_are_traced() {
  struct Counter : Tracer {
    void record(const TraceEvent& event) noexcept override {
      if (event.what == Trace::offer) ++offers;
    }
    std::uint32_t offers = 0;
  };
  explore_program({.schedules = 1}, [](explore::Engine& engine) -> std::string {
    Counter counter;
    engine.launch(TwoOffers{}, {.max_groups = 1, .tracer = &counter}).wait();
    return counter.offers == 2 ? "" : "an offer was not traced";
  });
}

/// With KillOrder::any ids are not dense, so global_size() counts the threads of max_groups groups.
struct SizeOfAnyOrder {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  struct State {};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (group.global_size() != group.max_groups()) throw std::logic_error{"ids exceed the size"};
  }
};

inline void sizes_cover_all_ids() {
  explore_program({.schedules = 10, .changes = 0}, [](explore::Engine& engine) {
    engine.launch(SizeOfAnyOrder{}, {.max_groups = 3, .start_groups = 1}).wait();
    return true;
  });
}

}  // namespace cohort::test
