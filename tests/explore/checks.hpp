// Checks of the protocol's functions outside any schedule, where the explorer's atomics are plain
// memory: rows of ids longer than a word, rosters of thousands of groups, lobbies of stale runs.
// Each returns what is wrong, or nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cohort/explore.hpp"
#include "explore/group_checks.hpp"

namespace cohort::test {

/// A job without threads.
template <class P>
struct Still {
  explicit Still(std::uint32_t max_groups)
      : boxes(max_groups),
        free_ids(protocol::id_words(max_groups)),
        resting(free_ids.size()),
        box_states(max_groups) {
    shared.max_groups = shared.quorum = max_groups;
    shared.boxes = boxes.data();
    shared.free_ids = free_ids.data();
    shared.resting = resting.data();
    shared.roster.reset(max_groups);
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

  protocol::Shared<P> shared;
  protocol::States<int> states{};
  std::vector<protocol::Box<P>> boxes;
  std::vector<explore::Atomic<std::uint64_t>> free_ids;
  std::vector<explore::Atomic<std::uint64_t>> resting;
  std::vector<int> box_states;
};

/// A claim takes the groups that rest right below the leaver, down to the target or the first gap,
/// over words of 64 ids; the others rest on.
inline std::string claims_stop_at_the_first_gap() {
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
        if (claimed != leaver - lowest) return "claimed " + std::to_string(claimed) + " groups";
        for (std::uint32_t id = 0; id < leaver; ++id) {
          if (job.rests(id) != (id < lowest && id != gap)) {
            return "group " + std::to_string(id) + " is claimed wrongly";
          }
        }
        protocol::let_rest(job.shared, leaver, claimed);
        for (std::uint32_t id = 0; id < leaver; ++id) {
          if (job.rests(id) != (id != gap)) return "group " + std::to_string(id) + " has no bit";
        }
      }
    }
  }
  return {};
}

/// Ids of kill order any: each is handed out once, over several words; those that do not exist
/// never are.
inline std::string ids_are_handed_out_once() {
  using P = explore::Platform;
  if (protocol::id_words(1) != 1 || protocol::id_words(64) != 1 || protocol::id_words(65) != 2) {
    return "a bitmap has the wrong size";
  }
  for (const std::uint32_t most : {1U, 63U, 64U, 65U, 128U, 130U}) {
    Still<P> job{most};
    if (protocol::take_id(job.shared) != protocol::no_id) return "an id was taken that is not free";
    for (std::uint32_t id = 0; id < most; ++id) protocol::free_id(job.shared, id);
    for (std::uint32_t id = 0; id < most; ++id) {
      if (protocol::take_id(job.shared) != id) return "id " + std::to_string(id) + " was not next";
    }
    if (protocol::take_id(job.shared) != protocol::no_id) return "an id too many";
    protocol::free_id(job.shared, most - 1);
    if (protocol::take_id(job.shared) != most - 1) return "an id was lost";
  }
  return {};
}

/// A barrier of many groups counts by itself, and a veto in the middle leaves the plain count.
inline std::string rosters_count_thousands() {
  using protocol::Roster;
  for (const std::uint32_t active : {1U, 2U, 3U, 64U, 1000U, Roster::max_groups}) {
    for (const std::uint32_t gen : {0U, 1U, 41U, Roster::gen_mask}) {
      for (const std::uint32_t position : {0U, active / 2, active - 1}) {
        Roster roster{std::uint64_t{gen} << Roster::gen_shift | active};
        if (roster.gen() != gen || roster.active() != active) return "a field was read wrongly";
        Roster plain = roster;
        for (std::uint32_t i = 0; i < active; ++i) {
          if (i > position && !roster.biased()) return "a biased count does not look biased";
          if (plain.biased()) return "a plain count looks biased";
          roster.word += i == position ? Roster::self_flip(active) : Roster::one_arrival;
          plain.word += i == position ? Roster::self_flip(active) - Roster::bias(active)
                                      : Roster::one_arrival;
          if (plain.arrived() != i + 1) return "a plain count is wrong";
        }
        const std::uint32_t next = (gen + 1) & Roster::gen_mask;
        if (roster.gen() != next || roster.arrived() != 0 || roster.active() != active) {
          return "a barrier of " + std::to_string(active) + " groups did not flip";
        }
        const Roster released = plain.released(active / 2 + 1);
        if (released.gen() != next || released.arrived() != 0 ||
            released.active() != active / 2 + 1) {
          return "a release is wrong";
        }
        const Roster drained{plain.word | Roster::drain};
        const Roster half{Roster{drained.word - Roster::one_arrival}};
        if (half.finished() || half.live() != 1) return "a group that has yet to return is missed";
        if (plain.finished() || !drained.finished() || drained.live() != 0 ||
            plain.live() != active) {
          return "groups that have returned are counted wrongly";
        }
      }
    }
  }
  return {};
}

