// One run of a kernel in a World: the units that enter and leave, the host that sends them, and the
// checks that need to know the kernel. All functions are inline, so that they are compiled with the
// user's own version of the protocol headers. Invariant: the engine's data changes only right after
// a step on `desk_`, so such a change is part of the schedule like any other access.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cohort/error.hpp"
#include "cohort/explore/world.hpp"
#include "cohort/job.hpp"
#include "cohort/protocol/driver.hpp"
#include "cohort/protocol/reset.hpp"

namespace cohort::explore {

namespace detail {
class Session;

/// Actions that a test attaches to steps.
struct Pins {
  std::vector<std::pair<std::uint32_t, std::function<void()>>> before_step;
};

/// "1 group", "2 groups".
[[nodiscard]] inline std::string count_of(std::uint32_t groups) {
  return std::to_string(groups) + (groups == 1 ? " group" : " groups");
}
/// Says why a job was ended.
[[nodiscard]] std::string describe(protocol::FaultRecord fault);
/// The roster as text, for timelines.
[[nodiscard]] std::string show_roster(std::uint64_t word);

}  // namespace detail

/// The scheduler's side of a run. Each call happens at a moment that the schedule chooses.
class Host {
 public:
  explicit Host(detail::Session& session) : session_(session) {}

  void set_target(std::uint32_t groups);
  /// Removes all groups and waits until they are out. Returns `suspended`, or the job's final
  /// status if it ended first.
  Status suspend();
  /// Continues a suspended job.
  void resume();
  /// Ends the job early: every group leaves at its next primitive.
  void cancel();
  /// Waits for the job's end.
  void wait();
  [[nodiscard]] Status status() const;
  /// Number of groups that joined; number of groups that left early; M.
  [[nodiscard]] std::uint32_t joins() const;
  [[nodiscard]] std::uint32_t leaves() const;
  [[nodiscard]] std::uint32_t groups() const;
  /// Waits until `done()`. `done` may read the kernel's memory, through AtomicRef.
  void until(const std::function<bool()>& done);
  /// Like until(), but only for a time chosen by the schedule. Returns whether `done()` became
  /// true.
  bool linger(const std::function<bool()>& done);
  /// One of the values 0 to `options` - 1, chosen by the schedule.
  std::uint32_t choose(std::uint32_t options);

 private:
  detail::Session& session_;
};

namespace detail {

/// One run, as seen by the engine and the host.
class Session {
 public:
  Session(World& its_world, Options with) : world(its_world), options(std::move(with)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// Runs the schedule.
  virtual void run() = 0;
  // Operations for Host and for attached actions.
  virtual void set_target(std::uint32_t groups) = 0;
  virtual Status suspend() = 0;
  virtual void resume() = 0;
  virtual void cancel() = 0;
  virtual void wait_for_rest() = 0;
  virtual bool wait_for(bool limited, const std::function<bool()>& done) = 0;
  [[nodiscard]] virtual std::uint32_t active() const = 0;
  /// For attached actions: waits until every group that is about to join is in the lobby.
  virtual void wait_for_joiners() = 0;

  World& world;
  const Options options;
  Status status = Status::pending;
  std::uint32_t joins = 0;
  std::uint32_t leaves = 0;
  std::optional<std::uint32_t> first_target;
  const Pins* pins = nullptr;
  Tracer* tracer = nullptr;
  TraceRules rules;
  bool resizable = true;
  bool suspendable = true;
  bool may_all_leave = false;
  bool counts_staying = false;
};

/// The part of a session that does not depend on the kernel.
template <class P>
class SessionOn : public Session {
 protected:
  using Order = cohort::Order;
  using Roster = protocol::Roster;

 public:
  SessionOn(World& its_world, const Options& with)
      : Session(its_world, with),
        local_size_(with.local_size),
        boxes_(with.max_groups.value_or(with.capacity)),
        free_ids_(protocol::id_words(static_cast<std::uint32_t>(boxes_.size()))),
        resting_(free_ids_.size()),
        units_(with.capacity) {
    shared.max_groups = static_cast<std::uint32_t>(boxes_.size());
    shared.offer_wait = with.offer_wait ? 1 : 0;
    shared.start_deadline = with.start_deadline ? 1 : 0;
  }

