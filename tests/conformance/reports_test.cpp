// What a host learns of a job: reports, and events as they happen.
#include "conformance/kernels/reports.hpp"

#include <map>
#include <mutex>
#include <thread>

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

// ---- reports

COHORT_SITE_SUITE(Reports);

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

COHORT_SITE_TEST(Reports, CountGroupsThatCameAndWent) {
  for_each_shape(site, [&](Shape shape) {
    const OfferingWords words{site};
    const auto begin = std::chrono::steady_clock::now();
    Report report;
    site.run(words.kernel(), shape.options(), [&](const Job& job) {
      site.until([&] { return groups_now(job) == shape.groups; });
      for (const std::uint32_t target : {1U, shape.groups, 1U}) {
        job.set_target(target);
        site.until([&] { return groups_now(job) == target; });
        const Report so_far = job.report();
        EXPECT_EQ(so_far.status, Status::running);
        if (!site.explored()) expect_consistent(so_far, shape.groups);
      }
      const std::uint32_t turns = words.turns;
      site.until([&] { return words.turns > turns + 5; });
      words.stop = 1;
      report = job.wait();
    });
    EXPECT_EQ(report.sizes.back().groups, 0U);
    EXPECT_EQ(report.start_groups + report.joins - report.leaves, words.returned);
    EXPECT_EQ(report.joins, shape.groups - 1);
    EXPECT_EQ(report.leaves, 2 * (shape.groups - 1));
    EXPECT_EQ(report.error, "");
    if (site.lacks().times != nullptr) return;
    expect_consistent(report, shape.groups);
    EXPECT_LE(report.run_time, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(report.gather.count > 0, shape.groups > 1);
    if (site.lacks().offer_intervals == nullptr) {
      EXPECT_GT(report.offers.count, 0U);
    }
  });
}

COHORT_SITE_TEST(Reports, CountResumedGroupsAsJoins) {
  const OfferingWords words{site};
  const std::uint32_t groups = std::min(site.capacity(), 4U);
  site.run(words.kernel(), {.max_groups = groups}, [&](const Job& job) {
    for (int i = 0; i < 3; ++i) {
      site.until([&] { return groups_now(job) == groups; });
      ASSERT_EQ(job.suspend(), Status::suspended);
      job.resume();
    }
    site.until([&] { return groups_now(job) == groups; });
    words.stop = 1;
    const Report report = job.wait();
    EXPECT_EQ(report.leaves, 3 * groups);
    EXPECT_EQ(report.start_groups + report.joins - report.leaves, words.returned);
  });
}

COHORT_SITE_TEST(Reports, DoNotCountTheTimeOfASuspend) {
  site.needs(site.lacks().times);
  const OfferingWords words{site};
  const ScopedJob job = site.launch(words.kernel());
  ASSERT_EQ(job.suspend(), Status::suspended);
  const auto before = job.report().run_time;
  site.linger(2ms);
  EXPECT_EQ(job.report().run_time, before);
  job.resume();
  words.stop = 1;
  EXPECT_GE(job.wait().run_time, before);
}

COHORT_SITE_TEST(Reports, MeasureGatheringFromTheFirstUnmetDemand) {
  site.needs(site.lacks().times);
  const Word stop{site};
  const Word idle{site};
  const ScopedJob job = site.launch(Busy{stop.data(), idle.data()}, {.max_groups = 4});
  site.until([&] { return groups_now(job) == 4; });
  job.set_target(3);
  site.linger(5ms);  // no group offers yet
  job.set_target(2);
  idle = 1;
  site.until([&] { return job.report().gather.count > 0; });
  EXPECT_GE(job.report().gather.max, 5'000'000U);
  stop = 1;
  job.wait();
}

COHORT_SITE_TEST(Reports, MayBeAskedForAtAnyTime) {
  site.needs(site.lacks().host_threads);
  const March march{site};
  const std::uint32_t groups = std::min(site.capacity(), 8U);
  const ScopedJob job = site.launch(march.kernel(), {.max_groups = groups});
  std::atomic<bool> enough{false};
  std::thread curious{[&] {
    while (!enough) expect_consistent_so_far(job.report(), groups);
  }};
  for (std::uint32_t i = 0; i < scaled(200, 20); ++i) {
    job.set_target(1 + i * 5 % groups);
    if (i % 20 == 19 && job.suspend() == Status::suspended) job.resume();
    std::this_thread::yield();
  }
  enough = true;
  march.stop = 1;
  curious.join();
  EXPECT_EQ(job.wait().status, Status::finished);
}

// ---- the tracer

COHORT_SITE_SUITE(Tracing);

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

/// A march from all groups to one and back, as a tracer sees it.
Report march_traced(Site& site, auto barrier, Shape shape, Journal& journal) {
  const March march{site};
  const ScopedJob job =
      site.launch(with(barrier, march.kernel()), shape.options({.tracer = &journal}));
  for (const std::uint32_t target : {1U, shape.groups}) {
    job.set_target(target);
    site.until([&] { return march.groups() == target; });
  }
  march.stop = 1;
  return job.wait();
}

COHORT_SITE_TEST(Tracing, SeesEveryStayOfEveryGroup) {
  site.needs(site.lacks().complete_traces);
  for_each_barrier_and_shape<Steps>(site, [&](auto barrier, Shape shape) {
    Journal journal;
    const Report report = march_traced(site, barrier, shape, journal);
    expect_stays(journal);
    EXPECT_EQ(journal.of(Trace::start).size(), report.start_groups);
    EXPECT_EQ(journal.of(Trace::join).size(), report.joins);
    EXPECT_EQ(journal.of(Trace::kill).size() + journal.of(Trace::shed).size(), report.leaves);
    EXPECT_EQ(journal.of(Trace::finish).size(), report.start_groups + report.joins - report.leaves);
    EXPECT_TRUE(journal.of(Trace::fault).empty());
  });
}

COHORT_SITE_TEST(Tracing, SeesOneArrivalAndOnePassageForEachBarrier) {
  site.needs(site.lacks().complete_traces);
  constexpr std::integral_constant<ResizingBarrier, ResizingBarrier::one_pass> one_pass;
  for_each_shape(site, [&](Shape shape) {
    Journal journal;
    const Report report = march_traced(site, one_pass, shape, journal);
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

COHORT_SITE_TEST(Tracing, SeesOffersKillsAndForks) {
  site.needs(site.lacks().complete_traces);
  for_each_shape(site, [&](Shape shape) {
    Journal journal;
    const OfferingWords words{site};
    const ScopedJob job = site.launch(words.kernel(), shape.options({.tracer = &journal}));
    for (const std::uint32_t target : {1U, shape.groups, 1U, shape.groups}) {
      job.set_target(target);
      site.until([&] { return groups_now(job) == target; });
    }
    const std::uint32_t turns = words.turns;
    site.until([&] { return words.turns > turns + 5; });
    words.stop = 1;
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

COHORT_SITE_TEST(Tracing, SeesTheEndOfEveryGroupThatACancelReaches) {
  site.needs(site.lacks().complete_traces);
  for_each_barrier_and_shape<Steps>(site, [&](auto barrier, Shape shape) {
    Journal journal;
    const March march{site};
    const ScopedJob job =
        site.launch(with(barrier, march.kernel()), shape.options({.tracer = &journal}));
    site.until([&] { return march.steps() > 2; });
    job.cancel();
    const Report report = job.wait();
    EXPECT_EQ(journal.of(Trace::start).size(), report.start_groups);
    EXPECT_EQ(journal.of(Trace::fault).size(), report.start_groups + report.joins - report.leaves);
  });
}

}  // namespace
}  // namespace cohort::test