/// A group sent for an earlier run is turned away at the lobby and touches nothing.
inline std::string stale_groups_are_turned_away() {
  Still<explore::Platform> job{4};
  job.shared.roster.reset(1);
  job.shared.serial.reset(2);
  auto member = job.member(0);
  if (protocol::wait_in_lobby(member, 1, 0)) return "a stale group was admitted";
  for (const auto& box : job.boxes) {
    if (box.seat.peek() != protocol::Seat::empty) return "a stale group took a box";
  }
  if (!protocol::unwanted(job.shared, 1)) return "a stale group is wanted";
  job.shared.serial.reset(1);
  if (protocol::unwanted(job.shared, 1)) return "a group of this run is not wanted";
  job.shared.closed.reset(1);
  if (!protocol::unwanted(job.shared, 1)) return "a closed job wants groups";
  job.shared.closed.reset(0);
  job.shared.roster.reset(1 | protocol::Roster::drain);
  if (!protocol::unwanted(job.shared, 1)) return "a job that drains wants groups";
  // Active and waiting groups fill the target; before the check-in closes the quorum counts.
  job.shared.roster.reset(2);
  job.shared.waiting.reset(2);
  if (protocol::unwanted(job.shared, 1)) return "the last place is not free";
  job.shared.waiting.reset(3);
  if (!protocol::unwanted(job.shared, 1)) return "a place too many is free";
  job.shared.roster.reset(protocol::Roster::gather);
  job.shared.waiting.reset(1);
  if (!protocol::unwanted(job.shared, 1)) return "groups that have yet to check in do not count";
  return {};
}

/// Any waiting group is claimed, wherever its box is, and no more than wanted.
template <class P>
std::string claims_find_every_box() {
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
      if (claimed != std::min(wanted, waiting)) return "claimed " + std::to_string(claimed);
      if (job.shared.waiting.peek() != waiting - claimed) return "the lobby counts wrongly";
      auto member = job.member(0);
      std::uint32_t next = 7;
      protocol::admit(member, 42, 3, protocol::Entry::slave,
                      [&](const protocol::Box<P>&) { return next++; });
      std::uint32_t admitted = 0;
      for (std::uint32_t i = 0; i < boxes; ++i) {
        if (job.boxes[i].seat.peek() != protocol::Seat::admitted) continue;
        const auto& box = job.boxes[i];
        if (box.id != 7 + admitted || box.gen != 3 || box.entry != protocol::Entry::slave ||
            job.box_states[i] != 42) {
          return "a joiner was told something wrong";
        }
        ++admitted;
      }
      if (admitted != claimed) return "admitted " + std::to_string(admitted);
    }
  }
  return {};
}

/// A fault keeps which group raised it and when.
inline std::string faults_name_their_group() {
  using protocol::Fault, protocol::FaultRecord;
  for (const std::uint32_t group : {0U, 1U, 255U, 4095U, protocol::no_id}) {
    for (const std::uint32_t gen : {0U, 1U, protocol::Roster::gen_mask}) {
      const FaultRecord made{Fault::lost_group, group, gen};
      const FaultRecord read{made.word};
      if (read.fault() != Fault::lost_group || read.group() != group || read.gen() != gen) {
        return "a fault of group " + std::to_string(group) + " is read wrongly";
      }
    }
  }
  return {};
}

/// Runs threads, made anew for each of some random schedules. Returns what went wrong in the first
/// that fails.
inline std::string explore_threads(
    explore::Waiting waiting, const std::function<std::vector<std::function<void()>>()>& make) {
  explore::World world{{.weak_memory = true, .waiting = waiting}};
  for (int i = 0; i < 200; ++i) {
    world.begin();
    std::vector<std::function<void()>> threads = make();
    for (std::uint32_t t = 0; t < threads.size(); ++t) {
      world.spawn(
          t, "thread", [](void* body) { (*static_cast<std::function<void()>*>(body))(); },
          &threads[t]);
    }
    world.go();
    if (!world.failure().empty()) return world.failure();
    world.next();
  }
  return {};
}

