// Every transition of a job's life, on a backend without threads: the test decides when groups
// leave.
#include "engine/dispatcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cohort::engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class FakeBody final : public cohort::detail::JobBody {
 public:
  using JobBody::JobBody;
  ~FakeBody() override {
    if (at_end) at_end();
  }
  std::optional<cohort::detail::CheckpointParts> checkpoint_parts() override { return {}; }

  std::function<void()> at_end;
};

/// A backend that only counts groups. They leave when the test tells them to.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

  void admit(JobRecord& /*job*/) override { ++admits; }
  bool accept(JobRecord& /*job*/) override {
    if (while_accepting) while_accepting();
    return refusals == 0 || --refusals == 0;
  }
  void resize(std::uint32_t units) override {
    if (units == 0) throw Error{Errc::bad_options, "none"};
  }
  void stop() override {
    for (const auto& job : std::vector{dispatcher_.jobs()}) all_leave(*job, {Status::cancelled});
  }
  [[nodiscard]] bool starts_overdue() const override { return spare_threads; }
  [[nodiscard]] std::uint32_t startable(const JobRecord& job, std::uint32_t groups) const override {
    if (job.overdue) return groups;
    std::uint32_t busy = 0;
    for (const JobRecord* const each : dispatcher_.jobs_and_running_tasks()) busy += each->inside;
    return std::min(groups, dispatcher_.units() - std::min(dispatcher_.units(), busy));
  }
  void start(JobRecord& job, std::uint32_t groups) override {
    if (fails) throw Error{Errc::out_of_memory, "no room for it"};
    job.inside = groups;
  }
  void publish(JobRecord& job) override {
    EXPECT_FALSE(job.concluding) << "its run is to be left alone";
    if (disobeys) throw Error{Errc::device_lost, "it burns"};
  }
  void refill(JobRecord& job) override {
    if (job.inside < job.share) job.inside += startable(job, job.share - job.inside);
  }
  [[nodiscard]] Census census(const JobRecord& job) const override {
    return {.open = !draining, .over = job.inside == 0};
  }
  std::optional<Ending> ending(JobRecord& /*job*/) override {
    if (concludes) return {};
    return ending_;
  }
  Ending conclude(JobRecord& job) override {
    static_cast<void>(dispatcher_.capacity());  // takes the mutex
    if (while_concluding) while_concluding(job);
    return ending_;
  }
  void trace_gather(JobRecord& job, const TraceGather& gather) override {
    dispatcher_.trace_gather_later(job, gather);
  }
  [[nodiscard]] std::uint32_t blocked(const JobRecord& job) const override {
    return &job == waiting ? job.inside : 0;
  }
  void check_wait(const JobRecord& /*job*/, const char* call, bool /*endless*/) const override {
    Effects::refuse_wait(call);
  }
  void await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline /*deadline*/,
             const std::function<bool()>& done) override {
    lock.unlock();
    if (while_waiting) while_waiting(job);
    lock.lock();
    EXPECT_TRUE(done());
  }

  /// Reports that this many groups of a job have left.
  void leave(JobRecord& job, std::uint32_t groups, Ending ending = {}) {
    const Dispatcher::Locked locked{dispatcher_, "test"};
    ending_ = ending;
    job.inside -= groups;
    dispatcher_.news(job);
    dispatcher_.rebalance();
  }
  void all_leave(JobRecord& job, Ending ending = {}) { leave(job, job.inside, ending); }

  std::uint32_t admits = 0;
  std::uint32_t refusals = 0;  // number of times accept() refuses
  bool fails = false;          // whether the start of a run fails
  bool disobeys = false;       // whether published targets are ignored
  bool draining = false;
  bool spare_threads = false;          // whether it has threads for overdue tasks
  const JobRecord* waiting = nullptr;  // a job whose groups wait for another job
  bool concludes = false;              // whether only conclude() can tell how a run has ended
  std::function<void(JobRecord&)> while_concluding;
  std::function<void(JobRecord&)> while_waiting;
  std::function<void()> while_accepting;

 private:
  Dispatcher& dispatcher_;
  Ending ending_;
};