  void run() override {
    if (world.logging()) name_words();
    world.expect(rules, tracer);
    const std::uint32_t units = options.capacity;
    world.spawn(
        0, "host", [](void* self) { static_cast<SessionOn*>(self)->host(); }, this);
    for (std::uint32_t u = 0; u < units; ++u) {
      units_[u].session = this;
      units_[u].index = u;
      world.enlist(u, 1 + u * local_size_, local_size_);
      for (std::uint32_t i = 0; i < local_size_; ++i) {
        std::string name;
        if (world.logging()) {
          name = std::string{"unit "} + std::to_string(u);
          if (local_size_ > 1) name.append(".").append(std::to_string(i));
        }
        world.spawn(
            1 + u * local_size_ + i, name,
            i == 0 ? [](void* unit) { static_cast<Unit*>(unit)->session->work(*static_cast<Unit*>(unit)); }
                   : [](void* unit) { static_cast<Unit*>(unit)->session->assist(*static_cast<Unit*>(unit)); },
            &units_[u]);
      }
    }
    const std::uint32_t most = std::min(shared.max_groups, units);
    // The number of first groups, and the scheduler's initial target.
    first_ = options.start_groups ? std::min(*options.start_groups, most) : 0;
    if (!resizable) first_ = most;
    if (!sent()) {
      if (first_ == 0) first_ = most;
      target_ = first_target.value_or(first_);
      keep_initial();
      begin(first_, false);
      inside_ = units;  // other units may come at any time
    }
    world.go();
    if (world.failure().empty()) judge();
    world.expect_end(status);
  }

  void set_target(std::uint32_t groups) override {
    world.note("the scheduler wants " + count_of(groups));
    publish(groups);  // before any unit is sent for this target
    move([&] { target_ = groups; });
  }
  Status suspend() override {
    if (at_rest()) return status;
    world.note("suspends the job");
    const bool may_empty = least_ == 0;  // the job may have been told to leave
    held_ = true;
    keeps_ = least_ > 0;  // otherwise the last group may have left already
    shared.flags.store(protocol::suspend_flag, Order::release);  // before the target of 0
    publish(0);
    move([&] { target_ = 0; });
    wait_for_rest();
    if (status == Status::left && suspendable && !may_empty) {
      world.fail("the job was suspended, but no group has kept its state");
    }
    return status;
  }
  void resume() override {
    if (status != Status::suspended) return;
    if (!sent()) {
      throw Error{Errc::bad_state,
                  "explore: resume() needs units that can be sent again: choose Start::sent"};
    }
    world.note("resumes the job");
    move([&] {
      world.settle();
      held_ = keeps_ = false;
      begin(first_, true);
    });
  }
  void cancel() override {
    world.note("cancels the job");
    protocol::raise(shared, protocol::Fault::cancelled);
  }
  void wait_for_rest() override {
    P::await(desk_event_, [this] {
      static_cast<void>(desk_.load(Order::relaxed));
      return at_rest();
    });
  }
  bool wait_for(bool limited, const std::function<bool()>& done) override {
    const auto look = [&] {
      // A step on desk_, after which the engine's data may have changed.
      static_cast<void>(desk_.load(Order::relaxed));
      return done();
    };
    if (limited) return P::await_for(desk_event_, 1, look);
    P::await(desk_event_, look);
    return true;
  }
  [[nodiscard]] std::uint32_t active() const override { return shared.look().active(); }
  void wait_for_joiners() override {
    if (options.waiting == Waiting::notified) return;
    P::await(desk_event_, [this] {
      const std::uint32_t waiting = shared.waiting.load(Order::relaxed);
      const Roster now = shared.look();
      return now.active() + waiting >= target_;
    });
  }

  protocol::Shared<P> shared;

 protected:
  enum class Stay : std::uint8_t { refused, left, finished, ended };

  /// A place where a group can run.
  struct Unit {
    SessionOn* session = nullptr;
    std::uint32_t index = 0;
    std::uint32_t visits = 0;
    std::uint32_t refusals = 0;
    void* stay = nullptr;  // stay of the group inside, for the group's other threads
    bool closes = false;
  };

  virtual Stay run_group(Unit& unit, bool first, std::uint32_t id) = 0;
  /// The part of a group's stay that a thread other than the leader runs.
  virtual void live(Unit& unit, std::uint32_t local_id) = 0;
  virtual void keep_initial() = 0;
  /// Called when a run of the job begins: its barriers count from 0 again.
  virtual void forget_steps() = 0;
  virtual void name_states() = 0;

