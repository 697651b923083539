// Recorded runs, judged by the trace checker: every run under random resizing must be legal by
// appendix A of the paper.
#include "cohort/trace_check.hpp"
#include "conformance/shake.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

COHORT_SITE_SUITE(Traces, &Lacks::complete_traces);

constexpr std::uint32_t groups = 6;

/// How a run ends.
enum class End : std::uint8_t { stop, cancel };

/// Expects that each resizing barrier changed M in a way that the modelled barrier allows. Returns
/// how many barriers changed M.
std::uint32_t expect_modelled(const std::vector<LoggedEvent>& log) {
  std::array<std::vector<Resizing>, groups + 1> modelled;
  for (std::uint32_t before = 1; before <= groups; ++before) {
    modelled[before] = modelled_outcomes(before, groups);
  }
  std::uint32_t resizings = 0;
  std::uint32_t forked = 0;  // forked by group 0 in its current barrier
  bool in_barrier = false;
  for (const auto& [event, worker] : log) {
    if (event.group == 0 && (event.what == Trace::arrive || event.what == Trace::pass)) {
      in_barrier = event.what == Trace::arrive;
      forked = 0;
    }
    if (event.group == 0 && event.what == Trace::fork && in_barrier) {
      forked = static_cast<std::uint32_t>(event.value);
    }
    if (event.what != Trace::resize || event.active == 0) continue;  // M = 0 means a suspend
    const auto full = static_cast<std::uint32_t>(event.value);
    const std::uint32_t grown = event.active > full ? event.active - full : 0;
    const Resizing resizing{
        .before = full - forked, .after = event.active, .forked = forked + grown};
    const auto& all = modelled.at(resizing.before);
    EXPECT_TRUE(std::binary_search(all.begin(), all.end(), resizing))
        << resizing.before << " + " << resizing.forked << " -> " << resizing.after;
    if (resizing.before != resizing.after) ++resizings;
  }
  return resizings;
}

/// Runs the kernel under random resizing, with suspends, and checks its log. Returns how many
/// barriers changed M.
template <class Kernel>
std::uint32_t judge(Site& site, const Kernel& kernel, const Word& stop, std::uint32_t events,
                    End end = End::stop, std::uint32_t local_size = 1) {
  site.restart(groups);
  TraceLog log;
  const ScopedJob job =
      site.launch(kernel, {.max_groups = groups, .local_size = local_size, .tracer = &log});
  shake(job, groups, scaled(events, 100), {.reaches_some = true});
  end == End::stop ? void(stop = 1) : job.cancel();
  job.reset_target();
  const Report report = job.wait();
  const TraceRules rules = rules_of(Contract<Kernel>::traits, groups);
  EXPECT_EQ(log.dropped(), 0U);
  EXPECT_EQ(check_trace(log.events(), rules, report.status).value_or(""), "");
  EXPECT_EQ(report.status, end == End::stop ? Status::finished : Status::cancelled);
  EXPECT_GT(report.joins, 0U);
  EXPECT_GT(report.leaves, 0U);
  // The checker must notice an omission: without one kill, shed or join, the log is illegal.
  for (const Trace what : {Trace::kill, Trace::shed, Trace::join}) {
    std::vector<LoggedEvent> less = log.events();
    const auto gone = std::find_if(less.begin(), less.end(),
                                   [what](const auto& each) { return each.event.what == what; });
    if (gone == less.end()) continue;
    less.erase(gone);
    EXPECT_TRUE(check_trace(less, rules, report.status).has_value());
  }
  return expect_modelled(log.events());
}

template <class Kernel>
void judge_offers(Site& site, std::uint32_t events, End end = End::stop) {
  const OfferingWords words{site};
  judge(site, words.kernel<Kernel>(), words.stop, events, end);
}

void judge_everything(Site& site, auto barrier, std::uint32_t events, End end = End::stop) {
  const EverythingWords words{site};
  judge(site, with(barrier, words.kernel()), words.stop, events, end);
}

constexpr std::integral_constant<ResizingBarrier, ResizingBarrier::one_pass> one_pass;

COHORT_SITE_TEST(Traces, OfStepsAreLegalWithEachBarrier) {
  for_each_barrier<Steps>(site, [&](auto barrier) {
    const March march{site};
    const std::uint32_t resizings = judge(site, with(barrier, march.kernel()), march.stop, 400);
    // The modelled barrier records its parts instead: barriers, forks and kills.
    EXPECT_EQ(resizings > 0, barrier != ResizingBarrier::modelled);
  });
}

COHORT_SITE_TEST(Traces, OfGroupsOfSeveralThreadsAreLegal) {
  const March march{site};
  judge(site, march.kernel(), march.stop, 200, End::stop, 3);
}

COHORT_SITE_TEST(Traces, OfKillsForksAndBarriersMixedAreLegal) {
  for_each_barrier<Everything>(site, [&](auto barrier) { judge_everything(site, barrier, 400); });
}

COHORT_SITE_TEST(Traces, OfWorkStealingAreLegalInEachKillOrder) {
  judge_offers<Offering>(site, 400);
  judge_offers<OfferingInAnyOrder>(site, 400);
}

COHORT_SITE_TEST(Traces, OfCancelledJobsAreLegal) {
  for (std::uint32_t round = 0; round < scaled(10); ++round) {
    judge_everything(site, one_pass, 20, End::cancel);
    judge_offers<OfferingInAnyOrder>(site, 20, End::cancel);
  }
}

COHORT_SITE_TEST(Traces, OfAJobThatAllGroupsLeaveAreLegal) {
  site.restart(4);
  for (std::uint32_t round = 0; round < scaled(20); ++round) {
    TraceLog log;
    const OfferingWords words{site};
    using Kernel = OfferingMayAllLeave;
    const ScopedJob job = site.launch(words.kernel<Kernel>(), {.max_groups = 4, .tracer = &log});
    job.set_target(0);
    const Report report = job.wait();
    EXPECT_EQ(report.status, Status::left);
    const auto said = check_trace(log.events(), rules_of(Kernel::traits, 4), report.status);
    EXPECT_EQ(said.value_or(""), "");
    // Under a rule that keeps one group, this log is not legal.
    EXPECT_TRUE(check_trace(log.events(), {.max_groups = 4}, report.status).has_value());
  }
}

COHORT_SITE_TEST(Traces, OfAStaticLaunchAreLegal) {
  TraceLog log;
  const EverythingWords words{site};
  const LaunchOptions options{.max_groups = 4, .resizable = false, .tracer = &log};
  const Report report = site.run(words.kernel(), options, [&](const Job&) {
    site.until([&] { return words.rounds() > 3; });
    words.stop = 1;
  });
  EXPECT_EQ(check_trace(log.events(), {.max_groups = 4, .start_groups = 4}, report.status),
            std::nullopt);
}

COHORT_SITE_TEST(Traces, BeyondTheLimitAreDropped) {
  TraceLog log{3};
  const March march{site};
  march.stop = 1;
  site.run(march.kernel(), {.max_groups = 2, .tracer = &log});
  EXPECT_EQ(log.events().size(), 3U);
  EXPECT_GT(log.dropped(), 0U);
}

}  // namespace
}  // namespace cohort::test