class JobsLife : public testing::Test {
 protected:
  JobsLife() {
    auto made = std::make_unique<FakeBackend>(*dispatcher);
    backend = made.get();
    dispatcher->open(std::move(made), 4);
  }
  ~JobsLife() override { dispatcher->stop(); }

  std::shared_ptr<JobRecord> launch(std::uint32_t groups, const LaunchOptions& options = {}) {
    return dispatcher->launch(std::make_unique<FakeBody>(groups), options, {}, false);
  }
  std::shared_ptr<JobRecord> submit(std::uint32_t groups, const TaskTerms& terms = {}) {
    auto body = std::make_unique<FakeBody>(groups);
    body->suspendable = false;
    return dispatcher->launch(std::move(body), {.resizable = false}, 0, false, terms);
  }

  /// Submits a task that lends a unit to a tenant.
  std::shared_ptr<JobRecord> lend() {
    auto body = std::make_unique<FakeBody>(1);
    body->suspendable = false;
    body->guest = true;
    return dispatcher->launch(std::move(body), {.resizable = false}, 0, false);
  }

  std::shared_ptr<Dispatcher> dispatcher = std::make_shared<Dispatcher>(nullptr);
  FakeBackend* backend = nullptr;
};

constexpr Ending kept{Status::suspended};

TEST_F(JobsLife, EndsWhenTheLastGroupIsOut) {
  const auto job = launch(3);
  EXPECT_EQ(job->status, Status::running);
  EXPECT_EQ(job->inside, 3U);
  backend->draining = true;
  backend->leave(*job, 2);
  EXPECT_EQ(job->status, Status::running);
  backend->leave(*job, 1);
  EXPECT_EQ(job->status, Status::finished);
  EXPECT_TRUE(dispatcher->jobs().empty());
}

TEST_F(JobsLife, EndsAsItsGroupsSay) {
  using protocol::Fault;
  using protocol::FaultRecord;
  for (const Ending ending : {Ending{Status::left}, Ending{Status::cancelled},
                              Ending{Status::failed, FaultRecord{Fault::lost_group}}}) {
    const auto job = launch(4);
    backend->all_leave(*job, ending);
    EXPECT_EQ(job->status, ending.status);
  }
  const auto job = launch(4);
  backend->all_leave(*job, {Status::failed, FaultRecord{Fault::divergent_group, 2}});
  EXPECT_THAT(job->report().error,
              AllOf(HasSubstr("the threads of group 2"), HasSubstr("before barrier 0"),
                    HasSubstr("cohort::explore"), HasSubstr("cohort check")));
  EXPECT_THROW(job->rethrow(), Error);
}

TEST_F(JobsLife, WaitsForUnits) {
  const auto first = launch(4, {.resizable = false});
  const auto second = launch(2);
  EXPECT_EQ(second->status, Status::pending);
  backend->all_leave(*first);
  EXPECT_EQ(second->status, Status::running);
}

TEST_F(JobsLife, StartsWithTheTargetSetWhileItWaited) {
  const auto first = launch(4, {.resizable = false});
  const auto second = launch(4);
  second->body->may_all_leave = true;
  second->set_target(0);
  backend->all_leave(*first);
  EXPECT_EQ(second->status, Status::pending);
  second->set_target(1);
  EXPECT_EQ(second->status, Status::running);
  EXPECT_EQ(second->report().start_groups, 1U);
}

TEST_F(JobsLife, SharesTheUnits) {
  const auto first = launch(4);
  const auto second = launch(4);
  EXPECT_EQ(first->share, 2U);
  EXPECT_EQ(second->status, Status::pending);
  backend->leave(*first, 2);
  EXPECT_EQ(second->inside, 2U);
  EXPECT_EQ(first->report().gather.count, 1U);
  backend->all_leave(*second);
  EXPECT_EQ(first->inside, 4U);
}

