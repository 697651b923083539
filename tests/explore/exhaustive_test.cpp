// Every schedule of the small scenarios, and random schedules of the larger ones. If
// COHORT_EXPLORE_TABLE names a file, the table for docs/protocol.md is written there.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>

#include "conformance/scale.hpp"
#include "explore/checks.hpp"
#include "explore/scenarios.hpp"

namespace cohort::test {
namespace {

/// The first columns of a scenario's row in docs/protocol.md.
std::string row_of(const Scenario& scenario) {
  std::ostringstream row;
  row << "| " << scenario << " | " << scenario.units << " (" << scenario.first << " at first) | ";
  return row.str();
}

void explore_all_schedules(const Scenario& scenario) {
  const std::clock_t begun = std::clock();
  const Result result = scenario.run(
      {.search = Search::exhaustive, .schedules = scale() < 1.0 ? scaled(20000) : 2000000});
  EXPECT_TRUE(result.ok) << result;
  if (scale() >= 1.0) {
    EXPECT_TRUE(result.complete) << "gave up after " << result.schedules << " schedules";
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* const file = std::getenv("COHORT_EXPLORE_TABLE"); file != nullptr) {
    std::ofstream{file, std::ios::app} << row_of(scenario) << result.schedules << " | "
                                       << (result.complete ? "all, " : "")
                                       << (result.ok ? "no violation" : "VIOLATION") << " |\n";
  }
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  if (seconds > 1) {
    std::cout << scenario << ", " << scenario.units << " groups: " << result.schedules
              << " schedules in " << seconds << " s\n";
  }
}

void explore_random_schedules(const Scenario& scenario) {
  for (const Search search : {Search::random, Search::pct}) {
    for (const Waiting waiting : {Waiting::polled, Waiting::notified}) {
      const Result result = scenario.run({.search = search,
                                          .schedules = scaled(500),
                                          .visits = 2,
                                          .weak_memory = true,
                                          .waiting = waiting});
      EXPECT_TRUE(result.ok) << result;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Scenario>& its) {
  std::string name;
  for (const char letter : its.param.name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) name += letter;
    if (letter == ' ') name += '_';
  }
  return name + "_" + std::to_string(its.index);
}

class Exhaustive : public testing::TestWithParam<Scenario> {};
TEST_P(Exhaustive, NothingIsWrongInAnySchedule) { explore_all_schedules(GetParam()); }
TEST_P(Exhaustive, NorWithWeakMemory) { explore_random_schedules(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Scenarios, Exhaustive, testing::ValuesIn(scenarios()), &name_of);
INSTANTIATE_TEST_SUITE_P(Fenced, Exhaustive, testing::ValuesIn(fenced_scenarios()), &name_of);

TEST(Page, HasTheScenariosOfThisTest) {
  std::ifstream file{COHORT_TEST_PROTOCOL_PAGE};
  std::vector<std::string> stored;
  for (std::string line; std::getline(file, line);) {
    const std::size_t end = line.find(" at first) | ");
    if (end != std::string::npos) stored.push_back(line.substr(0, end + 13));
  }
  std::vector<std::string> rows;
  for (const auto* list : {&scenarios(), &fenced_scenarios()}) {
    for (const Scenario& scenario : *list) rows.push_back(row_of(scenario));
  }
  EXPECT_EQ(stored, rows) << "scripts/explorer-docs writes the table in docs/protocol.md";
}

class Larger : public testing::TestWithParam<Scenario> {};
TEST_P(Larger, NothingIsWrongInRandomSchedules) { explore_random_schedules(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Scenarios, Larger, testing::ValuesIn(larger_scenarios()), &name_of);
INSTANTIATE_TEST_SUITE_P(Fenced, Larger, testing::ValuesIn(larger_fenced_scenarios()), &name_of);

/// Covers cases that schedules of a few groups cannot reach.
TEST(Checks, OfFunctionsOutsideSchedules) {
  for (const Check& check : checks) EXPECT_EQ(check.run(), "") << check.name;
}

template <class Kernel>
Result explore_resting(std::uint32_t groups, std::uint32_t count, void (*host)(Host&)) {
  return explore_kernel<Kernel, explore::FencedPlatform>({.schedules = 10000,
                                                          .capacity = groups,
                                                          .start_groups = groups,
                                                          .visits = 2,
                                                          .host = host,
                                                          .start = Start::gathered},
                                                         count);
}

/// A group that rests, is claimed, is given back, and is claimed again at once must not continue.
/// This schedule once failed.
TEST(Resting, AGroupThatIsClaimedAgainDoesNotGoOn) {
  const Result result = explore_resting<OffersAndBarriers>(4, 1, &to<1>);
  EXPECT_TRUE(result.ok) << result;
}

/// The count of staying groups changes before the roster, so that a kill and its record are one
/// step.
TEST(Resting, ASuspendOfGroupsOfAnyOrderIsNoFalseAlarm) {
  const Result result = explore_resting<Offers<KillOrder::any>>(3, 2, &suspended<>);
  EXPECT_TRUE(result.ok) << result;
}

}  // namespace
}  // namespace cohort::test
