// Kernels and scenarios for exploring the protocol. The kernels write plain memory whose accesses
// only the protocol orders. A race or a wrong value there shows that a barrier, a join or the reuse
// of an id is broken.
#pragma once

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <string>
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

/// A State that identifies its sender: group `id` in `round`, or gift number `round`.
struct From {
  static constexpr std::uint32_t no_sender = ~0U;  // in the State of the first groups
  static constexpr std::uint32_t gift = ~1U;

  std::uint32_t round = 0;
  std::uint32_t id = no_sender;
};

/// A scenario's memory. It is plain except for the counters.
struct Witness {
  static constexpr std::uint32_t groups = 6;
  static constexpr std::uint32_t rounds = 16;
  static constexpr std::uint32_t work = 8;
  static constexpr std::uint32_t gifts = 64;

  std::uint32_t* cells;     // by round and id: the holder of that id writes each cell once
  std::uint32_t* owner;     // by id: every holder of the id writes it
  std::uint32_t* items;     // how often each item was worked on
  std::uint32_t* given;     // gifts: each is written once, by a group that admits others
  std::uint32_t* counters;  // atomic: number of items handed out, of gifts, and of forked groups

  /// Writes the plain word of this group's id. The explorer reports a race unless this group is the
  /// only holder of the id, and the next holder comes after everything that this group did.
  template <class Group>
  void hold(Group& group) const {
    if (group.local_id() == 0) group.view(owner)[group.group_id()] += 1;
  }
  template <class Group>
  void write(Group& group, std::uint32_t round) const {
    if (group.local_id() == 0) group.view(cells)[round * groups + group.group_id()] = round + 1;
  }
  /// Writes a gift, which the groups admitted by this one will see.
  template <class Group>
  From give(Group& group) const {
    std::uint32_t number = 0;
    if (group.local_id() == 0) number = group.atomic(counters[1]).fetch_add(1);
    number = group.broadcast(number);
    if (number >= gifts) return {};
    if (group.local_id() == 0) group.view(given)[number] = number + 1;
    return {number, From::gift};
  }
  /// Checks that this group sees what `id` wrote in `round`.
  template <class Group>
  void see(Group& group, std::uint32_t round, std::uint32_t id) const {
    if (round >= rounds || id >= groups) throw std::logic_error{"a group was given no State"};
    const std::uint32_t seen = group.view(cells)[round * groups + id];
    if (seen != round + 1) throw std::logic_error{"a group did not see what another had written"};
  }
  template <class Group>
  void see_all(Group& group, std::uint32_t round, std::uint32_t below) const {
    for (std::uint32_t id = 0; id < below; ++id) see(group, round, id);
  }
  /// This group's part of one round over all items.
  template <class Group>
  void share(Group& group) const {
    for (const std::size_t i : group.stride(work)) ++group.view(items)[i];
  }
};

/// The memory after a finished, suspended or cancelled run.
struct Left {
  static constexpr std::uint32_t untold = ~0U;

  explore::Outcome outcome;
  std::vector<std::uint32_t> items;
  std::uint32_t taken = 0;
  std::uint32_t forked = 0;
};

/// Checks that a joining group sees everything that the group admitting it has written.
template <class Group>
void greet(Group& group, const Witness& witness, const From& from) {
  if (from.id == From::gift && group.joined()) {
    if (from.round >= Witness::gifts) throw std::logic_error{"a group was given no State"};
    const std::uint32_t seen = group.view(witness.given)[from.round];
    if (seen != from.round + 1) throw std::logic_error{"a joiner did not see what it was given"};
  } else if (from.id != From::no_sender && group.joined()) {
    witness.see(group, from.round, from.id);
  }
  witness.hold(group);
}