TEST_F(JobsLife, DoesNotCountADemandThatIsWithdrawn) {
  const auto job = launch(4);
  job->set_target(1);
  EXPECT_NE(job->demand_at, 0U);
  job->set_target(4);
  EXPECT_EQ(job->demand_at, 0U);
  EXPECT_EQ(job->report().gather.count, 0U);
}

TEST_F(JobsLife, IsSuspendedAndResumed) {
  const auto job = launch(4);
  backend->while_waiting = [this](JobRecord& its) {
    EXPECT_TRUE(its.suspending);
    EXPECT_EQ(its.share, 0U);
    backend->all_leave(its, kept);
  };
  EXPECT_EQ(job->suspend(), Status::suspended);
  EXPECT_EQ(job->suspend(), Status::suspended);
  job->resume();
  EXPECT_EQ(job->status, Status::running);
  EXPECT_TRUE(job->kept);
  EXPECT_THROW(job->resume(), Error);
  backend->while_waiting = [this](JobRecord& its) { backend->all_leave(its); };
  EXPECT_EQ(job->suspend(), Status::finished) << "its groups returned first";
}

TEST_F(JobsLife, IsSuspendedBeforeItStarts) {
  const auto first = launch(4, {.resizable = false});
  const auto second = launch(2);
  EXPECT_EQ(second->suspend(), Status::suspended);
  backend->all_leave(*first);
  EXPECT_EQ(second->status, Status::suspended);
  second->resume();
  EXPECT_EQ(second->status, Status::running);
  EXPECT_FALSE(second->kept);
}

TEST_F(JobsLife, IsCancelledInEveryState) {
  const auto running = launch(4, {.resizable = false});
  const auto pending = launch(2);
  const auto suspended = launch(2);
  suspended->suspend();
  for (const auto& job : {running, pending, suspended}) job->cancel();
  EXPECT_EQ(pending->status, Status::cancelled);
  EXPECT_EQ(suspended->status, Status::cancelled);
  EXPECT_EQ(running->status, Status::running);
  EXPECT_TRUE(running->cancelled);
  backend->all_leave(*running, {Status::cancelled});
  EXPECT_EQ(running->status, Status::cancelled);
  running->cancel();
  EXPECT_EQ(running->status, Status::cancelled);
}

TEST_F(JobsLife, GivesWayToATask) {
  const auto job = launch(4);
  const auto task = submit(4);
  EXPECT_EQ(task->status, Status::pending);
  EXPECT_TRUE(job->suspending);
  backend->all_leave(*job, kept);
  EXPECT_EQ(job->status, Status::pending);
  EXPECT_EQ(task->status, Status::running);
  EXPECT_EQ(task->report().gather.count, 1U);
  const auto next = submit(4);
  backend->all_leave(*task);
  EXPECT_EQ(job->status, Status::running) << "its turn";
  EXPECT_EQ(next->status, Status::pending);
  backend->all_leave(*job);
  EXPECT_EQ(next->status, Status::running);
  backend->all_leave(*next);
}

TEST_F(JobsLife, LeavesItsUnitsToATaskThoughItsEndIsSeenInASubmit) {
  const auto before = submit(4);
  const auto job = launch(4);
  const auto first = submit(4);
  backend->all_leave(*before);  // then the job starts
  EXPECT_EQ(job->inside, 4U);
  EXPECT_EQ(first->status, Status::pending);
  backend->while_accepting = [&] {
    job->inside = 0;
    dispatcher->news(*job);
  };
  const auto second = submit(4);
  backend->while_accepting = {};
  EXPECT_EQ(job->status, Status::finished);
  EXPECT_EQ(first->status, Status::running);
  EXPECT_EQ(second->status, Status::pending);
  backend->all_leave(*first);
  EXPECT_EQ(second->status, Status::running);
  backend->all_leave(*second);
}

