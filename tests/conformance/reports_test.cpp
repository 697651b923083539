// What a host learns of a job: reports, and events as they happen.
#include <map>

#include "conformance/jobs.hpp"
#include "conformance/march.hpp"

namespace cohort::test {
namespace {

// ---- reports

template <class Engine>
class Reports : public testing::Test {};
TYPED_TEST_SUITE(Reports, Engines, EngineNames);

/// Offers until told to stop, and counts who returns of his own accord.
struct Returning {
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* returned;
  std::atomic<std::uint32_t>* offered;

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!told(group, *stop)) {
      if (group.offer(state)) return;
      if (leader(group) && group.group_id() == 0) offered->fetch_add(1);
      std::this_thread::yield();
    }
    if (leader(group)) returned->fetch_add(1);
  }
};

/// What holds of a report at any time.
void expect_consistent_so_far(const Report& report, std::uint32_t max_groups) {
  EXPECT_LE(report.start_groups, max_groups);
  for (std::size_t i = 1; i < report.sizes.size(); ++i) {
    EXPECT_GE(report.sizes[i].nanoseconds, report.sizes[i - 1].nanoseconds);
  }
  for (const Report::Size& size : report.sizes) EXPECT_LE(size.groups, max_groups);
  for (const Summary& summary : {report.gather, report.offers}) {
    EXPECT_LE(summary.p50, summary.p99);
    EXPECT_LE(summary.p99, summary.max);
  }
}

/// What holds of the report of a job that has started.
void expect_consistent(const Report& report, std::uint32_t max_groups) {
  EXPECT_GE(report.start_groups, 1U);
  EXPECT_FALSE(report.sizes.empty());
  EXPECT_GT(report.run_time.count(), 0);
  expect_consistent_so_far(report, max_groups);
}

TYPED_TEST(Reports, CountGroupsThatCameAndWent) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> returned{0};
    std::atomic<std::uint32_t> offered{0};
    const auto begin = std::chrono::steady_clock::now();
    const ScopedJob job =
        engine.launch(Returning{&stop, &returned, &offered},
                      {.max_groups = shape.groups, .local_size = shape.local_size});
    ASSERT_TRUE(eventually([&] { return groups_now(job) == shape.groups; }));
    for (const std::uint32_t target : {1U, shape.groups, 1U}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return groups_now(job) == target; }));
      const Report report = job.report();
      EXPECT_EQ(report.status, Status::running);
      expect_consistent(report, shape.groups);
    }
    ASSERT_TRUE(eventually([&] { return offered > 5; }));
    stop = true;
    const Report report = job.wait();
    expect_consistent(report, shape.groups);
    EXPECT_LE(report.run_time, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(report.sizes.back().groups, 0U);
    EXPECT_EQ(report.start_groups + report.joins - report.leaves, returned);
    EXPECT_EQ(report.joins, shape.groups - 1);
    EXPECT_EQ(report.leaves, 2 * (shape.groups - 1));
    EXPECT_EQ(report.gather.count > 0, shape.groups > 1);
    EXPECT_GT(report.offers.count, 0U);
    EXPECT_EQ(report.error, "");
  });
}

TYPED_TEST(Reports, CountResumedGroupsAsJoins) {
  TypeParam engine{{.capacity = capacity}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> returned{0};
  std::atomic<std::uint32_t> offered{0};
  const ScopedJob job = engine.launch(Returning{&stop, &returned, &offered}, {.max_groups = 4});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] { return groups_now(job) == 4; }));
    ASSERT_EQ(job.suspend(), Status::suspended);
    job.resume();
  }
  ASSERT_TRUE(eventually([&] { return groups_now(job) == 4; }));
  stop = true;
  const Report report = job.wait();
  EXPECT_EQ(report.leaves, 12U);
  EXPECT_EQ(report.start_groups + report.joins - report.leaves, returned);
}

TYPED_TEST(Reports, DoNotCountTheTimeOfASuspend) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> returned{0};
  std::atomic<std::uint32_t> offered{0};
  const ScopedJob job = engine.launch(Returning{&stop, &returned, &offered});
  ASSERT_EQ(job.suspend(), Status::suspended);
  const auto before = job.report().run_time;
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(job.report().run_time, before);
  job.resume();
  stop = true;
  EXPECT_GE(job.wait().run_time, before);
}

/// Does not offer itself while it is busy.
struct Busy {
  const std::atomic<bool>* stop;
  const std::atomic<bool>* busy;

