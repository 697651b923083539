// The OpenCL engine's protocol under the explorer: src/opencl/protocol.cl is compiled as C++ and
// runs the scenarios of the protocol in include/cohort. Groups have one thread, because in that
// engine thread 0 acts for its group.
#include <gtest/gtest.h>

#include "explore/larger_scenarios.hpp"
#include "opencl/explored.hpp"

namespace cohort::test {

namespace {

using explore::detail::Session;
using protocol::Roster;

/// A group with the interface that the scenarios' kernels expect.
template <class State>
class ClGroup {
 public:
  explicit ClGroup(cl::cohort_member& member) : member_(member) {}

  [[nodiscard]] std::uint32_t group_id() const { return cl::cohort_group_id(&member_, 0); }
  [[nodiscard]] std::uint32_t num_groups() const { return cl::cohort_num_groups(&member_, 0); }
  [[nodiscard]] std::uint32_t local_id() const { return 0; }
  [[nodiscard]] bool joined() const { return member_.joined != 0; }
  template <class T>
  [[nodiscard]] explore::View<T> view(T* memory) const {
    return explore::View<T>{memory};
  }

  [[nodiscard]] bool offer_kill(const State& state) {
    const bool left = member_.left != 0;
    if (!left) cl::cohort_trace(&member_, cl::cohort_t_offer, 0);
    const bool leaves = cl::cohort_offer_kill(&member_, &state, 0);
    go_on(left);
    return leaves;
  }
  /// Like the dialect's offer: offer_kill, then request_fork.
  [[nodiscard]] bool offer(const State& state) {
    if (offer_kill(state)) return true;
    request_fork(state);
    return false;
  }
  [[nodiscard]] std::uint32_t query() {
    const std::uint32_t wanted = cl::cohort_query(&member_);
    go_on(member_.left != 0);
    return wanted;
  }
  [[nodiscard]] Stride stride(std::size_t count) const { return {group_id(), num_groups(), count}; }
  template <class T>
  [[nodiscard]] explore::AtomicRef<T> atomic(T& word) const {
    return explore::AtomicRef<T>{word};
  }
  template <class T>
  [[nodiscard]] T broadcast(T value) const {
    return value;
  }
  void request_fork(const State& state) { go_on(cl::cohort_request_fork(&member_, &state, 0)); }
  void global_barrier() { go_on(cl::cohort_global_barrier(&member_)); }
  [[nodiscard]] bool resizing_global_barrier(const State& state) {
    const bool left = member_.left != 0;
    const bool leaves = cl::cohort_resizing_global_barrier(&member_, &state, 0);
    go_on(left);
    return leaves;
  }

 private:
  /// In the dialect, a kernel cannot continue after its group was told to leave: it returns at
  /// once.
  static void go_on(bool gone) {
    if (gone) throw explore::Unwind{};
  }
  cl::cohort_member& member_;
};

/// One run with Start::gathered or Start::by_itself.
template <class Kernel>
class ClSession final : public Session {
  using State = StateOf<Kernel>;
  static constexpr Traits traits = Contract<Kernel>::traits;

 public:
  ClSession(explore::World& its_world, Kernel kernel, const Options& with)
      : Session(its_world, with),
        kernel_(kernel),
        boxes_(with.capacity),
        free_ids_(1),
        states_(3 + with.capacity),
        units_(with.capacity) {
    rules = rules_of(traits, with.capacity);
    suspendable = traits.suspendable;
    const auto at = [this](std::size_t i) { return reinterpret_cast<cl::uchar*>(&states_[i]); };
    states_[2] = State{};
    job_.boxes = boxes_.data();
    job_.free_ids = free_ids_.data();
    job_.deposit = at(0);
    job_.kept = at(2);
    job_.box_states = at(3);
    job_.state_size = job_.state_stride = sizeof(State);
    job_.max_groups = with.capacity;
    job_.offer_polls = with.offer_wait ? 1 : 0;
    job_.traits = traits.kill_order == KillOrder::any ? cl::cohort_kill_any : 0;
    if (traits.barrier == ResizingBarrier::query) job_.traits |= cl::cohort_query_barrier;
    if (traits.barrier == ResizingBarrier::plain) job_.traits |= cl::cohort_plain_barrier;
    if (traits.barrier == ResizingBarrier::modelled) job_.traits |= cl::cohort_modelled_barrier;
    job_.quorum = with.start_groups.value_or(with.capacity);
    for (std::uint32_t id = job_.quorum; id < with.capacity; ++id)
      free_ids_[0].reset(free_ids_[0].peek() | std::uint64_t{1} << id);
    job_.deposit_gen.reset(protocol::no_deposit);
    job_.share.reset(job_.quorum);
    gathered_ = with.start == Start::gathered;
    job_.settled.reset(gathered_ ? job_.quorum : 0);
    job_.roster.reset(gathered_ ? job_.quorum : std::uint64_t{Roster::gather});
    inside_ = with.capacity;
    least_ = most_ = job_.quorum;
    status = Status::running;
  }