  static constexpr auto stay_begins = static_cast<protocol::Point>(250);
  static constexpr auto stay_ends = static_cast<protocol::Point>(251);

  /// A meeting of all threads of the unit, at the start or the end of a stay.
  void gather(const Unit& unit, std::uint32_t local_id, protocol::Point point) const {
    if (local_size_ > 1) meet(unit.index, local_id, point, nullptr, nullptr, nullptr);
  }
  [[nodiscard]] std::uint32_t local_size() const { return local_size_; }

 private:
  [[nodiscard]] bool sent() const { return options.start == Start::sent; }
  [[nodiscard]] bool at_rest() const {
    return status != Status::pending && status != Status::running;
  }
  /// Whether no group will run again.
  [[nodiscard]] bool over() const {
    return at_rest() && (status != Status::suspended || host_done_);
  }
  [[nodiscard]] bool wants_more() const {
    return status == Status::running && resizable && !held_ && !returned_ && inside_ < target_;
  }

  /// Changes the engine's data, as one step.
  template <class Change>
  void move(Change change) {
    if (sent()) desk_.fetch_add(1, Order::relaxed);
    change();
    if (sent()) P::notify(desk_event_);
  }

  /// Records the range of targets so far. Call it before publishing a target.
  void want(std::uint32_t groups) {
    least_ = std::min(least_, groups);
    most_ = std::max(most_, groups);
    world.wanted(least_, most_);
  }

  /// Publishes the target to the groups.
  void publish(std::uint32_t share) {
    want(share);
    const Roster roster = shared.look();
    const std::uint32_t more = roster.draining() && share > 0 ? roster.arrived() : 0;
    shared.share.store(share + more,
                       Order::release);  // after the flags: pairs with target(acquire)
    P::notify(shared.lobby_event);
    P::notify(shared.offer_event);
  }

  void begin(std::uint32_t quorum, bool again) {
    for (auto& box : boxes_) {
      box.seat.reset(protocol::Seat::empty);
      box.id = box.gen = 0xcdcdcdcd;
    }
    for (std::uint32_t word = 0; word < free_ids_.size(); ++word) {
      free_ids_[word].reset(protocol::free_ids_at_start(word, quorum, shared.max_groups));
      resting_[word].reset(0);
    }
    shared.boxes = boxes_.data();
    shared.free_ids = free_ids_.data();
    shared.resting = resting_.data();
    shared.quorum = quorum;
    shared.restarted = again;
    for (auto& vote : shared.vote) vote.reset(0);
    shared.flags.reset(0);
    shared.waiting.reset(0);
    shared.closed.reset(0);
    shared.serial.reset(shared.serial.peek() + 1);
    shared.fork_lock.reset(0);
    shared.tickets.reset(0);
    shared.departing.reset(0);
    shared.deposit_gen.reset(protocol::no_deposit);
    shared.kept.reset(0);
    shared.share.reset(target_ != 0 ? target_ : quorum);
    if (options.start == Start::gathered) {
      shared.settled.reset(quorum);
      shared.staying.reset(quorum);
      shared.roster.reset(quorum);
    } else {
      shared.settled.reset(0);
      shared.staying.reset(0);
      shared.roster.reset(Roster::gather);
    }
    if (target_ == 0) target_ = quorum;
    least_ = most_ = target_;
    want(quorum);
    forget_steps();
    status = Status::running;
    inside_ = quorum;
    first_left_ = quorum;
    next_id_ = 0;
    returned_ = false;
  }

  void host() {
    const std::uint32_t most = std::min(shared.max_groups, options.capacity);
    const bool pinned = options.host || (pins != nullptr && !pins->before_step.empty());
    if (sent()) {
      if (first_ == 0) first_ = most - world.choose(most);
      target_ = first_target.value_or(first_);
      keep_initial();
      desk_.fetch_add(1, Order::relaxed);  // the launch, as a step
      begin(first_, false);
      P::notify(desk_event_);
    }
    Host host{*this};
    if (options.host) {
      options.host(host);
    } else if (!pinned) {
      act_by_itself(host, most);
    }
    move([this] { host_done_ = true; });
  }