/// Common part of the kernels here: their memory, and the amount of work.
struct Scene {
  using State = From;
  Witness witness;
  std::uint32_t count;
};
struct Rounds : Scene {
  struct State {
    std::uint32_t round = 0;
  };
};
struct RoundsWithSender : Scene {
  struct State {
    std::uint32_t round = 0;
    From from;
  };
};
struct SharedRounds : Rounds {
  /// Checks that all items were worked on in each of `count` rounds. After a suspend, checks that
  /// all items were worked on equally often. So no work is lost or done twice.
  static std::string judge(const Left& left, std::uint32_t count) {
    for (const std::uint32_t times : left.items) {
      if (left.outcome.status == Status::finished && times != count) {
        return "an item was worked on " + std::to_string(times) + " times instead of " +
               std::to_string(count);
      }
      if (left.outcome.status == Status::suspended && times != left.items[0]) {
        return "items were worked on in different numbers of rounds";
      }
    }
    return {};
  }
};

/// A kernel of `count` global barriers.
template <Resizes resizes>
struct Barriers : Scene {
  static constexpr Traits traits{.resizes = resizes};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    witness.hold(group);
    for (std::uint32_t round = 0; round < count; ++round) {
      witness.write(group, round);
      group.global_barrier();
      witness.see_all(group, round, group.num_groups());
    }
  }
};

/// A kernel of `count` resizing barriers, each followed by a fork if `forks` is set.
template <Resizes resizes, ResizingBarrier barrier, bool forks = false>
struct Resizing : Scene {
  static constexpr Traits traits{.resizes = resizes, .barrier = barrier};

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    if (group.joined() && state.id != 0) throw std::logic_error{"this is not group 0's State"};
    std::uint32_t round = state.id == From::no_sender ? 0 : state.round + 1;
    for (; round < count; ++round) {
      witness.write(group, round);
      const std::uint32_t before = group.num_groups();
      if (group.resizing_global_barrier(State{round, group.group_id()})) return;
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

/// Step style. The votes decide about the next step.
struct Steps : Rounds {
  template <class Group>
  Next step(Group& group, State& state) const {
    witness.hold(group);
    if (state.round >= count) throw std::logic_error{"a step too many"};
    witness.write(group, state.round);
    return ++state.round < count ? Next::again : Next::halt;
  }
};

/// Step style in which only group 0 votes for another step.
struct Led : Rounds {
  template <class Group>
  Next step(Group& group, State& state) const {
    witness.hold(group);
    if (state.round >= count) throw std::logic_error{"a step too many"};
    if (state.round > 0) witness.see(group, state.round - 1, 0);
    witness.write(group, state.round);
    return ++state.round < count && group.group_id() == 0 ? Next::again : Next::halt;
  }
};

/// Each round is divided by stride, between resizing barriers.
template <Resizes resizes, ResizingBarrier barrier, Survivors survivors = Survivors::keep_one>
struct Shares : SharedRounds {
  static constexpr Traits traits{.survivors = survivors, .resizes = resizes, .barrier = barrier};

  template <class Group>
  void run(Group& group, State state) const {
    while (state.round < count) {
      witness.share(group);
      ++state.round;
      if (group.resizing_global_barrier(state)) return;
    }
  }
};

/// The same in step style. In each step, one group votes for the next step, a different one each
/// time. setup() writes what every step reads.
template <ResizingBarrier barrier = ResizingBarrier::one_pass>
struct Elected : SharedRounds {
  static constexpr Traits traits{
      .resizes = barrier == ResizingBarrier::one_pass ? Resizes::at_barriers : Resizes::anywhere,
      .barrier = barrier};

  template <class Group>
  void setup(Group& group) const {
    if (group.global_id() != 0) return;
    for (std::uint32_t id = 0; id < Witness::groups; ++id) group.view(witness.cells)[id] = 1;
    ++group.view(witness.given)[0];  // only once, not again after a suspend
  }
  template <class Group>
  Next step(Group& group, State& state) const {
    if (state.round >= count) throw std::logic_error{"a step too many"};
    witness.see(group, 0, group.group_id());
    if (group.view(witness.given)[0] != 1) throw std::logic_error{"setup() ran again"};
    witness.share(group);
    const std::uint32_t voter = state.round % group.num_groups();
    return ++state.round < count && group.group_id() == voter ? Next::again : Next::halt;
  }
};

/// Items are handed out one at a time; groups join and leave in between.
template <KillOrder order, Survivors survivors = Survivors::keep_one>
struct Pool : Scene {
  static constexpr Traits traits{.kill_order = order, .survivors = survivors};

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    for (;;) {
      witness.hold(group);
      if (count % 2 == 0) {  // in even rounds, one call does both
        if (group.offer(witness.give(group))) return;
      } else {
        if (group.offer_kill(State{})) return;
        witness.hold(group);
        fork(group);
      }
      std::uint32_t item = 0;
      if (group.local_id() == 0) item = group.atomic(witness.counters[0]).fetch_add(1);
      item = group.broadcast(item);
      if (item >= count) return;
      if (group.local_id() == 0) ++group.view(witness.items)[item];
    }
  }
  /// Forks, and counts the groups that request_fork reports. In the dialect, request_fork returns
  /// nothing.
  template <class Group>
  void fork(Group& group) const {
    const State from = witness.give(group);
    auto forked = group.atomic(witness.counters[2]);
    if constexpr (std::is_void_v<decltype(group.request_fork(from))>) {
      group.request_fork(from);
      forked.store(Left::untold);
    } else {
      const std::uint32_t joined = group.request_fork(from);
      if (group.local_id() == 0 && joined != 0) forked.fetch_add(joined);
    }
  }
  static std::string judge(const Left& left, std::uint32_t count) {
    std::uint32_t done = 0;
    for (const std::uint32_t times : left.items) done += times;
    const std::uint32_t handed_out = std::min(left.taken, count);
    if (count % 2 != 0 && left.outcome.status == Status::finished && left.forked != Left::untold &&
        left.forked != left.outcome.joins) {
      return "forks tell of " + std::to_string(left.forked) + " groups, but " +
             std::to_string(left.outcome.joins) + " have joined";
    }
    if (done == handed_out && (left.outcome.status != Status::finished || done == count)) return {};
    return std::to_string(done) + " items were done, " + std::to_string(handed_out) +
           " handed out, of " + std::to_string(count);
  }
};

/// A mix: an offer, a fork and a barrier in each round. In every other round it is a resizing
/// barrier. Writes before each of them must be visible after the next barrier.
struct Mixed : RoundsWithSender {
  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state.from);
    std::uint32_t before = group.joined() ? 0 : group.num_groups();  // M at the last barrier
    for (std::uint32_t round = state.round; round < count; ++round) {
      witness.write(group, round);
      if (group.offer_kill(State{round, {}})) return;
      witness.write(group, round);
      group.request_fork(State{round, {round, group.group_id()}});
      if (round % 2 != 0) {
        if (group.resizing_global_barrier(State{round + 1, {round, 0}})) return;
      } else {
        group.global_barrier();
        witness.see_all(group, round, group.num_groups());
      }
      witness.see_all(group, round, before);
      before = group.num_groups();
    }
  }
};