  template <class Group>
  void run(Group& group, Nothing state) const {
    hold_until([&] { return !busy->load(); });
    while (!stop->load()) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

TYPED_TEST(Reports, MeasureGatheringFromTheFirstUnmetDemand) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  std::atomic<bool> busy{true};
  const ScopedJob job = engine.launch(Busy{&stop, &busy}, {.max_groups = 4});
  job.set_target(3);
  std::this_thread::sleep_for(5ms);  // nobody offers yet
  job.set_target(2);
  busy = false;
  EXPECT_TRUE(eventually([&] { return job.report().gather.count > 0; }));
  EXPECT_GE(job.report().gather.max, 5'000'000U);
  stop = true;
  job.wait();
}

TYPED_TEST(Reports, MayBeAskedForAtAnyTime) {
  TypeParam engine{{.capacity = capacity}};
  Board board;
  std::atomic<bool> stop{false};
  const ScopedJob job = engine.launch(Steps{&board, &stop}, {.max_groups = 8});
  std::thread curious{[&] {
    while (!stop) expect_consistent_so_far(job.report(), 8);
  }};
  for (std::uint32_t i = 0; i < scaled(200, 20); ++i) {
    job.set_target(1 + i * 5 % 8);
    if (i % 20 == 19 && job.suspend() == Status::suspended) job.resume();
    std::this_thread::yield();
  }
  stop = true;
  curious.join();
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(board.wrong, 0U);
}

// ---- the tracer

template <class Engine>
class Tracing : public testing::Test {};
TYPED_TEST_SUITE(Tracing, Engines, EngineNames);

/// Calls the engine whenever it hears of a demand that was met.
template <class Engine>
class Calling : public Tracer {
 public:
  explicit Calling(Engine& engine) : engine_(&engine) {}
  void record(const TraceEvent& /*event*/) noexcept override {}
  void gathered(const TraceGather& /*gather*/) noexcept override {
    engine_->submit([] {}).wait();
    engine_->set_capacity(engine_->capacity());
    if (const Job* const job = own.load()) {
      EXPECT_EQ(job->status(), Status::running);
      try {
        job->wait();
      } catch (const Error& error) {
        refused += error.code() == Errc::bad_state ? 1 : 0;
      }
    }
    ++calls;
  }
  std::atomic<const Job*> own{nullptr};
  std::atomic<std::uint32_t> calls{0};
  std::atomic<std::uint32_t> refused{0};

 private:
  Engine* engine_;
};

TYPED_TEST(Tracing, MayCallTheEngineButNotWaitForItsOwnJob) {
  TypeParam engine{{.capacity = 4}};
  Calling<TypeParam> calling{engine};
  engine.submit([] {}, {.groups = 2, .tracer = &calling}).wait();
  EXPECT_EQ(calling.calls, 1U);
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> present{0};
  const ScopedJob job =
      engine.launch(Offering{&stop, &present}, {.max_groups = 3, .tracer = &calling});
  ASSERT_TRUE(eventually([&] { return present == 3; }));
  calling.own = &job;
  job.set_target(1);
  EXPECT_TRUE(eventually([&] { return calling.calls > 1; }));
  EXPECT_GE(calling.refused, 1U);
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
}

/// An exception that asks its engine for a number.
template <class Engine>
struct Asking : std::exception {
  Engine* engine;
  explicit Asking(Engine* with) : engine(with) {}
  [[nodiscard]] const char* what() const noexcept override {
    return engine->capacity() == 1 ? "one unit" : "other";
  }
};

TYPED_TEST(Reports, OfAFailureMayCallTheEngineForItsText) {
  TypeParam engine{{.capacity = 1}};
  const Task task = engine.submit([&] { throw Asking<TypeParam>{&engine}; });
  EXPECT_THROW(task.wait(), Asking<TypeParam>);
  EXPECT_THAT(task.report().error, testing::HasSubstr("one unit"));
}

/// Keeps all events, in order, for each thread that reports them.
class Journal : public Tracer {
 public:
  void record(const TraceEvent& event) noexcept override {
    const std::lock_guard lock{mutex_};
    events_[std::this_thread::get_id()].push_back(event);
  }
  [[nodiscard]] const auto& by_thread() const { return events_; }
  [[nodiscard]] std::vector<TraceEvent> of(Trace what) const {
    std::vector<TraceEvent> result;
    for (const auto& [thread, events] : events_) {
      for (const TraceEvent& event : events) {
        if (event.what == what) result.push_back(event);
      }
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.nanoseconds < b.nanoseconds; });
    return result;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<TraceEvent>> events_;
};

/// A unit's events are stays: each begins with start or join, ends with kill, shed or finish, and
/// is of one group.
void expect_stays(const Journal& journal) {
  for (const auto& [thread, events] : journal.by_thread()) {
    bool inside = false;
    std::uint32_t id = 0;
    std::uint64_t last = 0;
    for (const TraceEvent& event : events) {
      EXPECT_GE(event.nanoseconds, last);
      last = event.nanoseconds;
      const bool begins = event.what == Trace::start || event.what == Trace::join;
      ASSERT_EQ(begins, !inside);
      if (begins) id = event.group;
      inside = true;
      ASSERT_EQ(event.group, id);
      if (event.what == Trace::kill || event.what == Trace::shed || event.what == Trace::finish) {
        inside = false;
      }
    }
    EXPECT_FALSE(inside);
  }
}

TYPED_TEST(Tracing, SeesEveryStayOfEveryGroup) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Journal journal;
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    for (const std::uint32_t target : {1U, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return board.groups == target; }));
    }
    stop = true;
    const Report report = job.wait();
    expect_stays(journal);
    EXPECT_EQ(journal.of(Trace::start).size(), report.start_groups);
    EXPECT_EQ(journal.of(Trace::join).size(), report.joins);
    EXPECT_EQ(journal.of(Trace::kill).size() + journal.of(Trace::shed).size(), report.leaves);
    EXPECT_EQ(journal.of(Trace::finish).size(), report.start_groups + report.joins - report.leaves);
    EXPECT_TRUE(journal.of(Trace::fault).empty());
  });
}

