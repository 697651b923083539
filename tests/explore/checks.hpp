// Checks of single protocol functions. They are called outside any schedule, where the explorer's
// atomics are plain memory, or by a few threads. They cover what schedules of few groups cannot
// reach: rows of ids longer than a word, rosters of thousands of groups, lobbies of stale runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cohort/explore.hpp"
#include "explore/expect.hpp"
#include "explore/group_checks.hpp"

namespace cohort::test {

using explore::Search;
using explore::Waiting;

/// The data shared by a job's groups, without an engine. All groups are active unless a roster is
/// given.
template <class P>
struct Still {
  explicit Still(std::uint32_t max_groups) : Still(max_groups, max_groups) {}
  Still(std::uint32_t max_groups, std::uint64_t roster)
      : boxes(max_groups),
        free_ids(protocol::id_words(max_groups)),
        resting(free_ids.size()),
        box_states(max_groups) {
    shared.max_groups = shared.quorum = max_groups;
    shared.boxes = boxes.data();
    shared.free_ids = free_ids.data();
    shared.resting = resting.data();
    shared.roster.reset(roster);
    shared.settled.reset(max_groups);
    shared.share.reset(max_groups);
    states.boxes = box_states.data();
  }
  [[nodiscard]] protocol::Member<P, int> member(std::uint32_t id) {
    protocol::Member<P, int> result{.shared = shared, .states = states};
    result.id = id;
    result.active = shared.look().active();
    return result;
  }
  void rest(std::uint32_t id) { resting[id / 64].reset(resting[id / 64].peek() | 1ULL << id % 64); }
  [[nodiscard]] bool rests(std::uint32_t id) const {
    return resting[id / 64].peek() >> id % 64 & 1U;
  }
  [[nodiscard]] protocol::Fault fault() const {
    return protocol::FaultRecord{shared.fault.peek()}.fault();
  }

