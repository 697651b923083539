// The outer protocol: every schedule of small stories with two and three ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "explore/ranks_scenarios.hpp"

namespace cohort::test {
namespace {

class Ranks : public testing::TestWithParam<RanksStory> {};

TEST_P(Ranks, KeepEveryShardAndMessageInEverySchedule) {
  const explore::Result result = explore_ranks(GetParam());
  EXPECT_TRUE(result.ok) << result;
  EXPECT_TRUE(result.complete);
}

TEST(Placement, GivesEachRankItsShareAndMovesNoMoreThanItMust) { EXPECT_EQ(check_placement(), ""); }

INSTANTIATE_TEST_SUITE_P(Stories, Ranks, testing::ValuesIn(ranks_stories()), [](const auto& each) {
  std::string name = each.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace cohort::test