  void act_by_itself(Host& host, std::uint32_t most) {
    const std::uint32_t least = may_all_leave ? 0 : 1;
    std::uint32_t suspends = suspendable && resizable ? options.suspends : 0;
    for (std::uint32_t i = 0; resizable && i < options.changes + suspends && !at_rest(); ++i) {
      if (suspends > 0 && world.choose(2) == 1) {
        --suspends;
        if (host.suspend() != Status::suspended) return;
        target_ = most - world.choose(most);
        host.resume();
      } else {
        host.set_target(least + world.choose(most - least + 1));
      }
    }
  }

  /// The life of a unit that the host does not send. The first units start inside, and the others
  /// come at any time. Without calls by the host there are fewer schedules to search.
  void work_unsent(Unit& unit) {
    // With a deadline, more groups may come to a check-in than it needs.
    const bool first = unit.index < first_ || options.start_deadline;
    for (std::uint32_t visit = 0; visit < options.visits; ++visit) {
      const Stay stay = run_group(unit, first && visit == 0, unit.index);
      if (stay == Stay::left) ++leaves;
      if (stay != Stay::left) break;
    }
    if (--inside_ != 0) return;
    settle();
    desk_.fetch_add(1, Order::relaxed);
    P::notify(desk_event_);
  }

  /// The life of a unit: waits to be sent, visits the job, returns.
  void work(Unit& unit) {
    if (sent()) {
      work_sent(unit);
    } else {
      work_unsent(unit);
    }
    unit.closes = true;
    gather(unit, 0, stay_begins);
  }

  void work_sent(Unit& unit) {
    for (;;) {
      const auto called = [&] {
        return over() || first_left_ > 0 || (unit.visits < options.visits && wants_more());
      };
      P::await(desk_event_, [&] {
        static_cast<void>(desk_.load(Order::relaxed));
        return called();
      });
      desk_.fetch_add(1, Order::relaxed);
      if (!called()) continue;
      if (over()) break;
      const bool first = first_left_ > 0;
      std::uint32_t id = 0;
      if (first) {
        --first_left_;
        id = next_id_++;
      } else {
        ++inside_;
      }
      P::notify(desk_event_);
      const Stay stay = run_group(unit, first, id);
      desk_.fetch_add(1, Order::relaxed);
      --inside_;
      if (stay != Stay::refused || ++unit.refusals % 4 == 0) ++unit.visits;
      if (stay == Stay::left) ++leaves;
      if (stay == Stay::finished) returned_ = true;
      if (inside_ == 0) settle();
      world.stir();
      P::notify(desk_event_);
    }
  }

  /// The life of the other threads of a unit.
  void assist(Unit& unit) {
    const std::uint32_t local_id = world.running() - 1 - unit.index * local_size_;
    for (;;) {
      gather(unit, local_id, stay_begins);
      if (unit.closes) return;
      live(unit, local_id);
      gather(unit, local_id, stay_ends);
    }
  }

  /// Called when the last group is out: determines how the job ended.
  void settle() {
    const Roster roster{shared.roster.peek()};
    const protocol::FaultRecord fault{shared.fault.peek()};
    if (roster.faulted() && fault.fault() == protocol::Fault::cancelled) {
      status = Status::cancelled;
    } else if (roster.faulted()) {
      status = Status::failed;
      world.fail(std::string{"broken contract: "} + describe(fault));
    } else if (roster.finished()) {
      status = Status::finished;
    } else if (shared.kept.peek() != 0) {
      status = Status::suspended;
      if (!held_) world.fail("a state was kept, but no suspend was requested");
    } else if (roster.active() == 0) {
      status = Status::left;
    } else {
      status = Status::failed;
      world.fail("a group was lost: all are out, but the roster counts " +
                 std::to_string(roster.active()));
    }
    if (shared.closed.peek() == 0 && !roster.faulted()) {
      world.fail("all groups are out, but the job was not closed");
    }
    if (status == Status::left && keeps_) world.fail("suspended, but the job's state was not kept");
  }