  protocol::Shared<P> shared;
  protocol::States<int> states{};
  std::vector<protocol::Box<P>> boxes;
  std::vector<explore::Atomic<std::uint64_t>> free_ids;
  std::vector<explore::Atomic<std::uint64_t>> resting;
  std::vector<int> box_states;
};

/// The view of a group that has left.
template <class Member>
bool is_out(const Member& member) {
  return member.left && member.id == protocol::no_id;
}

/// The threads of one schedule, and the condition that must be true afterwards.
struct Threads {
  std::vector<std::function<void()>> bodies;
  std::function<void()> judge = [] {};
};

/// A thread that acts as a group with this id.
template <class P, class Act>
std::function<void()> as(const std::shared_ptr<Still<P>>& job, std::uint32_t id, Act act) {
  return [job, id, act] {
    auto member = job->member(id);
    act(member);
  };
}

struct Schedules {
  int count;
  Waiting waiting = Waiting::polled;
  std::vector<Search> searches = {Search::random, Search::pct};
};

/// Explores the threads. `make` creates them anew for each schedule of each search.
inline void explore_threads(const Schedules& schedules, const std::function<Threads()>& make) {
  for (const Search search : schedules.searches) {
    explore::World world{{.search = search, .weak_memory = true, .waiting = schedules.waiting}};
    for (int i = 0; i < schedules.count; ++i) {
      world.begin();
      Threads threads = make();
      for (std::uint32_t t = 0; t < threads.bodies.size(); ++t) {
        world.spawn(
            t, "thread", [](void* body) { (*static_cast<std::function<void()>*>(body))(); },
            &threads.bodies[t]);
      }
      world.go();
      expect(world.failure().empty(), world.failure());
      threads.judge();
      world.next();
    }
  }
}

/// A claim takes the groups that rest right below the leaver, down to the target or the first gap,
/// across words of 64 ids. Other groups keep resting.
inline void claims_stop_at_the_first_gap() {
  using P = explore::FencedPlatform;
  for (const std::uint32_t leaver : {1U, 2U, 63U, 64U, 65U, 127U, 128U, 129U, 199U}) {
    for (const std::uint32_t least : {0U, 1U, 5U, 62U, 63U, 64U, 65U, 100U, 126U, 127U, 128U}) {
      for (const std::uint32_t gap : {0U, 1U, 30U, 62U, 63U, 64U, 65U, 126U, 127U, 128U, 300U}) {
        if (least > leaver) continue;
        Still<P> job{200};
        for (std::uint32_t id = 0; id < leaver; ++id) {
          if (id != gap) job.rest(id);
        }
        const std::uint32_t claimed = protocol::claim_resting(job.shared, leaver, least);
        const std::uint32_t lowest = gap < leaver && gap >= least ? gap + 1 : least;
        expect(claimed == leaver - lowest, "claimed ", claimed, " groups");
        for (std::uint32_t id = 0; id < leaver; ++id) {
          expect(job.rests(id) == (id < lowest && id != gap), "group ", id, " is claimed wrongly");
        }
        protocol::let_rest(job.shared, leaver, claimed);
        for (std::uint32_t id = 0; id < leaver; ++id) {
          expect(job.rests(id) == (id != gap), "group ", id, " has no bit");
        }
      }
    }
  }
}

/// Each id is handed out once with KillOrder::any, across several words. Ids of max_groups and
/// above are never handed out.
inline void ids_are_handed_out_once() {
  using P = explore::Platform;
  expect(protocol::id_words(1) == 1 && protocol::id_words(64) == 1 && protocol::id_words(65) == 2,
         "a bitmap has the wrong size");
  for (const std::uint32_t most : {1U, 63U, 64U, 65U, 128U, 130U}) {
    Still<P> job{most};
    expect(protocol::take_id(job.shared) == protocol::no_id, "an id was taken that is not free");
    for (std::uint32_t id = 0; id < most; ++id) protocol::free_id(job.shared, id);
    for (std::uint32_t id = 0; id < most; ++id) {
      expect(protocol::take_id(job.shared) == id, "id ", id, " was not next");
    }
    expect(protocol::take_id(job.shared) == protocol::no_id, "an id too many");
    protocol::free_id(job.shared, most - 1);
    expect(protocol::take_id(job.shared) == most - 1, "an id was lost");
  }
}

/// A barrier of many groups counts its arrivals by itself. A veto in the middle leaves the plain
/// count.
inline void rosters_count_thousands() {
  using protocol::Roster;
  for (const std::uint32_t active : {1U, 2U, 3U, 64U, 1000U, Roster::max_groups}) {
    for (const std::uint32_t gen : {0U, 1U, 41U, Roster::gen_mask}) {
      for (const std::uint32_t position : {0U, active / 2, active - 1}) {
        Roster roster{std::uint64_t{gen} << Roster::gen_shift | active};
        expect(roster.gen() == gen && roster.active() == active, "a field was read wrongly");
        Roster plain = roster;
        for (std::uint32_t i = 0; i < active; ++i) {
          expect(i <= position || roster.biased(), "a biased count does not look biased");
          expect(!plain.biased(), "a plain count looks biased");
          roster.word += i == position ? Roster::self_flip(active) : Roster::one_arrival;
          plain.word += i == position ? Roster::self_flip(active) - Roster::bias(active)
                                      : Roster::one_arrival;
          expect(plain.arrived() == i + 1, "a plain count is wrong");
        }
        const std::uint32_t next = (gen + 1) & Roster::gen_mask;
        expect(roster.gen() == next && roster.arrived() == 0 && roster.active() == active,
               "a barrier of ", active, " groups did not flip");
        const Roster released = plain.released(active / 2 + 1);
        expect(released.gen() == next && released.arrived() == 0 &&
                   released.active() == active / 2 + 1,
               "a release is wrong");
        const Roster drained{plain.word | Roster::drain};
        const Roster half{Roster{drained.word - Roster::one_arrival}};
        expect(!half.finished() && half.live() == 1, "a group that has yet to return is missed");
        expect(!plain.finished() && drained.finished() && drained.live() == 0 &&
                   plain.live() == active,
               "groups that have returned are counted wrongly");
      }
    }
  }
}

/// A group sent for an earlier run is turned away at the lobby and touches nothing.
inline void stale_groups_are_turned_away() {
  Still<explore::Platform> job{4, 1};
  job.shared.serial.reset(2);
  auto member = job.member(0);
  expect(!protocol::wait_in_lobby(member, 1, 0), "a stale group was admitted");
  for (const auto& box : job.boxes) {
    expect(box.seat.peek() == protocol::Seat::empty, "a stale group took a box");
  }
  expect(protocol::unwanted(job.shared, 1), "a stale group is wanted");
  job.shared.serial.reset(1);
  expect(!protocol::unwanted(job.shared, 1), "a group of this run is not wanted");
  job.shared.closed.reset(1);
  expect(protocol::unwanted(job.shared, 1), "a closed job wants groups");
  job.shared.closed.reset(0);
  job.shared.roster.reset(1 | protocol::Roster::drain);
  expect(protocol::unwanted(job.shared, 1), "a job that drains wants groups");
  // Active and waiting groups fill the target; before the check-in closes the quorum counts.
  job.shared.roster.reset(2);
  job.shared.waiting.reset(2);
  expect(!protocol::unwanted(job.shared, 1), "the last place is not free");
  job.shared.waiting.reset(3);
  expect(protocol::unwanted(job.shared, 1), "a place too many is free");
  job.shared.roster.reset(protocol::Roster::gather);
  job.shared.waiting.reset(1);
  expect(protocol::unwanted(job.shared, 1), "groups that have yet to check in do not count");
}

/// Any waiting group can be claimed, wherever its box is. No more groups are claimed than wanted.
template <class P>
void claims_find_every_box() {
  for (const std::uint32_t boxes : {1U, 7U, 8U, 9U, 20U}) {
    for (std::uint32_t wanted = 0; wanted <= boxes; ++wanted) {
      Still<P> job{boxes};
      std::uint32_t waiting = 0;
      for (std::uint32_t i = boxes; i > 0; i -= std::min(i, 2U)) {
        job.boxes[i - 1].seat.reset(protocol::Seat::waiting);
        ++waiting;
      }
      job.shared.waiting.reset(waiting);
      const std::uint32_t claimed = protocol::claim(job.shared, wanted);
      expect(claimed == std::min(wanted, waiting), "claimed ", claimed);
      expect(job.shared.waiting.peek() == waiting - claimed, "the lobby counts wrongly");
      auto member = job.member(0);
      std::uint32_t next = 7;
      protocol::admit(member, 42, 3, protocol::Entry::slave,
                      [&](const protocol::Box<P>&) { return next++; });
      std::uint32_t admitted = 0;
      for (std::uint32_t i = 0; i < boxes; ++i) {
        const auto& box = job.boxes[i];
        if (box.seat.peek() != protocol::Seat::admitted) continue;
        expect(box.id == 7 + admitted && box.gen == 3 && box.entry == protocol::Entry::slave &&
                   job.box_states[i] == 42,
               "a joiner was told something wrong");
        ++admitted;
      }
      expect(admitted == claimed, "admitted ", admitted);
    }
  }
}

/// A fault records which group raised it and when.
inline void faults_name_their_group() {
  using protocol::Fault, protocol::FaultRecord;
  for (const std::uint32_t group : {0U, 1U, 255U, 4095U, protocol::no_id}) {
    for (const std::uint32_t gen : {0U, 1U, protocol::Roster::gen_mask}) {
      const FaultRecord made{Fault::lost_group, group, gen};
      const FaultRecord read{made.word};
      expect(read.fault() == Fault::lost_group && read.group() == group && read.gen() == gen,
             "a fault of group ", group, " is read wrongly");
    }
  }
}

/// A job that is cancelled during its check-in does not wait for a group that never comes.
inline void cancelled_check_ins_end() {
  using P = explore::Platform;
  explore_threads({200, Waiting::notified, {Search::random}}, [] {
    auto job = std::make_shared<Still<P>>(2, protocol::Roster::gather);
    return Threads{{as(job, 0, [](auto& member) { static_cast<void>(protocol::check_in(member)); }),
                    [=] { protocol::raise(job->shared, protocol::Fault::cancelled); }}};
  });
}

/// The starter of a check-in with a deadline begins alone if no other group comes.
inline void starters_begin_alone() {
  using P = explore::Platform;
  explore_threads({200, Waiting::polled, {Search::random}}, [] {
    auto job = std::make_shared<Still<P>>(3, protocol::Roster::gather);
    job->shared.start_deadline = 1;
    auto alone = std::make_shared<bool>(false);
    return Threads{{as(job, 0,
                       [=](auto& member) {
                         *alone =
                             protocol::check_in(member) && member.active == 1 && member.id == 0;
                       })},
                   [=] { expect(*alone, "the starter did not begin alone"); }};
  });
}

/// A group that enters the lobby finds the only free box, wherever it starts looking.
inline void joiners_find_the_free_box() {
  using P = explore::Platform;
  for (std::uint32_t hint = 0; hint < 5; ++hint) {
    for (std::uint32_t free = 0; free < 3; ++free) {
      explore_threads({200, Waiting::polled, {Search::random}}, [=] {
        auto job = std::make_shared<Still<P>>(3, 1);
        for (std::uint32_t i = 0; i < 3; ++i) {
          job->boxes[i].seat.reset(i == free ? protocol::Seat::empty : protocol::Seat::claimed);
        }
        auto admitted = std::make_shared<bool>(false);
        const auto join = [=](auto& member) {
          *admitted = protocol::wait_in_lobby(member, 0, hint) && member.id == 2;
        };
        const auto admit = [=] {
          auto& box = job->boxes[free];
          P::await(job->shared.lobby_event,
                   [&] { return box.seat.load(Order::acquire) == protocol::Seat::waiting; });
          box.id = 2;
          box.seat.store(protocol::Seat::admitted, Order::release);
        };
        return Threads{{as(job, 0, join), admit},
                       [=] { expect(*admitted, "a joiner was not admitted"); }};
      });
    }
  }
}

/// A group that has left is caught at each primitive and told that it is gone.
inline void leavers_are_caught() {
  using P = explore::Platform;
  using protocol::Verdict;
  const auto expect_caught = [](const char* what, auto is_gone) {
    Still<P> job{3};
    job.shared.waiting.reset(1);
    auto member = job.member(1);
    member.left = true;
    member.id = protocol::no_id;
    expect(is_gone(member) && job.fault() == protocol::Fault::used_after_leaving, what,
           " after leaving was not caught");
  };
  expect_caught("a fork", [](auto& member) {
    return protocol::request_fork<P, Traits{}>(member, 1) == protocol::fork_gone;
  });
  expect_caught("an offer", [](auto& member) {
    const int state = 0;
    return protocol::offer_kill<P, Traits{}>(member, &state) == Verdict::gone;
  });
  expect_caught("a barrier", [](auto& member) {
    const protocol::Place<P> place{member, protocol::Kind::plain};
    return protocol::global_barrier<P, Traits{}>(member, place) == Verdict::gone;
  });
}

/// A platform where a waiting group reads the target once, and never before it arrives.
struct LooksMeanwhile : explore::FencedPlatform {
  template <class Member>
  static bool looks(const Member& /*member*/) {
    return false;
  }
  using Platform::await;
  template <class Done, class Meanwhile>
  static void await(explore::Event& /*event*/, Done&& done, const Meanwhile& meanwhile) {
    meanwhile();
    static_cast<void>(done());
  }
};

/// If M does not change, group 0's barrier flips by itself exactly when no change is wanted. A
/// deposited State is found only if a change is wanted.
template <class P>
void vetoes_are_for_changes() {
  using protocol::Kind, protocol::Place, protocol::Roster;
  constexpr Traits still{.resizes = Resizes::at_barriers};
  const int state = 42;
  const auto arrive = [&](auto& job, std::uint32_t id) {
    auto member = job.member(id);
    const Place<P> place{job.shared, member, Kind::resizing, false, true};
    static_cast<void>(protocol::one_pass_barrier<P, still>(member, place, state));
    return Roster{job.shared.roster.peek()};
  };
  for (const std::uint32_t target : {1U, 2U, 3U, 4U, 5U}) {
    Still<P> job{4, 3};
    job.shared.share.reset(target);
    Roster now = arrive(job, 0);
    const bool wanted = target != 3;
    expect(now.biased() != wanted, "the bias is wrong with a target of ", target);
    expect((job.shared.deposit_gen.peek() == 0) == wanted, "a deposit is wrong");
    expect(!wanted || job.states.deposit[0] == 42, "the State was not deposited");
    // Group 1 does not ask for growth that group 0 has not seen.
    job.shared.share.reset(target == 3 ? 4 : target);
    now = arrive(job, 1);
    expect(now.biased() != wanted && (wanted || job.shared.deposit_gen.peek() != 0),
           "group 1 asked for more groups");
  }
}

/// A group other than 0 that sees a smaller target removes the bias with its arrival.
inline void others_veto_too() {
  using protocol::Roster;
  for (const std::uint64_t arrival : {Roster::one_arrival, Roster::self_flip(3)}) {
    Still<explore::Platform> job{3, 3 + arrival};
    auto member = job.member(1);
    const Roster now = protocol::arrive_with_veto(member, Roster::one_arrival);
    expect(now.arrived() == 2 && now.word == job.shared.roster.peek(), "arrived wrongly");
  }
}

/// Where M may change, group 0 deposits its State only if a change is wanted, and never at plain
/// barriers.
inline void deposits_are_for_changes() {
  using P = explore::Platform;
  using protocol::Kind, protocol::Place, protocol::Verdict;
  const int state = 42;
  for (const std::uint32_t target : {1U, 2U, 3U}) {
    Still<P> job{3, 2};
    job.shared.share.reset(target);
    auto member = job.member(0);
    static_cast<void>(
        protocol::one_pass_barrier<P, Traits{}>(member, Place<P>{member, Kind::resizing}, state));
    expect((job.shared.deposit_gen.peek() == 0) == (target != 2), "a deposit is wrong");
  }
  // A static launch has no state to deposit.
  constexpr Traits still{.resizes = Resizes::at_barriers};
  Still<P> job{2, 1};
  auto member = job.member(0);
  const Place<P> place{job.shared, member, Kind::resizing, false, true};
  expect(protocol::global_barrier<P, still>(member, place) == Verdict::stay, "it did not pass");
}

/// A group that a barrier removes, or that finds a fault there, has left.
inline void barriers_send_away() {
  using P = explore::Platform;
  using protocol::Kind, protocol::Place, protocol::Verdict;
  Still<P> job{3};
  job.shared.departing.reset(1);
  auto member = job.member(2);
  expect(protocol::shed(member, protocol::Roster{2}) == Verdict::leave && is_out(member) &&
             member.active == 2 && job.shared.departing.peek() == 0,
         "a group that was sent away is still there");
  Still<P> faulty{1};
  protocol::raise(faulty.shared, protocol::Fault::cancelled);
  auto last = faulty.member(0);
  expect(
      protocol::global_barrier<P, Traits{}>(last, Place<P>{last, Kind::plain}) == Verdict::gone &&
          last.left,
      "a group stays in a job that was cancelled");
}

/// query() returns how many groups the scheduler wants back. For a group that has left, it ends the
/// kernel.
inline void queries_tell_what_is_wanted() {
  using P = explore::Platform;
  struct Kernel {
    using State = int;
    void run() const {}
  };
  using Query = Group<P, Kernel, protocol::Role::member>;
  Still<P> job{8};
  Nothing local;
  const auto ask = [&](auto& member) {
    try {
      return static_cast<int>(Query{member, local, explore::Threads{}}.query());
    } catch (const explore::Unwind&) {
      return -1;
    }
  };
  for (const std::uint32_t target : {0U, 1U, 7U, 8U, 9U}) {
    job.shared.share.reset(target);
    auto member = job.member(0);
    expect(ask(member) == (target < 8 ? 8 - static_cast<int>(target) : 0), "a wrong answer");
  }
  auto left = job.member(1);
  left.left = true;
  expect(ask(left) == -1, "a group that has left got an answer");
  expect(job.fault() == protocol::Fault::used_after_leaving,
         "a query after leaving was not caught");
  auto late = job.member(2);
  expect(ask(late) == -1 && late.left, "a group of a job with a fault got an answer");
}

constexpr Traits any_order{.kill_order = KillOrder::any};
constexpr Traits may_empty{.survivors = Survivors::may_all_leave};
constexpr Traits by_plain{.barrier = ResizingBarrier::plain};
constexpr Traits by_query{.barrier = ResizingBarrier::query};
constexpr Traits by_model{.barrier = ResizingBarrier::modelled};
constexpr Traits any_order_may_empty{.kill_order = KillOrder::any,
                                     .survivors = Survivors::may_all_leave};

/// The group whose turn it is to leave also removes the groups that rest below it, down to the
/// target. It never removes group 0, and no group once one has returned. Its view of the roster may
/// be stale.
inline void leavers_take_resting_groups_along() {
  using P = explore::FencedPlatform;
  using protocol::Roster;
  struct Case {
    std::uint32_t target;
    std::uint64_t seen;  // the roster that the leaver has read
    std::uint64_t now;
    bool leaves;
    std::uint32_t others;  // number of groups that leave with it
  };
  constexpr std::uint64_t drained = 5 | Roster::drain | Roster::one_arrival;
  for (const Case& it :
       {Case{2, 5, 5, true, 2}, Case{1, 5, 5, true, 3}, Case{0, 5, 5, true, 3},
        Case{4, 5, 5, true, 0}, Case{3, 5, 5, true, 1}, Case{2, drained, drained, true, 0},
        Case{2, 5, drained, false, 0}, Case{3, 5, drained, false, 0}, Case{2, 5, 6, false, 0},
        Case{4, 5, 6, false, 0}, Case{2, 5, 5 | Roster::one_arrival, true, 2},
        Case{2, 5, 5 | Roster::fault, true, 2}}) {
    Still<P> job{6, it.now};
    for (std::uint32_t id = 0; id < 4; ++id) job.rest(id);
    auto leaver = job.member(4);
    Roster old{it.seen};
    expect(protocol::leave_with_resting<P, Traits{}>(leaver, old, it.target) == it.leaves,
           "a group was to leave and did not, or the other way round");
    const std::uint32_t before = Roster{it.now}.active();
    expect(job.shared.look().active() == before - (it.leaves ? it.others + 1 : 0), "M is wrong");
    expect(job.shared.departing.peek() == it.others, "the others do not depart");
    for (std::uint32_t id = 0; id <= 4; ++id) {  // the leaver does not rest
      expect(job.rests(id) == (id < 4 - it.others), "a group rests that has gone, or does not");
    }
    expect(it.leaves ? is_out(leaver) && leaver.active == 4
                     : !leaver.left && leaver.id != protocol::no_id,
           "the leaver does not know whether it has left");
    if (it.others == 0) continue;
    auto taken = job.member(3);
    expect(protocol::taken_along(taken) == protocol::Verdict::leave && is_out(taken) &&
               taken.active == 3 && job.shared.departing.peek() == it.others - 1,
           "a group that was taken along does not know");
  }
}

/// A group that was claimed but in the end not removed continues.
inline void claims_can_be_given_back() {
  using P = explore::FencedPlatform;
  for (const std::uint32_t id : {1U, 64U}) {
    explore_threads({200, Waiting::polled, {Search::random}}, [id] {
      auto job = std::make_shared<Still<P>>(id + 2);
      return Threads{
          {as(job, id, [](auto& member) { static_cast<void>(protocol::rest(member, 1)); }), [=] {
             const std::uint32_t claimed = protocol::claim_resting(job->shared, id + 1, id);
             protocol::let_rest(job->shared, id + 1, claimed);
           }}};
    });
  }
}

/// After an offer a group knows M, and whether the job has ended.
template <class P, Traits traits>
void offers_tell_of_the_job() {
  using protocol::Roster, protocol::Verdict;
  struct Case {
    std::uint64_t roster;
    std::uint32_t id;
    std::uint32_t target;
    bool suspends;
    bool has_state;
    bool left;
    Verdict verdict;
    bool calm;
    bool keeps = false;
  };
  constexpr bool any = traits.kill_order == KillOrder::any;
  constexpr std::uint64_t drained = 2 | Roster::drain | Roster::one_arrival;
  for (const Case& it : {
           Case{3, 1, 3, false, true, false, Verdict::stay, true},
           Case{3, 1, 4, false, true, false, Verdict::stay, true},
           Case{3, 1, 1, false, true, false, any ? Verdict::leave : Verdict::stay, false},
           Case{3 | Roster::fault, 1, 3, false, true, false, Verdict::leave, true},
           Case{3 | Roster::fault, 1, 1, false, true, false, Verdict::leave, false},
           Case{3, 1, 3, false, true, true, Verdict::gone, false},
           Case{3, 1, 1, false, true, true, Verdict::gone, false},
           Case{1, 0, 0, false, true, false, Verdict::stay, false},
           Case{1, 0, 0, true, true, false, Verdict::leave, false, true},
           Case{1, 0, 0, true, false, false, Verdict::stay, false},
           Case{drained, 0, 0, true, true, false, Verdict::stay, false},
       }) {
    for (const bool glances : {false, true}) {
      Still<P> job{4, it.roster};
      const std::uint32_t before = job.shared.look().active();
      job.shared.staying.reset(before);
      job.shared.share.reset(it.target);
      job.shared.flags.reset(it.suspends ? protocol::suspend_flag : 0);
      job.shared.offer_wait = 1;
      auto member = job.member(it.left ? protocol::no_id : it.id);
      member.left = it.left;
      member.active = 9;
      const int state = 42;
      if (glances) {
        expect(protocol::calm<P, traits>(job.shared, member) == it.calm, "a glance is wrong");
        expect(!it.calm || member.active == (any ? before : 0), "a glance tells the wrong M");
        continue;
      }
      expect(protocol::offer_kill<P, traits>(member, it.has_state ? &state : nullptr) == it.verdict,
             "an offer ends wrongly");
      const bool stays = it.verdict == Verdict::stay;
      expect(!stays || member.active == before, "an offer tells the wrong M");
      expect(member.left != stays, "a group does not know it has left");
      const bool leaves = it.verdict == Verdict::leave && !job.shared.look().faulted();
      const std::uint32_t after = job.shared.look().active();
      expect(after == before - (leaves ? 1 : 0), "M is wrong after an offer");
      expect(job.shared.staying.peek() == (protocol::counts_staying<P, traits> ? after : before),
             "an offer leaves the wrong number of groups staying");
      expect(job.shared.kept.peek() == (it.keeps ? 1 : 0) && job.states.kept == (it.keeps ? 42 : 0),
             "the job's state was kept, or was not");
      expect(!job.rests(it.id), "a group rests that has gone on");
    }
  }
}

/// A job is closed by the last group that returns or leaves, not before.
inline void jobs_close_when_all_are_out() {
  using P = explore::Platform;
  const int state = 0;
  for (std::uint32_t returns = 0; returns <= 3; ++returns) {  // this many return, the others leave
    Still<P> job{3};
    job.shared.share.reset(0);
    for (std::uint32_t i = 0; i < 3; ++i) {
      auto member = job.member(i < returns ? i : 2 - (i - returns));
      expect(job.shared.closed.peek() == 0, "a job was closed too early");
      if (i < returns) {
        protocol::finish(member);
      } else {
        expect(protocol::offer_kill<P, may_empty>(member, &state) == protocol::Verdict::leave,
               "a group did not leave");
      }
    }
    expect(job.shared.closed.peek() != 0, "a job was not closed");
  }
  Still<P> job{3};
  protocol::raise(job.shared, protocol::Fault::cancelled);
  auto member = job.member(1);
  protocol::finish(member);
  expect(member.left, "a group returned after a fault and does not know");
}

/// A thread that finds the job closed sees all writes of its groups, whether they returned or left.
template <class P, Traits traits>
void all_work_comes_before_the_end() {
  constexpr std::uint32_t groups = 3;
  for (const std::uint32_t target : {0U, 1U}) {
    for (std::uint32_t returns = 0; returns <= groups; ++returns) {
      if (returns == 0 && target != 0) continue;
      explore_threads({200, Waiting::polled, {Search::random}}, [=] {
        auto job = std::make_shared<Still<P>>(groups);
        auto work = std::make_shared<std::vector<int>>(groups);
        job->shared.staying.reset(groups);
        job->shared.share.reset(target);
        Threads threads;
        for (std::uint32_t id = 0; id < groups; ++id) {
          threads.bodies.push_back(as(job, id, [=](auto& member) {
            protocol::written<P>((*work)[id]) = 1;
            while (id >= returns && !job->shared.look().draining()) {
              const auto verdict = protocol::offer_kill_slowly<P, traits>(
                  member, static_cast<const int*>(nullptr), 1);
              if (verdict == protocol::Verdict::leave) return;
            }
            protocol::finish(member);
          }));
        }
        threads.bodies.emplace_back([=] {
          P::await(job->shared.lobby_event,
                   [&] { return job->shared.closed.load(Order::acquire) != 0; });
          for (const int& item : *work) static_cast<void>(protocol::read<P>(item));
        });
        return threads;
      });
    }
  }
}

/// A platform on which many steps can happen before a waiter announces its sleep. Timed waits never
/// give up, so every event that should end a wait must notify.
struct Patient : explore::Platform {
  template <class Done>
  static void await(Event& event, Done&& done) {
    const Atomic<bool> pause;
    static_cast<void>(pause.load(Order::relaxed));  // other threads may run here
    Platform::await(event, done);
  }
  template <class Done>
  static bool await_for(Event& event, std::uint64_t /*nanoseconds*/, Done&& done) {
    await(event, done);
    return true;
  }
};

/// The starter of a check-in with a deadline is woken by the last ticket and begins with all
/// groups.
inline void starters_wait_for_the_others() {
  using P = Patient;
  for (const std::uint32_t quorum : {1U, 2U, 3U}) {
    explore_threads({200, Waiting::notified}, [quorum] {
      auto job = std::make_shared<Still<P>>(quorum, protocol::Roster::gather);
      job->shared.settled.reset(0);
      job->shared.start_deadline = 1;
      auto came = std::make_shared<std::uint32_t>(0);
      const auto check_in = as(job, 0, [=](auto& member) {
        if (protocol::check_in(member) && member.active == quorum) ++*came;
      });
      return Threads{std::vector(quorum, check_in),
                     [=] { expect(*came == quorum, "a group began without the others"); }};
    });
  }
  // If the job is cancelled meanwhile, the starter does not wait for a group that never comes.
  explore_threads({200, Waiting::notified}, [] {
    auto job = std::make_shared<Still<P>>(2, protocol::Roster::gather);
    job->shared.start_deadline = 1;
    return Threads{{as(job, 0, [](auto& member) { static_cast<void>(protocol::check_in(member)); }),
                    [=] { protocol::raise(job->shared, protocol::Fault::cancelled); }}};
  });
}

/// Kernels of KillOrder::highest_first have no bitmap of ids.
inline void check_ins_need_no_bitmap() {
  Still<explore::Platform> job{3, protocol::Roster::gather};
  job.shared.free_ids = nullptr;
  protocol::close_check_in(job.shared, 1);
  expect(job.shared.look().active() == 1, "the check-in was closed wrongly");
}

/// Every event that makes a lobby group unwanted wakes it.
inline void unwanted_groups_are_woken() {
  using P = Patient;
  using Job = Still<P>;
  const std::function<void(Job&)> reasons[] = {
      [](Job& job) { protocol::raise(job.shared, protocol::Fault::cancelled); },
      [](Job& job) { protocol::close(job.shared); },
      [](Job& job) {  // the other active group continues
        auto member = job.member(0);
        protocol::finish(member);
      },
      [](Job& job) {
        job.shared.share.store(2, Order::release);
        P::notify(job.shared.lobby_event);
      }};
  for (const auto& reason : reasons) {
    explore_threads({200, Waiting::notified}, [&reason] {
      auto job = std::make_shared<Job>(4, 2);
      auto admitted = std::make_shared<bool>(false);
      const auto wait = [=](auto& member) { *admitted = protocol::wait_in_lobby(member, 0, 0); };
      return Threads{{as(job, 0, wait), [=, &reason] { reason(*job); }}, [=] {
                       expect(!*admitted, "a group was admitted although none was let in");
                       expect(job->shared.waiting.peek() % protocol::fault_waiting == 0,
                              "the lobby counts a group that has gone");
                     }};
    });
  }
}

/// The target falls while two groups are claimed. After their claim is undone, they check the
/// target again, and one of them leaves.
inline void groups_given_back_look_again() {
  using P = Patient;
  explore_threads({500, Waiting::notified}, [] {
    auto job = std::make_shared<Still<P>>(3, 1);
    job->boxes[2].seat.reset(protocol::Seat::waiting);  // the box of a group that does not look
    job->shared.waiting.reset(1);
    const auto wait = [](auto& member) {
      static_cast<void>(protocol::wait_in_lobby(member, 0, 0));
    };
    const auto claim_and_give_back = [=] {
      auto& shared = job->shared;
      while (shared.waiting.load(Order::acquire) != 2) {
      }
      static_cast<void>(protocol::claim(shared, 2));
      shared.share.store(2, Order::release);
      P::notify(shared.lobby_event);
      protocol::for_each_claimed(
          shared, [&](protocol::Box<P>& box, std::uint32_t) { protocol::unclaim(shared, box); });
    };
    return Threads{{as(job, 0, wait), claim_and_give_back},
                   [=] { expect(job->shared.waiting.peek() == 1, "the lobby counts wrongly"); }};
  });
}

/// Two groups join through the same box, one right after the other: the box is written for the
/// second only after the first has read it.
template <class P>
void boxes_are_used_again() {
  explore_threads({500, Waiting::polled, {Search::random}}, [] {
    auto job = std::make_shared<Still<P>>(3, 1);
    for (std::uint32_t i = 1; i < 3; ++i) job->boxes[i].seat.reset(protocol::Seat::admitted);
    const auto join = as(job, 0, [](auto& member) {
      while (!protocol::wait_in_lobby(member, 0, 0)) {
      }
    });
    const auto fork_two = as(job, 0, [](auto& member) {
      for (std::uint32_t forked = 0; forked < 2;) {
        forked += protocol::request_fork<P, Traits{}>(member, 7);
      }
    });
    return Threads{{join, join, fork_two}};
  });
}

/// Growth that finds no departing group happens after everything that the departed groups did.
inline void growth_comes_after_leavers() {
  using P = explore::FencedPlatform;
  using Member = protocol::Member<P, int>;
  const std::function<void(Member&)> ways[] = {
      [](Member& member) { protocol::shed(member, member.shared.look()); },
      [](Member& member) { protocol::taken_along(member); },
      [](Member& member) { protocol::leave_in_turn<P, by_query>(member); }};
  for (const auto& way : ways) {
    explore_threads({200}, [&way] {
      auto job = std::make_shared<Still<P>>(4, 3);
      job->shared.departing.reset(1);
      const auto leave = [=, &way](Member& member) {
        protocol::read<P>(job->states.kept);
        way(member);
      };
      const auto grow = [=] {
        while (protocol::growth(job->shared, job->shared.look()) == 0) {
        }
        protocol::written<P>(job->states.kept) = 1;
      };
      return Threads{{as(job, 2, leave), grow}};
    });
  }
}

/// Forks until a group has joined.
template <class P>
void fork_one(protocol::Member<P, int>& member) {
  while (protocol::request_fork<P, Traits{}>(member, 7) == 0) {
  }
}

/// A fork races with a kill of two groups, of which one has not noticed yet. No group may join
/// above it.
inline void forks_wait_for_groups_taken_along() {
  using P = explore::FencedPlatform;
  explore_threads({5000}, [] {
    auto job = std::make_shared<Still<P>>(4, 3);
    job->shared.share.reset(1);
    job->shared.offer_wait = 1;
    auto stay = std::make_shared<std::uint32_t>(0);
    const auto offer = [=](auto& member) {
      const int state = 0;
      if (protocol::offer_kill<P, Traits{}>(member, &state) == protocol::Verdict::stay) ++*stay;
    };
    const auto join = [=](auto& member) {
      P::await(job->shared.lobby_event, [=] { return job->shared.target(Order::acquire) == 4; });
      static_cast<void>(protocol::wait_in_lobby(member, 0, 0));
    };
    const auto grow = [=](auto& member) {
      job->shared.share.store(4, Order::release);
      fork_one(member);
    };
    return Threads{{as(job, 1, offer), as(job, 2, offer), as(job, 0, join), as(job, 0, grow)},
                   [=] { expect(job->shared.look().active() == 2 + *stay, "M is wrong"); }};
  });
}

/// A fork right after a barrier that admits a group must not take groups that the barrier has
/// claimed.
template <class P>
void forks_leave_the_barriers_claims_alone() {
  using protocol::Kind, protocol::Place;
  explore_threads({1000, Waiting::polled, {Search::random}}, [] {
    auto job = std::make_shared<Still<P>>(4, 2);
    job->shared.settled.reset(2);
    job->shared.share.reset(3);
    auto ids = std::make_shared<std::uint32_t>(0);
    const auto join_at = [=](std::uint32_t target) {
      return as(job, 0, [=](auto& member) {
        P::await(job->shared.lobby_event,
                 [=] { return job->shared.target(Order::acquire) >= target; });
        while (!protocol::wait_in_lobby(member, 0, 0)) {
        }
        *ids |= 1U << member.id;
      });
    };
    const auto meet_and_fork = [=](auto& member) {
      while (protocol::nobody_waits(job->shared)) {
      }
      static_cast<void>(
          protocol::one_pass_barrier<P, Traits{}>(member, Place<P>{member, Kind::resizing}, 7));
      job->shared.share.store(4, Order::release);
      while (job->shared.look().active() < 4) protocol::request_fork<P, Traits{}>(member, 7);
    };
    return Threads{{as(job, 0, meet_and_fork), as(job, 1, meet_and_fork), join_at(3), join_at(4)},
                   [=] { expect(*ids == 0b1100, "two groups joined with ids of others"); }};
  });
}

/// A group that only forks notices that the job is cancelled, even while groups enter the lobby.
template <class P>
void forkers_see_faults() {
  explore_threads({20000}, [] {
    auto job = std::make_shared<Still<P>>(3, 1);
    const auto come = [=](std::uint32_t hint) {
      return as(job, 0,
                [=](auto& member) { static_cast<void>(protocol::wait_in_lobby(member, 0, hint)); });
    };
    const auto fork = as(job, 0, [](auto& member) {
      while (protocol::request_fork<P, Traits{}>(member, 7) != protocol::fork_gone) {
      }
    });
    return Threads{{come(0), come(1), fork,
                    [=] { protocol::raise(job->shared, protocol::Fault::cancelled); }}};
  });
}

/// A fork races with a kill. The group that gets the leaver's id must come after the leaver.
inline void heirs_come_after_leavers() {
  using P = explore::Platform;
  explore_threads({500}, [] {
    auto job = std::make_shared<Still<P>>(4, 3);
    const auto leave = [=](auto& member) {
      protocol::written<P>(job->states.kept) = 1;
      protocol::Roster old = job->shared.look();
      while (old.active() == 3 && !protocol::leave<P, Traits{}>(member, old)) {
      }
    };
    const auto join = [=](auto& member) {
      static_cast<void>(protocol::wait_in_lobby(member, 0, 0));
      if (member.id == 2) protocol::written<P>(job->states.kept) = 2;
    };
    return Threads{{as(job, 2, leave), as(job, 0, join), as(job, 0, &fork_one<P>)}};
  });
}

/// The modelled barrier admits groups with the State of group 0.
inline void modelled_joiners_start_with_group_0s_state() {
  using P = explore::Platform;
  explore_threads({200}, [] {
    auto job = std::make_shared<Still<P>>(3, 2);
    auto got = std::make_shared<int>(7);
    const auto cross = [](auto& member) {
      const int state = 7 + static_cast<int>(member.id);
      static_cast<void>(protocol::modelled_barrier<P, by_model>(member, state));
      protocol::finish(member);
    };
    const auto join = [=](auto& member) {
      if (!protocol::wait_in_lobby(member, 0, 0)) return;
      *got = member.state;
      static_cast<void>(protocol::enter<P, by_model>(member));
      protocol::finish(member);
    };
    return Threads{{as(job, 0, cross), as(job, 1, cross), as(job, 0, join)},
                   [=] { expect(*got == 7, "a joiner has the State of another group"); }};
  });
}

/// A fork with an empty lobby costs one load.
inline void idle_forks_cost_one_load() {
  using P = explore::Platform;
  Still<P> job{2};
  auto member = job.member(0);
  std::function<void()> fork = [&] {
    static_cast<void>(protocol::request_fork<P, Traits{}>(member, 7));
  };
  explore::World world{{}};
  world.begin();
  world.spawn(
      0, "thread", [](void* body) { (*static_cast<std::function<void()>*>(body))(); }, &fork);
  world.go();
  expect(world.steps() == 2, "more than the thread's start and a load");
  // While another group holds the lock no group is added.
  job.shared.roster.reset(1);
  job.shared.waiting.reset(1);
  job.shared.fork_lock.reset(1);
  expect(protocol::request_fork<P, Traits{}>(member, 7) == 0, "a fork without the lock");
}

/// A group for which no box is free leaves. A group of an older run does not even look for a box.
inline void lobbies_may_be_full() {
  Still<explore::Platform> job{3, 1};
  for (auto& box : job.boxes) box.seat.reset(protocol::Seat::claimed);
  auto member = job.member(0);
  expect(!protocol::wait_in_lobby(member, 0, 1), "a group was admitted without a box");
  expect(job.shared.waiting.peek() == 0, "the lobby counts a group without a box");
  job.shared.serial.reset(1);
  job.shared.boxes = nullptr;
  expect(!protocol::wait_in_lobby(member, 0, 1), "a stale group was admitted");
}

/// A group that has broken the contract has left.
inline void offenders_are_out() {
  Still<explore::Platform> job{2, 2 + protocol::Roster::one_arrival};
  auto member = job.member(1);
  protocol::finish(member);
  expect(is_out(member), "an offender is still in");
}

template <class P, Traits traits>
protocol::Verdict cross_barrier(protocol::Member<P, int>& member) {
  const protocol::Place<P> place{member, protocol::Kind::resizing};
  return protocol::resizing_barrier<P, traits>(member, place, 7);
}

/// The verdicts of the paper's barriers when something is wrong or the job is over. Each case has a
/// roster, the group's action, the expected verdict and the expected fault.
inline void paper_barriers_end_well() {
  using P = Patient;
  using Job = Still<P>;
  using Member = protocol::Member<P, int>;
  using protocol::Fault, protocol::Roster, protocol::Verdict;
  static constexpr Verdict either = Verdict::halt;  // halt; or gone, with a fault
  const auto plain = &cross_barrier<P, by_plain>;
  const auto query = &cross_barrier<P, by_query>;
  const auto model = &cross_barrier<P, by_model>;
  const auto leaves = [](Member& member) { return protocol::leave_in_turn<P, by_query>(member); };
  struct Case {
    std::uint64_t roster;
    std::uint32_t id;
    std::uint32_t target;
    std::uint32_t flags;
    bool votes;  // a step kernel in which no group votes for another step
    bool cancelled;
    std::function<Verdict(Member&)> act;
    Verdict verdict;
    Fault fault;
  };
  const std::uint64_t drain = Roster::drain + Roster::one_arrival;
  const Case cases[] = {
      // Cancelled while the group waits: for the groups above it, its slaves, or its master.
      {3, 1, 1, 0, false, true, leaves, Verdict::leave, Fault::cancelled},
      {3, 0, 3, 0, false, true, query, Verdict::gone, Fault::cancelled},
      {3, 1, 3, 0, false, true, query, Verdict::gone, Fault::cancelled},
      {2, 0, 2, 0, false, true, model, Verdict::gone, Fault::cancelled},
      // Another group has returned.
      {3 + drain, 0, 3, 0, false, false, plain, Verdict::gone, Fault::barrier_after_return},
      {3 + drain, 2, 3, 0, false, false, plain, Verdict::gone, Fault::barrier_after_return},
      // A group that has left.
      {3, protocol::no_id, 3, 0, false, false, plain, Verdict::gone, Fault::used_after_leaving},
      {3, protocol::no_id, 3, 0, false, false, query, Verdict::gone, Fault::used_after_leaving},
      {3, protocol::no_id, 3, 0, false, false, model, Verdict::gone, Fault::used_after_leaving},
      // The last group stays without a suspend, and leaves its state behind with one.
      {1, 0, 0, 0, false, false, query, Verdict::stay, Fault::none},
      {1, 0, 0, 0, false, false, model, Verdict::stay, Fault::none},
      {1, 0, 0, 1, false, false, plain, Verdict::leave, Fault::none},
      {1, 0, 0, 1, false, false, query, Verdict::leave, Fault::none},
      {1, 0, 0, 1, false, false, model, Verdict::leave, Fault::none},
      // Nothing is left to suspend after the last step.
      {1, 0, 0, 1, true, false, plain, Verdict::halt, Fault::none},
      {1, 0, 0, 1, true, false, query, Verdict::halt, Fault::none},
      {1, 0, 0, 1, true, false, model, Verdict::halt, Fault::none},
      {1, 0, 1, 0, true, true, model, either, Fault::cancelled},
  };
  for (const Case& one : cases) {
    const auto expect_here = [index = &one - cases](bool holds, const std::string& otherwise) {
      expect(holds, "case ", index, ": ", otherwise);
    };
    explore_threads({50, Waiting::notified}, [&one, expect_here] {
      auto job = std::make_shared<Job>(3, one.roster);
      job->shared.share.reset(one.target);
      job->shared.flags.reset(one.flags);
      auto failed = std::make_shared<std::string>();
      Threads threads;
      threads.bodies.push_back(as(job, one.id, [=, &one](Member& member) {
        member.left = one.id == protocol::no_id;
        member.votes = one.votes;
        const Verdict verdict = one.act(member);
        const bool out = verdict == Verdict::gone || verdict == Verdict::leave;
        if (verdict != one.verdict && !(one.verdict == either && verdict == Verdict::gone)) {
          *failed = "a group was told something wrong";
        } else if (member.left != out || (out && member.id != protocol::no_id)) {
          *failed = "a group does not know whether it is out";
        } else if (one.fault == Fault::none &&
                   (job->shared.kept.peek() != 0) != (verdict == Verdict::leave)) {
          *failed = "the state was kept wrongly";
        }
      }));
      if (one.cancelled) {
        threads.bodies.emplace_back([=] { protocol::raise(job->shared, Fault::cancelled); });
      }
      threads.judge = [=, &one] {
        expect_here(failed->empty(), *failed);
        expect_here(job->fault() == one.fault, "the fault is another");
        const bool left = one.verdict == Verdict::leave && one.fault == Fault::none;
        const std::uint32_t before = Roster{one.roster}.active();
        expect_here(job->shared.look().active() == before - (left ? 1 : 0), "M is wrong");
      };
      return threads;
    });
  }
}

struct Check {
  const char* name;
  void (*body)();