TEST_F(JobsLife, KeepsItsUnitsWhileItsGroupsWaitForAnotherJob) {
  const auto job = launch(1);
  const auto other = launch(3);
  const auto task = submit(4);
  EXPECT_TRUE(job->suspending);
  backend->waiting = job.get();
  backend->all_leave(*other, kept);
  EXPECT_EQ(other->status, Status::running) << "the task can have room only after it";
  EXPECT_EQ(task->status, Status::pending);
  backend->waiting = nullptr;
  backend->all_leave(*job, kept);
  EXPECT_TRUE(other->suspending);
  backend->all_leave(*other, kept);
  EXPECT_EQ(task->status, Status::running);
  backend->all_leave(*task);
}

TEST_F(JobsLife, GivesWayToASmallerCapacity) {
  const auto first = launch(4);
  const auto second = launch(4);
  backend->leave(*first, 2);
  dispatcher->set_capacity(1);
  EXPECT_TRUE(second->suspending) << "the youngest";
  EXPECT_FALSE(first->suspending);
  backend->all_leave(*second, kept);
  EXPECT_EQ(second->status, Status::pending);
  dispatcher->set_capacity(4);
  EXPECT_EQ(second->status, Status::running);
  EXPECT_THROW(dispatcher->set_capacity(0), Error);
  EXPECT_EQ(dispatcher->capacity(), 4U);
}

TEST_F(JobsLife, IsConcludedWithoutTheMutex) {
  backend->concludes = true;
  const auto job = launch(4);
  backend->while_concluding = [](const JobRecord& its) {
    EXPECT_EQ(its.status, Status::running);
    EXPECT_TRUE(its.concluding);
  };
  backend->all_leave(*job);
  EXPECT_EQ(job->status, Status::finished);
}

TEST_F(JobsLife, IsCancelledWhileItIsConcluded) {
  backend->concludes = true;
  const auto job = launch(4);
  const auto task = submit(4);
  backend->while_concluding = [](JobRecord& its) { its.cancel(); };
  backend->all_leave(*job, kept);
  EXPECT_EQ(job->status, Status::cancelled);
  backend->while_concluding = nullptr;
  backend->all_leave(*task);
}

TEST_F(JobsLife, EndsWhereItCannotStart) {
  backend->fails = true;
  const auto job = launch(4);
  EXPECT_EQ(job->status, Status::failed);
  EXPECT_EQ(job->report().error, "no room for it");
  backend->fails = false;
  EXPECT_EQ(launch(4)->status, Status::running);
}

TEST_F(JobsLife, IsAdmittedAgainUntilItIsAccepted) {
  backend->refusals = 3;
  EXPECT_EQ(launch(1)->status, Status::running);
  EXPECT_EQ(backend->admits, 3U);
}

TEST_F(JobsLife, IsRefusedWhereItCouldNeverStart) {
  EXPECT_THROW(launch(5, {.resizable = false}), Error);
  EXPECT_TRUE(dispatcher->jobs().empty());
}

/// Records the job's status at each report of a gather.
struct StatusTracer final : Tracer {
  void record(const TraceEvent& /*event*/) noexcept override {}
  void gathered(const TraceGather& gather) noexcept override {
    groups.push_back(gather.groups);
    seen.push_back(job->report().status);  // takes the mutex
    try {
      job->wait_until({});
    } catch (const Error& error) {
      refused = error.code() == Errc::bad_state;
    }
  }

  std::shared_ptr<JobRecord> job;
  std::vector<std::uint32_t> groups;
  std::vector<Status> seen;
  bool refused = false;
};

TEST_F(JobsLife, TellsItsTracerBeforeItRests) {
  StatusTracer tracer;
  backend->concludes = true;
  const auto job = launch(4, {.tracer = &tracer});
  tracer.job = job;
  job->set_target(1);
  backend->leave(*job, 2);
  EXPECT_TRUE(tracer.groups.empty());
  backend->leave(*job, 2);
  EXPECT_THAT(tracer.groups, ElementsAre(0U));
  EXPECT_THAT(tracer.seen, ElementsAre(Status::running));
  EXPECT_TRUE(tracer.refused);
  EXPECT_EQ(job->status, Status::finished);
  tracer.job = nullptr;
}