/// A job that is cancelled during its check-in does not wait for a group that never comes.
inline std::string cancelled_check_ins_end() {
  using P = explore::Platform;
  return explore_threads(explore::Waiting::notified, [] {
    auto job = std::make_shared<Still<P>>(2);
    job->shared.roster.reset(protocol::Roster::gather);
    return std::vector<std::function<void()>>{
        [job] {
          auto member = job->member(0);
          static_cast<void>(protocol::check_in(member));
        },
        [job] { protocol::raise(job->shared, protocol::Fault::cancelled); }};
  });
}

/// The starter of a check-in with a deadline begins alone if no other group comes.
inline std::string starters_begin_alone() {
  using P = explore::Platform;
  auto alone = std::make_shared<bool>(false);
  const std::string wrong = explore_threads(explore::Waiting::polled, [alone] {
    auto job = std::make_shared<Still<P>>(3);
    job->shared.roster.reset(protocol::Roster::gather);
    job->shared.start_deadline = 1;
    return std::vector<std::function<void()>>{[job, alone] {
      auto member = job->member(0);
      *alone = protocol::check_in(member) && member.active == 1 && member.id == 0;
    }};
  });
  if (!wrong.empty()) return wrong;
  return *alone ? "" : "the starter did not begin alone";
}

/// A group that comes to the lobby finds the only free box, wherever it looks first.
inline std::string joiners_find_the_free_box() {
  using P = explore::Platform;
  for (std::uint32_t hint = 0; hint < 5; ++hint) {
    for (std::uint32_t free = 0; free < 3; ++free) {
      auto admitted = std::make_shared<bool>(false);
      const std::string wrong = explore_threads(explore::Waiting::polled, [=] {
        auto job = std::make_shared<Still<P>>(3);
        job->shared.roster.reset(1);
        for (std::uint32_t i = 0; i < 3; ++i) {
          job->boxes[i].seat.reset(i == free ? protocol::Seat::empty : protocol::Seat::claimed);
        }
        *admitted = false;
        return std::vector<std::function<void()>>{
            [=] {
              auto member = job->member(0);
              *admitted = protocol::wait_in_lobby(member, 0, hint) && member.id == 2;
            },
            [=] {
              auto& box = job->boxes[free];
              P::await(job->shared.lobby_event,
                       [&] { return box.seat.load(Order::acquire) == protocol::Seat::waiting; });
              box.id = 2;
              box.seat.store(protocol::Seat::admitted, Order::release);
            }};
      });
      if (!wrong.empty()) return wrong;
      if (!*admitted) return "a joiner was not admitted";
    }
  }
  return {};
}

/// A group that has left is caught at each primitive, and told that it is gone.
inline std::string leavers_are_caught() {
  using P = explore::Platform;
  using protocol::Fault, protocol::Verdict;
  const auto caught = [](auto act) {
    Still<P> job{3};
    job.shared.waiting.reset(1);
    auto member = job.member(1);
    member.left = true;
    member.id = protocol::no_id;
    return act(member) &&
           protocol::FaultRecord{job.shared.fault.peek()}.fault() == Fault::used_after_leaving;
  };
  if (!caught([](auto& member) {
        return protocol::request_fork<P, Traits{}>(member, 1) == protocol::fork_gone;
      })) {
    return "a fork after leaving was not caught";
  }
  if (!caught([](auto& member) {
        const int state = 0;
        return protocol::offer_kill<P, Traits{}>(member, &state) == Verdict::gone;
      })) {
    return "an offer after leaving was not caught";
  }
  if (!caught([](auto& member) {
        const protocol::Place<P> place{member, protocol::Kind::plain};
        return protocol::global_barrier<P, Traits{}>(member, place) == Verdict::gone;
      })) {
    return "a barrier after leaving was not caught";
  }
  return {};
}

/// A platform where a group that waits looks around once, and never before it arrives.
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