/// A kernel of `count` rounds of offers and forks.
template <KillOrder order>
struct Offers : RoundsWithSender {
  static constexpr Traits traits{.kill_order = order};

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state.from);
    for (std::uint32_t round = state.round; round < count; ++round) {
      witness.hold(group);
      if (group.offer_kill(State{round, {}})) return;
      group.request_fork(State{round + 1, witness.give(group)});
    }
  }
};

/// A kernel of `count` rounds, each an offer and a barrier. Writes of a group that leaves in the
/// offer must be visible after the barrier.
struct OffersAndBarriers : Scene {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    witness.hold(group);
    std::uint32_t before = group.num_groups();  // M at the last barrier
    for (std::uint32_t round = 0; round < count; ++round) {
      witness.write(group, round);
      if (group.offer_kill(State{round, 0})) return;
      group.global_barrier();
      witness.see_all(group, round, before);
      before = group.num_groups();
    }
  }
};

/// Group 0 forks, and all groups return.
struct ForkAndReturn : Scene {
  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    if (state.id != From::no_sender || group.group_id() != 0) return;
    for (std::uint32_t round = 0; round < count; ++round) {
      witness.write(group, round);
      group.request_fork(State{round, 0});
    }
  }
};

/// The buffers behind a Witness.
class Memory {
 public:
  template <class Kernel>
  Kernel kernel(explore::Engine& engine, std::uint32_t count) {
    cells_ = engine.fill<std::uint32_t>(std::size_t{Witness::groups} * Witness::rounds, 0);
    owner_ = engine.fill<std::uint32_t>(Witness::groups, 0);
    items_ = engine.fill<std::uint32_t>(Witness::work, 0);
    given_ = engine.fill<std::uint32_t>(Witness::gifts, 0);
    counters_ = engine.fill<std::uint32_t>(3, 0);
    Kernel made{};
    made.witness = {cells_.data(), owner_.data(), items_.data(), given_.data(), counters_.data()};
    made.count = count;
    return made;
  }
  /// Describes errors in the memory after a run, if there are any.
  template <class Kernel>
  [[nodiscard]] std::string judge(const explore::Outcome& outcome, std::uint32_t count) const {
    if constexpr (requires { Kernel::judge(Left{}, count); }) {
      return Kernel::judge(Left{outcome, items_.read(), counters_.read()[0], counters_.read()[2]},
                           count);
    } else {
      return {};
    }
  }