TEST_F(JobsLife, LetsGoOfItsKernelWithoutTheMutex) {
  std::uint32_t seen = 0;
  auto body = std::make_unique<FakeBody>(4);
  body->at_end = [&] { seen = dispatcher->capacity(); };
  dispatcher->launch(std::move(body), {}, {}, false);
  backend->all_leave(*dispatcher->jobs().front());
  EXPECT_EQ(seen, 4U);
}

TEST_F(JobsLife, EndsWithTheDevice) {
  StatusTracer tracer;
  const auto job = launch(2);
  const auto traced = launch(2, {.tracer = &tracer});
  const auto task = submit(4);
  {
    const Dispatcher::Locked locked{*dispatcher, "test"};
    dispatcher->lose("it burns");
    EXPECT_EQ(traced->status, Status::running) << "its tracer may be busy";
  }
  for (const auto& each : {job, traced, task}) {
    EXPECT_EQ(each->status, Status::failed);
    EXPECT_EQ(each->report().error, "it burns");
  }
  const std::uint32_t admits = backend->admits;
  EXPECT_THROW(launch(1), Error);
  EXPECT_EQ(backend->admits, admits) << "asked of a device that is lost";
  EXPECT_THROW(dispatcher->set_capacity(2), Error);
}

TEST_F(JobsLife, EndsWithADeviceThatDoesNotObey) {
  for (const bool by_cancel : {true, false}) {
    SCOPED_TRACE(by_cancel);
    const auto engine = std::make_shared<Dispatcher>(nullptr);
    auto made = std::make_unique<FakeBackend>(*engine);
    auto& device = *made;
    engine->open(std::move(made), 4);
    const auto job = engine->launch(std::make_unique<FakeBody>(4), {}, {}, false);
    device.disobeys = true;
    if (by_cancel) {
      EXPECT_NO_THROW(job->cancel()) << "stop tokens call it";
    } else {
      EXPECT_NO_THROW(job->set_target(1));
    }
    EXPECT_EQ(job->status, Status::failed);
    EXPECT_EQ(job->report().error, "it burns");
    engine->stop();
  }
}

TEST_F(JobsLife, EndsWithTheEngine) {
  const auto running = launch(4, {.resizable = false});
  const auto pending = launch(1);
  const auto suspended = launch(1);
  suspended->suspend();
  dispatcher->stop();
  for (const auto& each : {running, pending, suspended}) EXPECT_EQ(each->status, Status::cancelled);
  EXPECT_THROW(launch(1), Error);
}

// ---- Tenants

TEST_F(JobsLife, LendsWhatJobsAndTasksCanSpare) {
  struct Counted final : Lending {
    Counted(Dispatcher& its, int& its_changes) : dispatcher(its), changes(its_changes) {}
    ~Counted() override { EXPECT_FALSE(dispatcher.stopping()) << "it still needs the dispatcher"; }
    void lendable_changed() noexcept override { ++changes; }
    Dispatcher& dispatcher;
    int& changes;
  };
  int changes = 0;
  EXPECT_EQ(dispatcher->lendable(), 4U);
  dispatcher->share(std::make_unique<Counted>(*dispatcher, changes));
  EXPECT_EQ(changes, 1);
  const auto first = launch(4);
  EXPECT_EQ(dispatcher->lendable(), 3U);
  const auto second = launch(4);
  EXPECT_EQ(second->status, Status::pending);
  EXPECT_EQ(dispatcher->lendable(), 2U) << "also a job that has not started";
  const auto task = submit(2);
  EXPECT_EQ(dispatcher->lendable(), 0U) << "also a task that waits";
  backend->leave(*first, 2);
  EXPECT_EQ(task->status, Status::running);
  EXPECT_EQ(dispatcher->lendable(), 0U);
  backend->all_leave(*task);
  EXPECT_EQ(dispatcher->lendable(), 2U);
  EXPECT_EQ(changes, 5);
}

