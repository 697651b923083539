// What a host learns about a job: reports, and events as they happen.
#include "conformance/kernels/reports.hpp"

#include <map>
#include <thread>

#include "cohort/trace_check.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

// ---- reports

COHORT_SITE_SUITE(Reports);

/// Expects what must be true of a report at any time.
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

/// Expects what must be true of the report of a job that has started.
void expect_consistent(const Report& report, std::uint32_t max_groups) {
  EXPECT_GE(report.start_groups, 1U);
  EXPECT_FALSE(report.sizes.empty());
  EXPECT_GT(report.run_time.count(), 0);
  expect_consistent_so_far(report, max_groups);
}

COHORT_SHAPE_TEST(Reports, CountGroupsThatCameAndWent) {
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
    const Report report = finish(job, words.stop);
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
  site.needs_units(4);
  const ScopedJob job = site.launch(Busy{stop.data(), idle.data()}, {.max_groups = 4});
  site.until([&] { return groups_now(job) == 4; });
  job.set_target(3);
  site.linger(5ms);  // in this time no group offers itself
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

COHORT_SITE_SUITE(Tracing, &Lacks::complete_traces);

/// The number of events of one kind in the log.
std::uint64_t count_of(const TraceLog& log, Trace what) {
  const auto& events = log.events();
  return static_cast<std::uint64_t>(std::count_if(
      events.begin(), events.end(), [what](const auto& each) { return each.event.what == what; }));
}

/// Expects that a log is legal and has as many events as the report says.
void expect_recorded(const TraceLog& log, const TraceRules& rules, const Report& report) {
  EXPECT_EQ(check_trace(log.events(), rules, report.status).value_or(""), "");
  EXPECT_EQ(count_of(log, Trace::start), report.start_groups);
  EXPECT_EQ(count_of(log, Trace::join), report.joins);
  EXPECT_EQ(count_of(log, Trace::kill) + count_of(log, Trace::shed), report.leaves);
  const bool cancelled = report.status == Status::cancelled;
  EXPECT_EQ(count_of(log, cancelled ? Trace::fault : Trace::finish),
            report.start_groups + report.joins - report.leaves);
  EXPECT_EQ(count_of(log, cancelled ? Trace::finish : Trace::fault), 0U);
}

/// Expects that the events of each worker form stays. A stay is ordered by time, begins with start
/// or join, ends with kill, shed or finish, and belongs to one group.
void expect_stays(const TraceLog& log) {
  std::map<std::uint32_t, std::uint64_t> last;    // by worker
  std::map<std::uint32_t, std::uint32_t> inside;  // by worker: its current group, if any
  for (const auto& [event, worker] : log.events()) {
    EXPECT_GE(event.nanoseconds, last[worker]);
    last[worker] = event.nanoseconds;
    const bool begins = event.what == Trace::start || event.what == Trace::join;
    ASSERT_EQ(begins, !inside.contains(worker));
    if (begins) inside[worker] = event.group;
    ASSERT_EQ(event.group, inside[worker]);
    if (event.what == Trace::kill || event.what == Trace::shed || event.what == Trace::finish) {
      inside.erase(worker);
    }
  }
  EXPECT_TRUE(inside.empty());
}

COHORT_BARRIER_TEST(Tracing, SeesEveryStayAndBarrierOfEveryGroup, Steps) {
  TraceLog log;
  const March march{site};
  const auto kernel = with(barrier, march.kernel());
  const Report report = site.run(kernel, shape.options({.tracer = &log}), [&](const Job& job) {
    for (const std::uint32_t target : {1U, shape.groups}) {
      job.set_target(target);
      site.until([&] { return march.groups() == target; });
    }
    march.stop = 1;
  });
  expect_recorded(log, rules_of(Contract<decltype(kernel)>::traits, shape.groups), report);
  expect_stays(log);
  EXPECT_GT(count_of(log, Trace::pass), 0U);
}

COHORT_SHAPE_TEST(Tracing, SeesOffersKillsAndForks) {
  TraceLog log;
  const OfferingWords words{site};
  const LaunchOptions options = shape.options({.tracer = &log});
  const Report report = site.run(words.kernel(), options, [&](const Job& job) {
    for (const std::uint32_t target : {1U, shape.groups, 1U, shape.groups}) {
      job.set_target(target);
      site.until([&] { return groups_now(job) == target; });
    }
    const std::uint32_t turns = words.turns;
    site.until([&] { return words.turns > turns + 5; });
    words.stop = 1;
  });
  expect_recorded(log, {.max_groups = shape.groups}, report);
  expect_stays(log);
  std::uint64_t forked = 0;
  for (const auto& [event, worker] : log.events()) {
    if (event.what == Trace::fork) forked += event.value;
  }
  EXPECT_EQ(forked, report.joins);
  EXPECT_EQ(count_of(log, Trace::kill), report.leaves);
  EXPECT_GT(count_of(log, Trace::offer), 0U);
}

COHORT_BARRIER_TEST(Tracing, SeesTheEndOfEveryGroupThatACancelReaches, Steps) {
  TraceLog log;
  const March march{site};
  const auto kernel = with(barrier, march.kernel());
  const LaunchOptions options = shape.options({.tracer = &log});
  const Report report = site.run_to(Status::cancelled, kernel, options, [&](const Job& job) {
    site.until([&] { return march.steps() > 2; });
    job.cancel();
  });
  expect_recorded(log, rules_of(Contract<decltype(kernel)>::traits, shape.groups), report);
}

}  // namespace
}  // namespace cohort::test