  /// Checks after a run without a failure so far.
  void judge() {
    const Roster roster{shared.roster.peek()};
    if (status == Status::left && !may_all_leave) {
      world.fail("the last group was killed, which this kernel does not allow");
    } else if (status == Status::cancelled) {
      return;  // groups may leave anywhere
    } else if (const std::uint32_t waiting = shared.waiting.peek() & ~protocol::fault_waiting;
               waiting != 0) {
      world.fail("the lobby counts " + std::to_string(waiting) + " groups, but none is there");
    } else if (shared.fork_lock.peek() != 0) {
      world.fail("the fork lock is still held at the end");
    } else if (shared.departing.peek() != 0) {
      world.fail("the job waits for " + std::to_string(shared.departing.peek()) +
                 " removed groups, but all have left");
    } else if (counts_staying && shared.staying.peek() != roster.active()) {
      world.fail(std::to_string(shared.staying.peek()) + " groups are counted as staying, not " +
                 std::to_string(roster.active()));
    } else if (shared.deposit_gen.peek() != protocol::no_deposit) {
      world.fail("group 0's deposit outlived the barrier it was made for");
    } else if (status == Status::finished && shared.kept.peek() != 0) {
      world.fail("a state was kept, but the job has finished");
    } else if (status == Status::finished && roster.arrived() != roster.active()) {
      world.fail("the job has finished, but not all of its groups have returned");
    }
  }

  void name_words() {
    world.name(location_of(shared.roster), "roster", &show_roster);
    world.name(location_of(shared.share), "target");
    world.name(location_of(shared.flags), "suspend");
    world.name(location_of(shared.waiting), "waiting");
    world.name(location_of(shared.closed), "closed");
    world.name(location_of(shared.serial), "serial");
    world.name(location_of(shared.tickets), "tickets");
    world.name(location_of(shared.fork_lock), "fork lock");
    world.name(location_of(shared.departing), "departing");
    world.name(location_of(shared.deposit_gen), "deposit");
    world.name(location_of(shared.settled), "settled");
    world.name(location_of(shared.staying), "staying");
    world.name(location_of(shared.kept), "kept");
    world.name(location_of(shared.fault), "fault");
    world.name(location_of(desk_), {});  // a word of the explorer's own: leave it out of timelines
    world.name(shared.barrier_event.word, "the barrier's event");
    world.name(shared.offer_event.word, "the offers' event");
    world.name(shared.lobby_event.word, "the lobby's event");
    world.name(desk_event_.word, {});
    for (std::size_t i = 0; i < boxes_.size(); ++i) {
      world.name(location_of(boxes_[i].seat), std::string{"box "} + std::to_string(i));
    }
    for (const auto& ids : free_ids_) world.name(location_of(ids), "free ids");
    for (const auto& ids : resting_) world.name(location_of(ids), "resting ids");
    world.name(boxes_.data(), boxes_.size() * sizeof(boxes_[0]), sizeof(boxes_[0]),
               "what is in box", World::Owner::protocol);
    name_states();
    for (std::size_t i = 0; i < 4; ++i) {
      world.name(location_of(shared.vote[i]), std::string{"vote "} + std::to_string(i));
    }
  }
  template <class T>
  static const Location& location_of(const Atomic<T>& word) {
    return word.where();
  }

  const std::uint32_t local_size_;
  std::vector<protocol::Box<P>> boxes_;
  std::vector<Atomic<std::uint64_t>> free_ids_;
  std::vector<Atomic<std::uint64_t>> resting_;
  std::vector<Unit> units_;

  // The engine's data.
  Atomic<std::uint32_t> desk_{0};
  Event desk_event_;
  std::uint32_t first_ = 0;       // number of groups at the start
  std::uint32_t first_left_ = 0;  // first groups that have not been sent yet
  std::uint32_t next_id_ = 0;
  std::uint32_t inside_ = 0;
  std::uint32_t target_ = 0;
  std::uint32_t least_ = 0;  // minimum of all targets of this run
  std::uint32_t most_ = 0;
  bool held_ = false;
  bool keeps_ = false;  // a suspend must keep the job's State
  bool returned_ = false;
  bool host_done_ = false;
};

/// A kernel wrapped in checks: local memory is poisoned before each step, States are compared,
/// attached actions run.
template <class Kernel, class Watch>
struct Watched {
  using State = StateOf<Kernel>;
  using Local = LocalOf<Kernel>;
  static constexpr Traits traits = Contract<Kernel>::traits;

  const Kernel* kernel;
  Watch* watch;

  template <class Group>
  void setup(Group& group) const requires HasSetup<Kernel> {
    kernel->setup(group);
  }
  template <class Group>
  Next step(Group& group, State& state) const requires cohort::detail::HasStep<Kernel> {
    const Next vote = kernel->step(group, state);
    watch->end_of_step(group, state);
    return vote;
  }
  template <class Group>
  void run(Group& group, State state) const requires cohort::detail::HasRun<Kernel> {
    kernel->run(group, state);
  }
};

/// The part of a session that depends only on the kernel's State. Kernels with the same State share
/// it.
template <class P, class State>
class StateSession : public SessionOn<P> {
  using Base = SessionOn<P>;