TYPED_TEST(Tracing, SeesOneArrivalAndOnePassageForEachBarrier) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Journal journal;
    Board board;
    std::atomic<bool> stop{false};
    const ScopedJob job = engine.launch(
        Steps{&board, &stop},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    for (const std::uint32_t target : {1U, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return board.groups == target; }));
    }
    stop = true;
    const Report report = job.wait();
    for (const auto& [thread, events] : journal.by_thread()) {
      std::uint64_t arrived = ~std::uint64_t{0};  // the generation, while in a barrier
      for (const TraceEvent& event : events) {
        if (event.what == Trace::arrive) {
          EXPECT_EQ(arrived, ~std::uint64_t{0});
          arrived = event.value;
        } else if (event.what == Trace::pass) {
          EXPECT_EQ(event.value, arrived + 1);
          arrived = ~std::uint64_t{0};
        } else if (event.what == Trace::shed) {
          EXPECT_NE(arrived, ~std::uint64_t{0});
          arrived = ~std::uint64_t{0};
        }
      }
      EXPECT_EQ(arrived, ~std::uint64_t{0});
    }
    // The releases that change M are a chain from the first M to the last.
    std::uint64_t groups = report.start_groups;
    for (const TraceEvent& event : journal.of(Trace::resize)) {
      EXPECT_EQ(event.value, groups);
      groups = event.active;
    }
    EXPECT_EQ(groups, report.start_groups + report.joins - report.leaves);
  });
}

TYPED_TEST(Tracing, SeesOffersKillsAndForks) {
  TypeParam engine{{.capacity = capacity}};
  for_each_shape([&](Shape shape) {
    Journal journal;
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> returned{0};
    std::atomic<std::uint32_t> offered{0};
    const ScopedJob job = engine.launch(
        Returning{&stop, &returned, &offered},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    for (const std::uint32_t target : {1U, shape.groups, 1U, shape.groups}) {
      job.set_target(target);
      ASSERT_TRUE(eventually([&] { return groups_now(job) == target; }));
    }
    ASSERT_TRUE(eventually([&] { return offered > 5; }));
    stop = true;
    const Report report = job.wait();
    expect_stays(journal);
    std::uint64_t forked = 0;
    for (const TraceEvent& event : journal.of(Trace::fork)) forked += event.value;
    EXPECT_EQ(forked, report.joins);
    EXPECT_EQ(journal.of(Trace::kill).size(), report.leaves);
    for (const TraceEvent& event : journal.of(Trace::kill)) {
      EXPECT_EQ(event.group, event.active);  // the highest id has gone
    }
    EXPECT_FALSE(journal.of(Trace::offer).empty());
  });
}

TYPED_TEST(Tracing, SeesTheEndOfEveryGroupThatACancelReaches) {
  TypeParam engine{{.capacity = capacity}};
  for_each_barrier_and_shape([&]<ResizingBarrier barrier>(Shape shape) {
    Journal journal;
    Board board;
    std::atomic<bool> stop{false};
    using Kernel = With<Steps, Traits{.barrier = barrier}>;
    const ScopedJob job = engine.launch(
        Kernel{{&board, &stop}},
        {.max_groups = shape.groups, .local_size = shape.local_size, .tracer = &journal});
    ASSERT_TRUE(eventually([&] { return board.steps > 2; }));
    job.cancel();
    const Report report = job.wait();
    EXPECT_EQ(journal.of(Trace::start).size(), report.start_groups);
    EXPECT_EQ(journal.of(Trace::fault).size(), report.start_groups + report.joins - report.leaves);
  });
}

}  // namespace
}  // namespace cohort::test