  void run() override {
    world.expect(rules, tracer);
    world.spawn(
        0, "host",
        [](void* self) {
          auto& session = *static_cast<ClSession*>(self);
          Host host{session};
          session.options.host(host);
        },
        this);
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      units_[u] = {this, u};
      world.spawn(
          1 + u, "unit " + std::to_string(u),
          [](void* unit) {
            static_cast<Unit*>(unit)->session->work(static_cast<Unit*>(unit)->index);
          },
          &units_[u]);
    }
    world.go();
    if (world.failure().empty()) judge();
    world.expect_end(status);
  }

  void set_target(std::uint32_t groups) override {
    least_ = std::min(least_, groups);
    most_ = std::max(most_, groups);
    world.wanted(least_, most_);
    const Roster now{cl::cohort_look_acquire(&job_)};
    job_.share.store(groups + (now.draining() && groups > 0 ? now.arrived() : 0), Order::release);
  }
  Status suspend() override {
    job_.flags.store(protocol::suspend_flag,
                     Order::release);  // must be stored before the target of 0
    set_target(0);
    wait_for_rest();
    return status;
  }
  void wait_for_rest() override {
    explore::Platform::await(cl::somewhere(), [this] {
      return desk_.load(Order::relaxed) != 0 && status != Status::running;
    });
  }
  void cancel() override { cl::cohort_raise(&job_, cl::cohort_cancelled); }
  void resume() override { world.fail("units that come by themselves cannot be sent again"); }
  bool wait_for(bool limited, const std::function<bool()>& done) override {
    if (limited) return explore::Platform::await_for(cl::somewhere(), 1, done);
    explore::Platform::await(cl::somewhere(), done);
    return true;
  }
  [[nodiscard]] std::uint32_t active() const override {
    return cl::cohort_active_of(job_.roster.peek());
  }
  void wait_for_joiners() override {}

 private:
  struct Unit {
    ClSession* session = nullptr;
    std::uint32_t index = 0;
  };

  void work(std::uint32_t unit) {
    for (std::uint32_t visit = 0; visit < options.visits; ++visit) {
      if (!stay(unit, visit == 0 && unit < job_.quorum)) break;
      ++leaves;
    }
    if (--inside_ != 0) return;
    settle();
    desk_.fetch_add(1, Order::relaxed);
  }

  /// Returns whether the unit was removed and may come back.
  bool stay(std::uint32_t unit, bool first) {
    State state{};
    cl::cohort_member member{};
    member.job = &job_;
    member.state = reinterpret_cast<cl::uchar*>(&state);
    member.unit = unit;
    if (first && gathered_) {
      member.id = unit;
      member.active = job_.quorum;
      cl::cohort_copy(member.state, job_.kept, job_.state_size);
      cl::cohort_trace(&member, cl::cohort_t_start, member.active);
    } else if (!(first && cl::cohort_check_in(&member)) &&
               !cl::cohort_wait_in_lobby(&member, job_.serial.peek(), unit)) {
      return false;
    }
    joins += member.joined;
    ClGroup<State> group{member};
    try {
      if (cl::cohort_come_in(&member)) kernel_.run(group, state);
    } catch (const explore::Unwind&) {
      cl::cohort_abandon(&member);
    } catch (const std::exception& error) {
      world.fail(error.what());
    }
    if (member.left != 0) return !cl::cohort_faulted(cl::cohort_look(&job_));
    cl::cohort_finish(&member);
    return false;
  }