  /// Runs the checks. Describes what is wrong; empty if nothing is.
  [[nodiscard]] std::string run() const {
    try {
      body();
    } catch (const Wrong& wrong) {
      return wrong.what();
    }
    return {};
  }
};

inline constexpr Check checks[] = {
    {"claims of resting groups stop at the first gap", &claims_stop_at_the_first_gap},
    {"ids are handed out once", &ids_are_handed_out_once},
    {"rosters count thousands of groups", &rosters_count_thousands},
    {"stale groups are turned away", &stale_groups_are_turned_away},
    {"faults name their group", &faults_name_their_group},
    {"a cancelled check-in ends", &cancelled_check_ins_end},
    {"starters begin alone", &starters_begin_alone},
    {"joiners find the free box", &joiners_find_the_free_box},
    {"leavers are caught", &leavers_are_caught},
    {"claims find every box", &claims_find_every_box<explore::Platform>},
    {"claims find every box, fences", &claims_find_every_box<explore::FencedPlatform>},
    {"static launches work", &static_launches_work<Static>},
    {"static launches work, steps", &static_launches_work<StaticSteps>},
    {"groups have barriers", &groups_have_barriers},
    {"sizes cover all ids", &sizes_cover_all_ids},
    {"vetoes are for changes", &vetoes_are_for_changes<explore::Platform>},
    {"vetoes are for changes, looking while waiting", &vetoes_are_for_changes<LooksMeanwhile>},
    {"groups other than 0 veto, too", &others_veto_too},
    {"deposits are for changes", &deposits_are_for_changes},
    {"barriers send groups away", &barriers_send_away},
    {"queries tell what is wanted", &queries_tell_what_is_wanted},
    {"leavers take resting groups along", &leavers_take_resting_groups_along},
    {"claims can be given back", &claims_can_be_given_back},
    {"offers tell of the job", &offers_tell_of_the_job<explore::Platform, Traits{}>},
    {"offers tell of the job, any order", &offers_tell_of_the_job<explore::Platform, any_order>},
    {"offers tell of the job, fences", &offers_tell_of_the_job<explore::FencedPlatform, Traits{}>},
    {"offers tell of the job, any order, fences",
     &offers_tell_of_the_job<explore::FencedPlatform, any_order>},
    {"jobs close when all are out", &jobs_close_when_all_are_out},
    {"all work comes before the end", &all_work_comes_before_the_end<explore::Platform, may_empty>},
    {"all work comes before the end, fences",
     &all_work_comes_before_the_end<explore::FencedPlatform, may_empty>},
    {"all work comes before the end, any order, fences",
     &all_work_comes_before_the_end<explore::FencedPlatform, any_order_may_empty>},
    {"starters wait for the others", &starters_wait_for_the_others},
    {"check-ins need no bitmap", &check_ins_need_no_bitmap},
    {"unwanted groups are woken", &unwanted_groups_are_woken},
    {"groups given back look again", &groups_given_back_look_again},
    {"boxes are used again", &boxes_are_used_again<explore::Platform>},
    {"boxes are used again, fences", &boxes_are_used_again<explore::FencedPlatform>},
    {"growth comes after leavers", &growth_comes_after_leavers},
    {"forks wait for groups taken along", &forks_wait_for_groups_taken_along},
    {"forks leave the barrier's claims alone",
     &forks_leave_the_barriers_claims_alone<explore::Platform>},
    {"forks leave the barrier's claims alone, fences",
     &forks_leave_the_barriers_claims_alone<explore::FencedPlatform>},
    {"forkers see faults", &forkers_see_faults<explore::Platform>},
    {"forkers see faults, fences", &forkers_see_faults<explore::FencedPlatform>},
    {"offers are traced", &offers_are_traced},
    {"heirs come after leavers", &heirs_come_after_leavers},
    {"modelled joiners start with group 0's State", &modelled_joiners_start_with_group_0s_state},
    {"idle forks cost one load", &idle_forks_cost_one_load},
    {"lobbies may be full", &lobbies_may_be_full},
    {"offenders are out", &offenders_are_out},
    {"barriers of the paper end well", &paper_barriers_end_well},
};

}  // namespace cohort::test