TEST_F(JobsLife, LearnsFromTasksWhileATenantHasAUnit) {
  const auto job = launch(4);
  // Has the effect that tasks are measured from now on.
  EXPECT_EQ(dispatcher->choose_groups("k", 2, {}), 2U);
  const auto unit = lend();
  backend->leave(*job, 1);
  ASSERT_EQ(unit->status, Status::running);
  for (std::uint32_t i = 0; i < scheduler::PreemptionPolicy::trials; ++i) {
    EXPECT_EQ(dispatcher->choose_groups("k", 2, {}), 2U);
    const auto task = submit(2, {.kind = "k"});
    backend->leave(*job, 2);
    ASSERT_EQ(task->status, Status::running);
    backend->all_leave(*task, {Status::finished});
    EXPECT_EQ(job->inside, 3U);
  }
  EXPECT_EQ(dispatcher->choose_groups("k", 2, {}), 1U) << "enough is known of two";
  backend->all_leave(*unit);
}

TEST_F(JobsLife, ThatWaitsDoesNotGoBeforeTasksWhenATenantLeaves) {
  const auto unit = lend();
  const auto first = launch(3, {.resizable = false});
  const auto pending = launch(4, {.resizable = false});
  ASSERT_EQ(pending->status, Status::pending);
  backend->all_leave(*unit);
  EXPECT_FALSE(pending->owed);
  const auto task = submit(1);
  backend->all_leave(*task);
  EXPECT_TRUE(pending->owed);
}

TEST_F(JobsLife, AnOverdueTaskStartsNextToGroupsThatHaveNotLeft) {
  backend->spare_threads = true;
  const auto job = launch(4);
  const auto task = submit(2, {.start_within = std::chrono::nanoseconds{0}});
  EXPECT_EQ(task->status, Status::running);
  EXPECT_EQ(job->inside, 4U);
  EXPECT_EQ(job->share, 2U) << "it still has to give its units";
  backend->leave(*job, 1);
  EXPECT_EQ(job->inside, 3U) << "the unit has a user already";
  backend->all_leave(*task, {Status::finished});
  EXPECT_EQ(job->share, 4U);
  EXPECT_EQ(job->inside, 4U);
}

TEST_F(JobsLife, AnOverdueTaskOvertakesOthersAndSuspendsIfItHasTo) {
  backend->spare_threads = true;
  const auto job = launch(4);
  const auto first = submit(3);
  const auto whole = submit(4, {.start_within = std::chrono::nanoseconds{0}});
  EXPECT_EQ(first->status, Status::pending);
  EXPECT_EQ(whole->status, Status::running);
  EXPECT_TRUE(job->suspending);
  backend->all_leave(*whole, {Status::finished});
  backend->all_leave(*job, kept);
  EXPECT_EQ(first->status, Status::running);
  backend->all_leave(*first, {Status::finished});
}

TEST_F(JobsLife, ATaskThatIsDueStartsBehindOneWithoutRoom) {
  backend->spare_threads = true;
  const auto running = submit(4);
  const auto first = submit(3);
  const auto due = submit(1, {.start_within = std::chrono::nanoseconds{0}});
  EXPECT_EQ(first->status, Status::pending);
  EXPECT_EQ(due->status, Status::running);
  backend->all_leave(*due, {Status::finished});
  backend->all_leave(*running, {Status::finished});
  backend->all_leave(*first, {Status::finished});
}

TEST_F(JobsLife, ATaskThatIsNotDueWaits) {
  backend->spare_threads = true;
  const auto job = launch(4);
  const auto task = submit(1, {.start_within = std::chrono::hours{1}});
  EXPECT_EQ(task->status, Status::pending);
  EXPECT_EQ(dispatcher->next_due(0), *task->due);
  backend->leave(*job, 1);
  EXPECT_EQ(task->status, Status::running);
  EXPECT_FALSE(task->overdue);
  EXPECT_FALSE(dispatcher->next_due(0));
  backend->all_leave(*task, {Status::finished});
}

TEST_F(JobsLife, ABackendWithoutSpareThreadsRefusesATimeToStart) {
  try {
    submit(1, {.start_within = std::chrono::hours{1}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("start_within: this engine cannot start a task before"));
  }
}

}  // namespace
}  // namespace cohort::engine