 private:
  Buffer<std::uint32_t> cells_, owner_, items_, given_, counters_;
};

template <class Kernel, class P = explore::Platform>
Result explore_kernel(const Options& options, std::uint32_t count) {
  Memory memory;
  return explore::check<P>(
      [&](explore::Engine& engine) { return memory.kernel<Kernel>(engine, count); },
      [&](const explore::Outcome& outcome) { return memory.judge<Kernel>(outcome, count); },
      options);
}

/// Runs until there are `count` groups, so it ends only if the scheduler gets the groups that it
/// asked for. With a `count` of 0, it runs until it is suspended or all groups have left.
template <Resizes resizes, ResizingBarrier barrier, Survivors survivors = Survivors::keep_one>
struct UntilResized : Scene {
  static constexpr Traits traits{.survivors = survivors, .resizes = resizes, .barrier = barrier};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    while (group.num_groups() != count) {
      if (group.resizing_global_barrier(State{})) return;
    }
  }
};

/// The same with offers and forks instead of barriers.
template <KillOrder order>
struct UntilOffered : Scene {
  static constexpr Traits traits{.kill_order = order};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    while (group.num_groups() != count) {
      if (group.offer(State{})) return;
    }
  }
};

/// Runs until groups have joined `count` times, however often the scheduler has to ask for it.
template <Traits its_traits>
struct UntilJoined : Scene {
  static constexpr Traits traits = its_traits;

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    if (group.joined() && group.local_id() == 0) group.atomic(witness.counters[0]).fetch_add(1);
    for (;;) {
      witness.hold(group);
      const State from = witness.give(group);
      if constexpr (traits.resizes == Resizes::anywhere) {
        if (group.offer(from)) return;
        if (group.atomic(witness.counters[0]).load() >= count) return;
      } else {
        const std::uint32_t joined = group.atomic(witness.counters[0]).load();
        if (group.group_id() == 0 && joined >= count) group.view(witness.owner)[5] = 1;
        group.global_barrier();  // all groups see group 0's decision
        if (group.view(witness.owner)[5] == 1) return;
        if (group.resizing_global_barrier(from)) return;
      }
    }
  }
};

/// Calls the primitive with number `count` until the job is cancelled, even after being told to
/// leave.
template <Resizes resizes>
struct UntilCancelled : Scene {
  static constexpr Traits traits{.resizes = resizes};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    for (bool told = false;;) {
      if constexpr (resizes == Resizes::anywhere) {
        if (count == 6 && told) static_cast<void>(group.offer_kill(State{}));
        if (count == 6 && !told) told = group.offer(State{});
        if (count == 0) group.request_fork(State{});
        if (count == 1) static_cast<void>(group.offer_kill(State{}));
        if (count == 2) static_cast<void>(group.offer(State{}));
        if (count == 3) static_cast<void>(group.query());
      }
      if (count == 4) group.global_barrier();
      if (count == 5) static_cast<void>(group.resizing_global_barrier(State{}));
    }
  }
};

