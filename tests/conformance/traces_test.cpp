// Recorded runs, judged by the oracle: whatever the engine does under random resizing is legal by
// appendix A.
#include <random>

#include "cohort/trace_check.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

COHORT_SITE_SUITE(Traces);

constexpr std::uint32_t groups = 6;

/// How a run is to end.
enum class End : std::uint8_t { stop, cancel };

/// What each resizing barrier made of M is among the things that the modelled one can do. Returns
/// how many barriers changed M.
std::uint32_t expect_modelled(const std::vector<LoggedEvent>& log) {
  std::array<std::vector<Resizing>, groups + 1> modelled;
  for (std::uint32_t before = 1; before <= groups; ++before) {
    modelled[before] = modelled_outcomes(before, groups);
  }
  std::uint32_t resizings = 0;
  std::uint32_t forked = 0;  // by group 0, in the barrier it stands in
  bool in_barrier = false;
  for (const auto& [event, worker] : log) {
    if (event.group == 0 && (event.what == Trace::arrive || event.what == Trace::pass)) {
      in_barrier = event.what == Trace::arrive;
      forked = 0;
    }
    if (event.group == 0 && event.what == Trace::fork && in_barrier) {
      forked = static_cast<std::uint32_t>(event.value);
    }
    if (event.what != Trace::resize || event.active == 0) continue;  // 0: a suspend
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

/// Turns the target at random until so many groups have come and gone; suspends now and then. The
/// job reaches some of the targets: it may be slower than this thread.
void shake(Site& site, const Job& job, std::uint32_t events) {
  std::mt19937 random{1};
  for (std::uint32_t turn = 1;; ++turn) {
    const auto target = 1 + static_cast<std::uint32_t>(random() % groups);
    job.set_target(target);
    if (turn % 8 == 0) site.until([&] { return groups_now(job) == target; });
    if (turn % 32 == 0 && job.suspend() == Status::suspended) job.resume();
    if (turn % 16 == 0) {
      const Report report = job.report();
      if (report.joins + report.leaves >= events) break;
    }
    if (random() % 4 == 0) std::this_thread::yield();
  }
}

/// Runs the kernel under random resizing, with suspends, and hands its log in. Returns how many
/// barriers changed M.
template <class Kernel>
std::uint32_t judge(Site& site, const Kernel& kernel, const Word& stop, std::uint32_t events,
                    End end = End::stop, std::uint32_t local_size = 1) {
  site.restart(groups);
  TraceLog log;
  const ScopedJob job =
      site.launch(kernel, {.max_groups = groups, .local_size = local_size, .tracer = &log});
  shake(site, job, scaled(events, 100));
  end == End::stop ? void(stop = 1) : job.cancel();
  job.reset_target();
  const Report report = job.wait();
  const TraceRules rules = rules_of(Contract<Kernel>::traits, groups);
  EXPECT_EQ(log.dropped(), 0U);
  EXPECT_EQ(check_trace(log.events(), rules, report.status).value_or(""), "");
  EXPECT_EQ(report.status, end == End::stop ? Status::finished : Status::cancelled);
  EXPECT_GT(report.joins, 0U);
  EXPECT_GT(report.leaves, 0U);
  // The oracle is not asleep: the log without one kill, shed or join is illegal.
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
  const Words words{site, Everything::size};
  const Word stop{site};
  const IdBook ids{site};
  judge(site, with(barrier, Everything{words.data(), stop.data(), ids.ids()}), stop, events, end);
}

constexpr std::integral_constant<ResizingBarrier, ResizingBarrier::one_pass> one_pass;

COHORT_SITE_TEST(Traces, OfStepsAreLegalWithEachBarrier) {
  site.needs(site.lacks().complete_traces);
  for_each_barrier<Steps>(site, [&](auto barrier) {
    const BoardBook board{site};
    const Word stop{site};
    const std::uint32_t resizings =
        judge(site, with(barrier, Steps{board.board(), stop.data()}), stop, 400);
    // The modelled one tells of its barriers, forks and kills instead.
    EXPECT_EQ(resizings > 0, barrier != ResizingBarrier::modelled);
  });
}

COHORT_SITE_TEST(Traces, OfGroupsOfSeveralThreadsAreLegal) {
  site.needs(site.lacks().complete_traces);
  const BoardBook board{site};
  const Word stop{site};
  judge(site, Steps{board.board(), stop.data()}, stop, 200, End::stop, 3);
}

COHORT_SITE_TEST(Traces, OfKillsForksAndBarriersMixedAreLegal) {
  site.needs(site.lacks().complete_traces);
  for_each_barrier<Everything>(site, [&](auto barrier) { judge_everything(site, barrier, 400); });
}

COHORT_SITE_TEST(Traces, OfWorkStealingAreLegalInEachKillOrder) {
  site.needs(site.lacks().complete_traces);
  judge_offers<Offering>(site, 400);
  judge_offers<OfferingInAnyOrder>(site, 400);
}

COHORT_SITE_TEST(Traces, OfCancelledJobsAreLegal) {
  site.needs(site.lacks().complete_traces);
  for (std::uint32_t round = 0; round < scaled(10); ++round) {
    judge_everything(site, one_pass, 20, End::cancel);
    judge_offers<OfferingInAnyOrder>(site, 20, End::cancel);
  }
}

COHORT_SITE_TEST(Traces, OfAJobThatAllGroupsLeaveAreLegal) {
  site.needs(site.lacks().complete_traces);
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
    // With a rule that keeps one group, it is not.
    EXPECT_TRUE(check_trace(log.events(), {.max_groups = 4}, report.status).has_value());
  }
}

COHORT_SITE_TEST(Traces, OfAStaticLaunchAreLegal) {
  site.needs(site.lacks().complete_traces);
  TraceLog log;
  const Words words{site, Everything::size};
  const Word stop{site};
  const IdBook ids{site};
  const ScopedJob job = site.launch(Everything{words.data(), stop.data(), ids.ids()},
                                    {.max_groups = 4, .resizable = false, .tracer = &log});
  site.until([&] { return words[Everything::rounds] > 3; });
  stop = 1;
  const Report report = job.wait();
  EXPECT_EQ(check_trace(log.events(), {.max_groups = 4, .start_groups = 4}, report.status),
            std::nullopt);
}

COHORT_SITE_TEST(Traces, BeyondTheLimitAreDropped) {
  site.needs(site.lacks().complete_traces);
  TraceLog log{3};
  const BoardBook board{site};
  const Word stop{site, 1};
  const ScopedJob job =
      site.launch(Steps{board.board(), stop.data()}, {.max_groups = 2, .tracer = &log});
  job.wait();
  EXPECT_EQ(log.events().size(), 3U);
  EXPECT_GT(log.dropped(), 0U);
}

}  // namespace
}  // namespace cohort::test
