// Samples and their summary.
#include "cohort/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cohort {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

TEST(Samples, OfNothingAreAllZero) {
  const Summary summary = Samples{}.summary();
  EXPECT_EQ(summary.count, 0U);
  EXPECT_EQ(summary.p50, 0U);
  EXPECT_EQ(summary.p99, 0U);
  EXPECT_EQ(summary.max, 0U);
}

TEST(Samples, OfOneAreThatOne) {
  Samples samples;
  samples.add(42);
  const Summary summary = samples.summary();
  EXPECT_EQ(summary.count, 1U);
  EXPECT_EQ(summary.p50, 42U);
  EXPECT_EQ(summary.p99, 42U);
  EXPECT_EQ(summary.max, 42U);
}

TEST(Samples, HaveExactPercentilesWhileAllAreKept) {
  Samples samples;
  for (std::uint64_t i = 1000; i > 0; --i) samples.add(i);  // the order must not matter
  const Summary summary = samples.summary();
  EXPECT_EQ(summary.count, 1000U);
  EXPECT_THAT(summary.p50, AllOf(Ge(500U), Le(501U)));
  EXPECT_THAT(summary.p99, AllOf(Ge(990U), Le(991U)));
  EXPECT_EQ(summary.max, 1000U);
}

TEST(Samples, KeepABoundedUniformSampleOfALongRun) {
  Samples samples;
  constexpr std::uint64_t count = 1'000'000;
  for (std::uint64_t i = 1; i <= count; ++i) samples.add(i);
  EXPECT_EQ(samples.kept().size(), Samples::capacity);
  const Summary summary = samples.summary();
  EXPECT_EQ(summary.count, count);
  EXPECT_EQ(summary.max, count);
  EXPECT_THAT(summary.p50, AllOf(Ge(450'000U), Le(550'000U)));  // six standard deviations
  EXPECT_THAT(summary.p99, AllOf(Ge(980'000U), Le(1'000'000U)));
}

TEST(Samples, KeepTheExactMaximumWhateverTheyKeep) {
  Samples samples;
  samples.add(1'000'000);
  for (std::uint64_t i = 0; i < 100'000; ++i) samples.add(1);
  EXPECT_EQ(samples.summary().max, 1'000'000U);
  EXPECT_EQ(samples.summary().p50, 1U);
}

TEST(Samples, MergeLikeOneRun) {
  Samples low;
  Samples high;
  for (std::uint64_t i = 0; i < 100; ++i) low.add(i);
  for (std::uint64_t i = 100; i < 200; ++i) high.add(i);
  low.merge(high);
  low.merge(Samples{});
  const Summary summary = low.summary();
  EXPECT_EQ(summary.count, 200U);
  EXPECT_EQ(summary.max, 199U);
  EXPECT_THAT(summary.p50, AllOf(Ge(98U), Le(101U)));
  Samples empty;
  empty.merge(low);
  EXPECT_EQ(empty.summary().count, 200U);
  EXPECT_EQ(empty.summary().p50, summary.p50);
}

TEST(Samples, MergeWeighsEachSideByWhatItSawNotByWhatItKept) {
  for (const bool few_first : {true, false}) {
    Samples few;
    Samples many;
    for (std::size_t i = 0; i < Samples::capacity; ++i) few.add(1);
    for (std::size_t i = 0; i < 100 * Samples::capacity; ++i) many.add(1000);
    Samples merged = few_first ? few : many;
    merged.merge(few_first ? many : few);
    EXPECT_EQ(merged.summary().count, 101 * Samples::capacity);
    const auto& kept = merged.kept();
    const auto ones = std::count(kept.begin(), kept.end(), 1U);
    EXPECT_LE(ones, 100) << "about 41 of 4096 are right";
    EXPECT_EQ(merged.summary().p50, 1000U);
  }
}

}  // namespace
}  // namespace cohort