/// What group 0 asks for where M stands still: its barrier flips by itself exactly if nothing is
/// wanted, and only what is wanted finds its State.
template <class P>
std::string vetoes_are_for_changes() {
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
    Still<P> job{4};
    job.shared.roster.reset(3);
    job.shared.share.reset(target);
    Roster now = arrive(job, 0);
    const bool wanted = target != 3;
    if (now.biased() == wanted)
      return "the bias is wrong with a target of " + std::to_string(target);
    if ((job.shared.deposit_gen.peek() == 0) != wanted) return "a deposit is wrong";
    if (wanted && job.states.deposit[0] != 42) return "the State was not deposited";
    // Group 1 does not ask for a change that group 0 has not seen, but for growth.
    job.shared.share.reset(target == 3 ? 4 : target);
    now = arrive(job, 1);
    if (now.biased() == wanted || (!wanted && job.shared.deposit_gen.peek() == 0)) {
      return "group 1 asked for more groups";
    }
  }
  return {};
}

/// A group other than 0 that sees a smaller target takes the bias out with its arrival.
inline std::string others_veto_too() {
  using P = explore::Platform;
  using protocol::Roster;
  for (const bool biased : {false, true}) {
    Still<P> job{3};
    job.shared.roster.reset(3 + (biased ? Roster::self_flip(3) : Roster::one_arrival));
    auto member = job.member(1);
    const Roster now = protocol::arrive_with_veto(member, Roster::one_arrival);
    if (now.arrived() != 2 || now.word != job.shared.roster.peek()) return "arrived wrongly";
  }
  return {};
}

/// Where M may change, group 0 deposits its State only if a change is wanted; at plain barriers
/// never, whatever is wanted.
inline std::string deposits_are_for_changes() {
  using P = explore::Platform;
  using protocol::Kind, protocol::Place, protocol::Verdict;
  const int state = 42;
  for (const std::uint32_t target : {1U, 2U, 3U}) {
    Still<P> job{3};
    job.shared.roster.reset(2);
    job.shared.share.reset(target);
    auto member = job.member(0);
    static_cast<void>(
        protocol::one_pass_barrier<P, Traits{}>(member, Place<P>{member, Kind::resizing}, state));
    if ((job.shared.deposit_gen.peek() == 0) != (target != 2)) return "a deposit is wrong";
  }
  // A static launch has no state to deposit.
  constexpr Traits still{.resizes = Resizes::at_barriers};
  Still<P> job{2};
  job.shared.roster.reset(1);
  auto member = job.member(0);
  const Place<P> place{job.shared, member, Kind::resizing, false, true};
  if (protocol::global_barrier<P, still>(member, place) != Verdict::stay) return "it did not pass";
  return {};
}

/// A group that a barrier sends away, or that finds a fault there, is out.
inline std::string barriers_send_away() {
  using P = explore::Platform;
  using protocol::Fault, protocol::Kind, protocol::Place, protocol::Roster, protocol::Verdict;
  Still<P> job{3};
  job.shared.departing.reset(1);
  auto member = job.member(2);
  if (protocol::shed(member, Roster{2}) != Verdict::leave || !member.left ||
      member.id != protocol::no_id || member.active != 2 || job.shared.departing.peek() != 0) {
    return "a group that was sent away is still there";
  }
  Still<P> faulty{1};
  protocol::raise(faulty.shared, Fault::cancelled);
  auto last = faulty.member(0);
  if (protocol::global_barrier<P, Traits{}>(last, Place<P>{last, Kind::plain}) != Verdict::gone ||
      !last.left) {
    return "a group stays in a job that was cancelled";
  }
  return {};
}

/// query() tells how many groups are wanted back, and ends groups that have no business there.
inline std::string queries_tell_what_is_wanted() {
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
    if (ask(member) != (target < 8 ? 8 - static_cast<int>(target) : 0)) return "a wrong answer";
  }
  auto left = job.member(1);
  left.left = true;
  if (ask(left) != -1) return "a group that has left got an answer";
  if (protocol::FaultRecord{job.shared.fault.peek()}.fault() !=
      protocol::Fault::used_after_leaving) {
    return "a query after leaving was not caught";
  }
  auto late = job.member(2);
  if (ask(late) != -1 || !late.left) return "a group of a job with a fault got an answer";
  return {};
}

struct Check {
  const char* name;
  std::string (*run)();
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
};

}  // namespace cohort::test