  void settle() {
    const Roster roster{job_.roster.peek()};
    if (roster.faulted() && (job_.fault.peek() & 0xFFU) == cl::cohort_cancelled) {
      status = Status::cancelled;
    } else if (roster.faulted()) {
      status = Status::failed;
      world.fail("broken contract: " +
                 explore::detail::describe(protocol::FaultRecord{job_.fault.peek()}));
    } else if (roster.finished()) {
      status = Status::finished;
    } else if (job_.kept_flag.peek() != 0) {
      status = Status::suspended;
    } else {
      status = Status::failed;
      world.fail("a group was lost");
    }
  }

  void judge() {
    if (status == Status::cancelled) return;  // groups may leave at any primitive
    if (job_.deposit_gen.peek() != protocol::no_deposit) {
      world.fail("group 0's deposit outlived the barrier it was made for");
    }
    if ((job_.waiting.peek() & ~protocol::fault_waiting) != 0)
      world.fail("the lobby counts groups that are not there");
    if (job_.fork_lock.peek() != 0) world.fail("the fork lock is still held at the end");
    if (job_.departing.peek() != 0) world.fail("the job waits for groups that have all gone");
  }

  Kernel kernel_;
  cl::cohort_job job_{};
  std::vector<cl::cohort_box> boxes_;
  std::vector<cl::atomic_ulong> free_ids_;
  std::vector<State> states_;  // the two deposits, the kept State, and the States in the boxes
  std::vector<Unit> units_;
  cl::atomic_uint desk_{0};
  std::uint32_t inside_ = 0;
  std::uint32_t least_ = 0;  // minimum of all targets
  std::uint32_t most_ = 0;
  bool gathered_ = false;
};

template <class Kernel>
Result on_opencl(const Options& options, std::uint32_t count) {
  return explore::detail::explore(options, [&](explore::Engine& engine) {
    Memory memory;
    ClSession<Kernel> session{engine.world(), memory.kernel<Kernel>(engine, count), options};
    session.run();
    const std::string& failure = engine.world().failure();
    if (!failure.empty()) return failure;
    return memory.judge<Kernel>({session.status, session.joins, session.leaves}, count);
  });
}

/// Scenarios for the dialect, which has no steps and no setup().
struct OnOpenCl {
  template <class Kernel>
  static constexpr bool runs = cohort::detail::HasRun<Kernel> && !HasSetup<Kernel>;
  template <class Kernel>
  static constexpr Result (*explore)(const Options&, std::uint32_t) = [] {
    if constexpr (runs<Kernel>)
      return &on_opencl<Kernel>;
    else
      return nullptr;
  }();
  template <class Kernel>
  static constexpr Result (*misuse)(const Options&, std::uint32_t) = [] {
    if constexpr (runs<Kernel>)
      return &expect_fault<Kernel, &on_opencl<Kernel>>;
    else
      return nullptr;
  }();
};

/// The larger scenarios, without features that this engine lacks: units sent by the host, groups of
/// two threads, and a check-in with a deadline.
std::vector<Scenario> larger_on_opencl() {
  std::vector<Scenario> all = larger::scenarios<OnOpenCl>();
  std::erase_if(all, [](const Scenario& scenario) {
    return scenario.start == Start::sent || scenario.local_size != 1 || scenario.start_deadline;
  });
  return all;
}

using HighestFirst = Offers<KillOrder::highest_first>;
using AnyOrder = Offers<KillOrder::any>;
using Shrinks = Resizing<anywhere, one_pass>;
using ResizesAndForks = Resizing<anywhere, one_pass, true>;
using ByQuery = Resizing<anywhere, ResizingBarrier::query>;
using ByQueryAndForks = Resizing<anywhere, ResizingBarrier::query, true>;
using ByPlain = Resizing<anywhere, ResizingBarrier::plain>;
using ByModel = Resizing<anywhere, ResizingBarrier::modelled>;

// clang-format off
std::vector<Scenario> small_on_opencl() {
  return {
      {"barrier", 2, 2, 1, 2, &nothing, &on_opencl<Barriers<anywhere>>},
      {"barrier", 3, 3, 1, 1, &nothing, &on_opencl<Barriers<anywhere>>},
      {"resizing barrier shrinking", 3, 3, 1, 1, &to<1>, &on_opencl<Shrinks>},
      {"resizing barrier growing", 2, 1, 1, 1, &to<2>, &on_opencl<Shrinks>},
      {"resizing barrier shrinking and growing in a row", 2, 2, 1, 2, &to<1, 2>, &on_opencl<Shrinks>},
      {"kill against fork", 2, 1, 1, 2, &to<2, 1>, &on_opencl<HighestFirst>},
      {"kill against fork", 3, 2, 1, 1, &to<1, 3>, &on_opencl<HighestFirst>},
      {"kill against fork any order", 2, 1, 1, 2, &to<2, 1>, &on_opencl<AnyOrder>},
      {"kill against barrier", 2, 2, 1, 1, &to<1>, &on_opencl<OffersAndBarriers>},
      {"kills in a row waiting in the offer", 3, 3, 1, 1, &to<1>, &on_opencl<HighestFirst>, Start::gathered, Waiting::polled, true},
      {"join against finish", 2, 1, 1, 1, &to<2>, &on_opencl<ForkAndReturn>},
      {"suspend against fork", 2, 1, 1, 2, &suspended<3>, &on_opencl<HighestFirst>},
      {"suspend against kill", 2, 2, 1, 1, &suspended<>, &on_opencl<HighestFirst>},
      {"suspend against a resizing barrier", 2, 2, 1, 1, &suspended<>, &on_opencl<Shrinks>},
      {"check in", 3, 3, 1, 0, &nothing, &on_opencl<Barriers<anywhere>>, Start::by_itself},
      {"fork right after a growing resizing barrier", 2, 1, 1, 1, &to<2>, &on_opencl<ResizesAndForks>},
      {"query barrier, its leavers against a fork", 3, 2, 1, 1, &to<1, 3>, &on_opencl<ByQueryAndForks>},
      {"query barrier shrinking", 3, 3, 1, 1, &to<1>, &on_opencl<ByQuery>},
      {"query barrier, suspended", 2, 2, 1, 1, &suspended<>, &on_opencl<ByQuery>},
      {"plain barrier growing", 2, 1, 1, 1, &to<2>, &on_opencl<ByPlain>},
      {"plain barrier shrinking", 3, 3, 1, 1, &to<1>, &on_opencl<ByPlain>},
      {"modelled barrier growing", 2, 1, 1, 1, &to<2>, &on_opencl<ByModel>},
      {"modelled barrier shrinking", 2, 2, 1, 1, &to<1>, &on_opencl<ByModel>},
      {"fork right after a shrinking resizing barrier", 2, 2, 1, 1, &to<1, 2>, &on_opencl<ResizesAndForks>},
  };
}
// clang-format on

void explore_random_schedules(const Scenario& scenario, std::uint32_t visits) {
  for (const Search search : {Search::random, Search::pct}) {
    const Result result =
        scenario.run({.search = search, .schedules = 1000, .visits = visits, .weak_memory = true});
    EXPECT_TRUE(result.ok) << scenario << '\n' << result;
  }
}

class OpenClProtocol : public testing::TestWithParam<Scenario> {};
TEST_P(OpenClProtocol, NothingIsWrongInAnySchedule) {
  const Result result = GetParam().run({.search = Search::exhaustive, .schedules = 500'000});
  EXPECT_TRUE(result.ok) << GetParam() << '\n' << result;
  EXPECT_TRUE(result.complete) << "gave up after " << result.schedules << " schedules";
  RecordProperty("schedules", std::to_string(result.schedules));
}
TEST_P(OpenClProtocol, NorWithWeakMemory) { explore_random_schedules(GetParam(), 3); }
INSTANTIATE_TEST_SUITE_P(Scenarios, OpenClProtocol, testing::ValuesIn(small_on_opencl()));

class LargerOpenClProtocol : public testing::TestWithParam<Scenario> {};
TEST_P(LargerOpenClProtocol, NothingIsWrongInRandomSchedules) {
  explore_random_schedules(GetParam(), 2);
}
INSTANTIATE_TEST_SUITE_P(Scenarios, LargerOpenClProtocol, testing::ValuesIn(larger_on_opencl()));

/// The mixed kernel under random schedules, since there are too many to try all.
TEST(OpenClProtocol, KeepsTheRulesOfTheModelWhenEverythingIsMixed) {
  for (const Search search : {Search::random, Search::pct}) {
    const Result result = on_opencl<Mixed>({.search = search,
                                            .schedules = 5000,
                                            .capacity = 4,
                                            .start_groups = 2,
                                            .host = &to<3, 2, 3, 2, 3, 2>,
                                            .weak_memory = true,
                                            .start = Start::by_itself},
                                           4);
    EXPECT_TRUE(result.ok) << result;
  }
}

}  // namespace
}  // namespace cohort::test