/// Barriers of both kinds, in an order in which each kind follows each other kind at even and at
/// odd generations.
template <Resizes resizes>
struct Kinds : Scene {
  static constexpr Traits traits{.resizes = resizes};

  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state);
    std::uint32_t round = state.id == From::no_sender ? 0 : state.round + 1;
    for (; round < count; ++round) {
      witness.write(group, round);
      if ((0b01'0010'1101U >> round & 1U) == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(State{round, 0})) {
        return;
      }
      witness.see_all(group, round, 1);
    }
  }
};

/// Every group forks right after each resizing barrier, while the barrier may still be admitting
/// groups.
struct ForksAfterBarriers : RoundsWithSender {
  template <class Group>
  void run(Group& group, State state) const {
    greet(group, witness, state.from);
    for (std::uint32_t round = state.round; round < count; ++round) {
      witness.write(group, round);
      if (group.resizing_global_barrier(State{round + 1, {round, 0}})) return;
      witness.hold(group);
      group.request_fork(State{round + 1, witness.give(group)});
    }
  }
};

// ---- kernels that break the contract: every schedule must end with the fault that names the
// mistake

/// Group 1 returns, and the others wait for it in a barrier.
template <Resizes resizes, ResizingBarrier barrier = ResizingBarrier::one_pass>
struct ReturnsEarly : Scene {
  static constexpr Traits traits{.resizes = resizes, .barrier = barrier};
  static constexpr std::string_view faults[] = {"returned", "after"};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    if (group.group_id() == 1) return;
    if (count == 0) {
      group.global_barrier();
    } else if (group.resizing_global_barrier(State{0, 0})) {
      return;
    }
    witness.see(group, 0, 1);  // never reached: group 1 has written nothing
  }
};

/// Some groups stand at a plain barrier, the others at a resizing one. Group `count` stands alone
/// at the plain one or, from 10 on, group `count` - 10 alone at the resizing one.
template <Resizes resizes, ResizingBarrier barrier = ResizingBarrier::one_pass>
struct Diverges : Scene {
  static constexpr Traits traits{.resizes = resizes, .barrier = barrier};
  static constexpr std::string_view faults[] = {"different barriers"};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    group.global_barrier();
    if ((group.group_id() == count % 10) == (count < 10)) {
      group.global_barrier();
    } else if (group.resizing_global_barrier(State{0, 0})) {
      return;
    }
    group.global_barrier();
  }
};

/// A group that has left continues: with a barrier, an offer, a fork or a query, depending on
/// `count`.
struct GoesOnAfterLeaving : Scene {
  static constexpr std::string_view faults[] = {"broken contract"};

  template <class Group>
  void run(Group& group, State /*state*/) const {
    const State state{0, 0};
    if (group.group_id() != 0) {
      while (!group.offer_kill(state)) witness.hold(group);
      if (count == 0) group.global_barrier();
      if (count == 1 && group.offer_kill(state)) return;
      if (count == 2) group.request_fork(state);
      if (count == 3) static_cast<void>(group.query());
      if (count == 4 && group.resizing_global_barrier(state)) return;
      if (count == 5 && group.offer(state)) return;
    }
    group.global_barrier();
  }
};

/// Explores a kernel that breaks the contract. Every schedule must end with the kernel's fault.
template <class Kernel, Result (*explore_one)(const Options&, std::uint32_t)>
Result expect_fault(const Options& options, std::uint32_t count) {
  Options one = options;
  one.schedules = 1;
  one.shrink = false;
  if (one.search == Search::exhaustive) one.search = Search::random;
  Result all;
  const std::uint64_t most = std::min<std::uint64_t>(options.schedules, 100);
  for (; all.schedules < most; ++all.schedules) {
    one.seed = options.seed + all.schedules;
    const Result result = explore_one(one, count);
    const auto is_reported = [&](std::string_view fault) {
      return result.failure.find(fault) != std::string::npos;
    };
    if (std::ranges::any_of(Kernel::faults, is_reported)) continue;
    all.ok = false;
    all.failure = "the broken contract was not reported: " +
                  (result.ok ? std::string{"no failure"} : result.failure);
    all.seed = one.seed;
    return all;
  }
  all.complete = options.search == Search::exhaustive;
  return all;
}
template <class Kernel, class P = explore::Platform>
Result explore_misuse(const Options& options, std::uint32_t count) {
  return expect_fault<Kernel, &explore_kernel<Kernel, P>>(options, count);
}