 protected:
  using Base::joins, Base::options, Base::shared, Base::world;
  using typename Base::Stay;
  using typename Base::Unit;
  using Member = protocol::Member<P, State>;

  StateSession(World& its_world, const Options& with, const Traits& traits, bool is_resizable)
      : Base(its_world, with), box_states_(shared.max_groups) {
    poison(&states_.deposit, sizeof states_.deposit);
    if constexpr (!std::is_empty_v<State>) {
      poison(box_states_.data(), sizeof(State) * box_states_.size());
    }
    states_.boxes = box_states_.data();
    this->rules = rules_of(traits, shared.max_groups);
    this->resizable = is_resizable;
    this->suspendable = traits.suspendable && is_resizable;
    this->may_all_leave = traits.survivors == Survivors::may_all_leave;
  }

  static void poison(void* memory, std::size_t bytes) { std::memset(memory, 0xcd, bytes); }

  /// Checks in or waits in the lobby. Returns false if the group was not admitted.
  bool let_in(Member& member, const Unit& unit, bool first, std::uint32_t id) {
    if (first && options.start == Start::gathered) {
      take_part(member, id);
    } else if (!(first && protocol::check_in(member)) &&
               !protocol::wait_in_lobby(member, shared.serial.peek(), unit.index)) {
      return false;
    }
    if (!member.joined && member.active > shared.quorum) {
      world.fail("more groups have checked in than were called: " + std::to_string(member.active));
    }
    joins += member.joined ? 1 : 0;
    return true;
  }

  /// Called when a group has left the kernel.
  Stay left_kernel(Member& member) {
    if (member.left) return shared.look().faulted() ? Stay::ended : Stay::left;
    protocol::finish(member);
    return member.left ? Stay::ended : Stay::finished;
  }

  /// Called in a handler for an exception of a thread of the group.
  void has_thrown(Member& member) {
    const auto fail = [&](const char* what) {
      world.fail("the kernel threw an exception in group " + std::to_string(member.id) + ": " +
                 what);
    };
    try {
      throw;
    } catch (const Unwind&) {
      protocol::abandon(member);
    } catch (const std::exception& error) {
      fail(error.what());
    } catch (...) {
      fail("not a std::exception");
    }
  }

  /// Compares the States of groups at the end of a step.
  void compare(std::uint32_t group, const State& state, std::uint32_t gen) {
    if constexpr (!std::is_empty_v<State>) {
      State mine = state;
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
      __builtin_clear_padding(&mine);
#endif
#endif
      Expected& expected = expected_[gen % expected_.size()];
      if (expected.gen != gen) {
        expected.gen = gen;
        std::memcpy(static_cast<void*>(expected.bytes.data()), &mine, sizeof mine);
      } else if (std::memcmp(expected.bytes.data(), static_cast<const void*>(&mine),
                             sizeof mine) != 0) {  // the padding has been cleared
        world.fail("the State of group " + std::to_string(group) +
                   " differs from another's after step " + std::to_string(gen) +
                   ": joining groups receive group 0's only");
      }
    }
  }

  protocol::States<State> states_{};

 private:
  struct Expected {
    std::uint32_t gen = ~0U;
    std::array<std::byte, sizeof(State)> bytes{};
  };

  void keep_initial() final { states_.kept = State{}; }
  void forget_steps() final { expected_ = {}; }
  void name_states() final {
    constexpr auto protocols = World::Owner::protocol;
    world.name(&states_.deposit, sizeof states_.deposit, sizeof(State), "deposit of a State",
               protocols);
    world.name(&states_.kept, sizeof states_.kept, sizeof(State), "kept State", protocols);
    world.name(box_states_.data(), box_states_.size() * sizeof(State), sizeof(State),
               "State in box", protocols);
  }

  /// The result of a check-in at which all groups arrived in order.
  void take_part(Member& member, std::uint32_t id) {
    member.id = id;
    member.active = shared.quorum;
    member.joined = shared.restarted;
    member.state = states_.kept;
    member.trace(Trace::start, member.active);
  }

