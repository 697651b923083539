// What the protocol is explored with: small kernels that witness, by plain memory that only the
// protocol orders, that barriers, joins and the succession of ids do what they promise.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cohort/explore.hpp"

namespace cohort::test {

using explore::Host;
using explore::Options;
using explore::Result;
using explore::Search;
using explore::Start;
using explore::Waiting;

/// Memory of a scenario, all plain. Each cell is written by one holder of an id in one round.
struct Witness {
  static constexpr std::uint32_t groups = 4;
  static constexpr std::uint32_t rounds = 8;

  std::uint32_t* cells;  // by round and id
  std::uint32_t* owner;  // by id: each holder writes it

  /// This group has its id to itself, and its successor comes after everything it did.
  template <class Group>
  void hold(Group& group) const {
    if (group.local_id() == 0) group.view(owner)[group.group_id()] += 1;
  }
  template <class Group>
  void write(Group& group, std::uint32_t round) const {
    if (group.local_id() == 0) group.view(cells)[round * groups + group.group_id()] = round + 1;
  }
  /// What `id` wrote in `round` is seen.
  template <class Group>
  void see(Group& group, std::uint32_t round, std::uint32_t id) const {
    if (round >= rounds || id >= groups) throw std::logic_error{"a group was given no State"};
    const std::uint32_t seen = group.view(cells)[round * groups + id];
    if (seen != round + 1) throw std::logic_error{"a group did not see what another had written"};
  }
};

/// What is transmitted: whose State it is, and when.
struct From {
  std::uint32_t round = 0;
  std::uint32_t id = ~0U;  // nobody's: of the first groups
};

/// A joiner sees what the one who let it in had written.
template <class Group>
void greet(Group& group, const Witness& witness, const From& from) {
  if (from.id != ~0U && group.joined()) witness.see(group, from.round, from.id);
  witness.hold(group);
}

/// Global barriers, `count` of them.
template <Resizes resizes>
struct Barriers {
  static constexpr Traits traits{.resizes = resizes};
  using State = From;
  Witness witness;
  std::uint32_t count;

  template <class Group>
  void run(Group& group, State /*state*/) const {
    witness.hold(group);
    for (std::uint32_t round = 0; round < count; ++round) {
      witness.write(group, round);
      group.global_barrier();
      for (std::uint32_t i = 0; i < group.num_groups(); ++i) witness.see(group, round, i);
    }
  }
};

/// Resizing barriers, `count` of them; then a fork if it is wanted.
template <Resizes resizes, ResizingBarrier barrier, bool forks = false>
struct Resizing {
  static constexpr Traits traits{.resizes = resizes, .barrier = barrier};
  using State = From;
  Witness witness;
  std::uint32_t count;

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    std::uint32_t round = state.id == ~0U ? 0 : state.round + 1;
    for (; round < count; ++round) {
      witness.write(group, round);
      const std::uint32_t before = group.num_groups();
      if (group.resizing_global_barrier(State{round, 0})) return;
      if (resizes == Resizes::at_barriers) {
        for (std::uint32_t i = 0; i < before; ++i) witness.see(group, round, i);
      }
      if (group.group_id() >= group.num_groups()) throw std::logic_error{"an id is not below M"};
    }
    if constexpr (forks) {
      if (round == count && group.group_id() == 0) {
        witness.write(group, round);
        group.request_fork(State{round, 0});
      }
    }
  }
};

/// Step style: votes decide.
struct Steps {
  struct State {
    std::uint32_t round = 0;
  };
  Witness witness;
  std::uint32_t count;

  template <class Group>
  Next step(Group& group, State& state) const {
    witness.hold(group);
    if (state.round >= count) throw std::logic_error{"a step too many"};
    witness.write(group, state.round);
    return ++state.round < count ? Next::again : Next::halt;
  }
};

/// Step style where group 0 alone says whether there is another step.
struct Led {
  struct State {
    std::uint32_t round = 0;
  };
  Witness witness;
  std::uint32_t count;

  template <class Group>
  Next step(Group& group, State& state) const {
    witness.hold(group);
    if (state.round >= count) throw std::logic_error{"a step too many"};
    if (state.round > 0) witness.see(group, state.round - 1, 0);
    witness.write(group, state.round);
    return ++state.round < count && group.group_id() == 0 ? Next::again : Next::halt;
  }
};

