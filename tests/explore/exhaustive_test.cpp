// Every schedule of the small scenarios. With COHORT_EXPLORE_TABLE set to a file, the table for
// docs/protocol.md is written there.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>

#include "explore/checks.hpp"
#include "explore/scenarios.hpp"

namespace cohort::test {
namespace {

/// Seconds of this process's own time: other programs do not count.
double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Of all schedules, in tests that shall be quick.
double scale() {
  const char* const text = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? 1.0 : std::atof(text);             // NOLINT(cert-err34-c)
}

void see_all(const Scenario& scenario, std::string_view platform) {
  const double begun = seconds();
  const Result result = scenario.run(
      {.search = Search::exhaustive,
       .schedules = scale() < 1.0 ? static_cast<std::uint64_t>(20000 * scale()) : 2000000});
  EXPECT_TRUE(result.ok) << result;
  if (scale() >= 1.0) {
    EXPECT_TRUE(result.complete) << "gave up after " << result.schedules << " schedules";
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* const file = std::getenv("COHORT_EXPLORE_TABLE"); file != nullptr) {
    std::ofstream{file, std::ios::app}
        << "| " << scenario.name << platform << " | " << scenario.units << " (" << scenario.first
        << " at first) | " << result.schedules << " | " << (result.complete ? "all, " : "")
        << (result.ok ? "no violation" : "VIOLATION") << " |\n";
  }
  if (seconds() - begun > 1) {
    std::cout << scenario.name << platform << ", " << scenario.units
              << " groups: " << result.schedules << " schedules in " << seconds() - begun << " s\n";
  }
}

void see_some(const Scenario& scenario) {
  for (const Search search : {Search::random, Search::pct}) {
    for (const Waiting waiting : {Waiting::polled, Waiting::notified}) {
      const Result result = scenario.run({.search = search,
                                          .schedules = static_cast<std::uint64_t>(500 * scale()),
                                          .visits = 2,
                                          .weak_memory = true,
                                          .waiting = waiting});
      EXPECT_TRUE(result.ok) << result;
    }
  }
}

template <const std::vector<Scenario>& (*all)()>
std::string name_of(const testing::TestParamInfo<std::size_t>& its) {
  std::string name;
  for (const char letter : all()[its.param].name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      name += letter;
    } else if (letter == ' ') {
      name += '_';
    }
  }
  return name + "_" + std::to_string(its.param);
}

class Exhaustive : public testing::TestWithParam<std::size_t> {};
TEST_P(Exhaustive, NothingIsWrongInAnySchedule) { see_all(scenarios()[GetParam()], ""); }
TEST_P(Exhaustive, NorWithWeakMemory) { see_some(scenarios()[GetParam()]); }
INSTANTIATE_TEST_SUITE_P(Scenarios, Exhaustive, testing::Range<std::size_t>(0, scenarios().size()),
                         &name_of<scenarios>);

class Fenced : public testing::TestWithParam<std::size_t> {};
TEST_P(Fenced, NothingIsWrongInAnySchedule) { see_all(fenced_scenarios()[GetParam()], ", fences"); }
TEST_P(Fenced, NorWithWeakMemory) { see_some(fenced_scenarios()[GetParam()]); }
INSTANTIATE_TEST_SUITE_P(Scenarios, Fenced,
                         testing::Range<std::size_t>(0, fenced_scenarios().size()),
                         &name_of<fenced_scenarios>);

class Larger : public testing::TestWithParam<std::size_t> {};
TEST_P(Larger, NothingIsWrongInRandomSchedules) { see_some(larger_scenarios()[GetParam()]); }
INSTANTIATE_TEST_SUITE_P(Scenarios, Larger,
                         testing::Range<std::size_t>(0, larger_scenarios().size()),
                         &name_of<larger_scenarios>);

class LargerFenced : public testing::TestWithParam<std::size_t> {};
TEST_P(LargerFenced, NothingIsWrongInRandomSchedules) {
  see_some(larger_fenced_scenarios()[GetParam()]);
}
INSTANTIATE_TEST_SUITE_P(Scenarios, LargerFenced,
                         testing::Range<std::size_t>(0, larger_fenced_scenarios().size()),
                         &name_of<larger_fenced_scenarios>);

/// What schedules of few groups cannot reach.
TEST(Checks, OfFunctionsOutsideSchedules) {
  for (const Check& check : checks) EXPECT_EQ(check.run(), "") << check.name;
}

/// A group that rests, is claimed, given back and claimed by the next leaver at once: it must not
/// go on. This schedule was found when it did.
TEST(Resting, AGroupThatIsClaimedAgainDoesNotGoOn) {
  const Result result =
      explore_kernel<OffersAndBarriers, explore::FencedPlatform>({.search = Search::random,
                                                                  .seed = 1,
                                                                  .schedules = 10000,
                                                                  .capacity = 4,
                                                                  .start_groups = 4,
                                                                  .visits = 2,
                                                                  .host = &to_one,
                                                                  .start = Start::gathered},
                                                                 1);
  EXPECT_TRUE(result.ok) << result;
}

/// The count of staying groups changes before the roster, so that a kill and its record are one
/// step.
TEST(Resting, ASuspendOfGroupsOfAnyOrderIsNoFalseAlarm) {
  const Result result =
      explore_kernel<Offers<KillOrder::any>, explore::FencedPlatform>({.search = Search::random,
                                                                       .schedules = 10000,
                                                                       .capacity = 3,
                                                                       .start_groups = 3,
                                                                       .visits = 2,
                                                                       .host = &suspended,
                                                                       .start = Start::gathered},
                                                                      2);
  EXPECT_TRUE(result.ok) << result;
}

}  // namespace
}  // namespace cohort::test