/// A kernel, its size, and the actions of the scheduler.
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
  /// How often each unit comes; 0: as the search's options say. A kernel with visits waits for the
  /// scheduler, and PCT's strict priorities could make it wait for ever. So its search is random.
  std::uint32_t visits = 0;
  std::uint32_t max_groups = 0;  // also the number of boxes in the lobby; 0: as many as units
  bool fenced = false;           // runs on the platform with fences, where groups poll

  friend std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
    return out << scenario.name << (scenario.fenced ? ", fences" : "");
  }
  /// Explores the scenario. `how`: options of the search; the scenario fills in the rest.
  [[nodiscard]] Result run(Options how) const {
    how.capacity = units;
    how.start_groups = first;
    how.local_size = local_size;
    how.host = host;
    how.start = start;
    if (how.waiting == Waiting::polled) how.waiting = waiting;
    if (fenced) how.waiting = Waiting::polled;
    how.offer_wait = offer_wait;
    how.start_deadline = start_deadline;
    if (max_groups != 0) how.max_groups = max_groups;
    if (how.search == Search::exhaustive) how.visits = 1;
    if (visits != 0) {
      how.visits = visits;
      how.search = Search::random;
    }
    return explore(how, count);
  }
};

constexpr auto here = Resizes::at_barriers;
constexpr auto anywhere = Resizes::anywhere;
constexpr auto one_pass = ResizingBarrier::one_pass;

inline void nothing(Host& /*host*/) {}
/// A host that sets these targets, one right after the other.
template <std::uint32_t... targets>
void to(Host& host) {
  (host.set_target(targets), ...);
}
template <std::uint32_t... targets>
void suspended(Host& host) {
  to<targets...>(host);
  host.suspend();
}
template <std::uint32_t... targets>
void cancelled(Host& host) {
  to<targets...>(host);
  host.cancel();
}
/// A host that raises and lowers the target for as long as the job runs. It sets each target
/// several times, so that the target lasts.
inline void pumped(Host& host) {
  for (int i = 0; host.status() == Status::pending || host.status() == Status::running; ++i) {
    host.set_target(i % 12 < 9 ? 2 : 1);
  }
}
/// A host that sets five targets from `least` to `most`, which the schedule chooses.
template <std::uint32_t most, std::uint32_t least = 1>
void restless(Host& host) {
  for (int i = 0; i < 5; ++i) host.set_target(least + host.choose(most - least + 1));
}
/// A host that suspends and resumes the job. Needs Start::sent, because units that come by
/// themselves cannot be sent again.
inline void suspended_and_resumed(Host& host) {
  host.set_target(1 + host.choose(4));
  if (host.suspend() != Status::suspended) return;
  host.resume();
  host.set_target(1 + host.choose(4));
  host.suspend();
  host.resume();
}

/// Scenarios small enough for all their schedules.
const std::vector<Scenario>& scenarios();
/// Small scenarios of the branches that the protocol has for platforms with fences.
const std::vector<Scenario>& fenced_scenarios();
/// Four groups and long runs of every kernel: only for random schedules.
const std::vector<Scenario>& larger_scenarios();
/// The same on the platform with fences.
const std::vector<Scenario>& larger_fenced_scenarios();

/// All scenarios above in one list.
inline std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  for (const auto* list :
       {&scenarios(), &fenced_scenarios(), &larger_scenarios(), &larger_fenced_scenarios()}) {
    all.insert(all.end(), list->begin(), list->end());
  }
  return all;
}

/// Scenarios of the platform with fences.
inline std::vector<Scenario> on_fences(std::vector<Scenario> all) {
  for (Scenario& scenario : all) scenario.fenced = true;
  return all;
}

}  // namespace cohort::test