/// Everything mixed: an offer, a fork and a barrier in each round, resizing in every other one.
struct Mixed {
  struct State {
    std::uint32_t round = 0;
    From from;
  };
  Witness witness;
  std::uint32_t count;

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state.from);
    for (std::uint32_t round = state.round; round < count; ++round) {
      if (group.offer_kill(State{round, {}})) return;
      witness.write(group, round);
      group.request_fork(State{round, {round, group.group_id()}});
      if (round % 2 != 0) {
        if (group.resizing_global_barrier(State{round + 1, {round, 0}})) return;
        continue;
      }
      group.global_barrier();
      for (std::uint32_t i = 0; i < group.num_groups(); ++i) witness.see(group, round, i);
    }
  }
};

/// Offers and forks, `count` rounds of them.
template <KillOrder order>
struct Offers {
  static constexpr Traits traits{.kill_order = order};
  using State = From;
  Witness witness;
  std::uint32_t count;

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    for (std::uint32_t round = state.id == ~0U ? 0 : state.round + 1; round < count; ++round) {
      if (group.offer_kill(State{round, group.group_id()})) return;
      witness.write(group, round);
      group.request_fork(State{round, group.group_id()});
    }
  }
};

/// Offers, then a barrier, `count` times.
struct OffersAndBarriers {
  using State = From;
  Witness witness;
  std::uint32_t count;

  template <class Group>
  void run(Group& group, State /*state*/) const {
    witness.hold(group);
    for (std::uint32_t round = 0; round < count; ++round) {
      if (group.offer_kill(State{round, 0})) return;
      witness.write(group, round);
      group.global_barrier();
      for (std::uint32_t i = 0; i < group.num_groups(); ++i) witness.see(group, round, i);
    }
  }
};

/// Group 0 forks, and everybody returns.
struct ForkAndReturn {
  using State = From;
  Witness witness;
  std::uint32_t count;

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    if (state.id != ~0U || group.group_id() != 0) return;
    for (std::uint32_t round = 0; round < count; ++round) {
      witness.write(group, round);
      group.request_fork(State{round, 0});
    }
  }
};

template <class Kernel, class P = explore::Platform>
Result explore_kernel(const Options& options, std::uint32_t count) {
  Buffer<std::uint32_t> cells;
  Buffer<std::uint32_t> owner;
  return explore::check<P>(
      [&](explore::Engine& engine) {
        cells = engine.fill<std::uint32_t>(std::size_t{Witness::groups} * Witness::rounds, 0);
        owner = engine.fill<std::uint32_t>(Witness::groups, 0);
        return Kernel{{cells.data(), owner.data()}, count};
      },
      [] { return true; }, options);
}

/// A kernel, its size, and what the scheduler does.
struct Scenario {
  std::string_view name;
  std::uint32_t units;
  std::uint32_t first;
  std::uint32_t local_size;
  std::uint32_t count;
  void (*host)(Host&);
  Result (*explore)(const Options&, std::uint32_t count);
  Start start = Start::gathered;
  Waiting waiting = Waiting::polled;
  bool offer_wait = false;
  bool start_deadline = false;

  /// `how`: the search; what belongs to the scenario is filled in.
  [[nodiscard]] Result run(Options how) const {
    how.capacity = units;
    how.start_groups = first;
    how.local_size = local_size;
    how.host = host;
    how.start = start;
    if (how.waiting == Waiting::polled) how.waiting = waiting;
    how.offer_wait = offer_wait;
    how.start_deadline = start_deadline;
    if (how.search == Search::exhaustive) how.visits = 1;
    return explore(how, count);
  }
};

constexpr auto here = Resizes::at_barriers;
constexpr auto anywhere = Resizes::anywhere;
constexpr auto one_pass = ResizingBarrier::one_pass;

inline void nothing(Host& /*host*/) {}
inline void to_one(Host& host) { host.set_target(1); }
inline void to_two(Host& host) { host.set_target(2); }
inline void to_three(Host& host) { host.set_target(3); }
inline void down_and_up(Host& host) {
  host.set_target(1);
  host.set_target(3);
}
inline void down_and_up_to_two(Host& host) {
  host.set_target(1);
  host.set_target(2);
}
inline void one_by_one(Host& host) {
  host.set_target(3);
  host.set_target(4);
}
inline void up_and_down(Host& host) {
  for (int i = 0; i < 3; ++i) {
    host.set_target(3);
    host.set_target(2);
  }
}
inline void up_to_two_and_down(Host& host) {
  host.set_target(2);
  host.set_target(1);
}
inline void suspended(Host& host) { host.suspend(); }
inline void grown_and_suspended(Host& host) {
  host.set_target(3);
  host.suspend();
}

/// All that is searched through exhaustively.
const std::vector<Scenario>& scenarios();
/// Those in which the protocol does something else on a platform with fences, on that platform.
const std::vector<Scenario>& fenced_scenarios();

}  // namespace cohort::test