  std::vector<State> box_states_;
  std::array<Expected, 4> expected_{};
};

template <class P, class Kernel, protocol::Role role>
class TypedSession final : public StateSession<P, StateOf<Kernel>> {
  using Base = StateSession<P, StateOf<Kernel>>;
  using Base::gather, Base::local_size, Base::options, Base::pins, Base::shared, Base::states_,
      Base::stay_begins, Base::stay_ends, Base::world;
  using typename Base::Member;
  using typename Base::Stay;
  using typename Base::Unit;
  using State = StateOf<Kernel>;
  using Local = LocalOf<Kernel>;
  using Wrapped = Watched<Kernel, TypedSession>;
  static constexpr Traits traits = Contract<Kernel>::traits;
  static_assert(!HasMoreLocal<Kernel>,
                "cohort: the explorer has no local memory of a size known only at the launch: put "
                "an array into Kernel::Local");

 public:
  TypedSession(World& its_world, const Kernel& kernel, const Options& with)
      : Base(its_world, with, traits, role != protocol::Role::fixed),
        kernel_(kernel),
        visits_(with.capacity) {
    this->counts_staying = protocol::counts_staying<P, traits>;
  }

  /// Called by every thread at the end of its step.
  template <class Group>
  void end_of_step(const Group& group, const State& state) {
    Visit& visit = *visits_[(world.running() - 1) / local_size()];
    const std::uint32_t gen = visit.member.gen;
    this->compare(group.group_id(), state, gen);
    if (group.local_id() != 0 || group.group_id() != 0 || pins == nullptr) return;
    const std::uint32_t step = gen + 1 - (HasSetup<Kernel> ? 1 : 0);
    for (const auto& [when, action] : pins->before_step) {
      if (when == step) action();
    }
  }

 private:
  /// A group in the kernel.
  struct Visit {
    Visit(protocol::Shared<P>& shared, protocol::States<State>& states)
        : member{.shared = shared, .states = states} {}

    Member member;
    alignas(Local) std::array<std::byte, sizeof(Local)> local{};
  };

  Stay run_group(Unit& unit, bool first, std::uint32_t id) override {
    Visit& visit = visits_[unit.index].emplace(shared, states_);
    Member& member = visit.member;
    member.votes = Contract<Kernel>::step_style;
    try {
      if (!this->let_in(member, unit, first, id)) return Stay::refused;
      if (protocol::enter<P, traits>(member) == protocol::Verdict::stay) run_kernel(unit, visit);
    } catch (const Unwind&) {
      protocol::abandon(member);
      return Stay::ended;
    }
    return this->left_kernel(member);
  }

  void run_kernel(Unit& unit, Visit& visit) {
    this->poison(visit.local.data(), visit.local.size());
    unit.stay = &visit;
    gather(unit, 0, stay_begins);
    live(unit, 0);
    gather(unit, 0, stay_ends);
  }

  void live(Unit& unit, std::uint32_t local_id) override {
    Visit& visit = *static_cast<Visit*>(unit.stay);
    const Wrapped kernel{&kernel_, this};
    const Threads threads =
        local_size() > 1 ? Threads{unit.index, local_id, local_size()} : Threads{};
    try {
      protocol::live<P, role>(kernel, visit.member, reinterpret_cast<Local&>(visit.local), threads);
    } catch (...) {
      this->has_thrown(visit.member);
    }
  }

  Kernel kernel_;
  // By unit: a unit's other threads may outlive its leader.
  std::vector<std::optional<Visit>> visits_;
};

template <class P, class Kernel, protocol::Role role>
std::unique_ptr<Session> make_session(World& world, const Kernel& kernel, const Options& options) {
  return std::make_unique<TypedSession<P, Kernel, role>>(world, kernel, options);
}

}  // namespace detail

inline void Host::set_target(std::uint32_t groups) { session_.set_target(groups); }
inline Status Host::suspend() { return session_.suspend(); }
inline void Host::resume() { session_.resume(); }
inline void Host::cancel() { session_.cancel(); }
inline void Host::wait() { session_.wait_for_rest(); }
inline Status Host::status() const { return session_.status; }
inline std::uint32_t Host::joins() const { return session_.joins; }
inline std::uint32_t Host::leaves() const { return session_.leaves; }
inline std::uint32_t Host::groups() const { return session_.active(); }
inline void Host::until(const std::function<bool()>& done) { session_.wait_for(false, done); }
inline bool Host::linger(const std::function<bool()>& done) {
  return session_.wait_for(true, done);
}
inline std::uint32_t Host::choose(std::uint32_t options) { return session_.world.choose(options); }

}  // namespace cohort::explore
