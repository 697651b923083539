// A fixed set of random kernels; `make fuzz-compiler` makes new ones. Each must compute what its
// generator predicts while groups join and leave.
#include <gtest/gtest.h>
#include <unistd.h>

#include "random/runs.hpp"
#if defined(COHORT_TEST_OPENCL)
#include "random/plain.hpp"
#endif

namespace cohort::test {
namespace {

constexpr bool on_opencl = std::string_view{engine_name} == "opencl";
constexpr std::uint32_t each_file = on_opencl ? 12 : 24;

/// The parameter is the first seed, and chooses the --transmit mode.
class RandomKernels : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomKernels, ComputeTheSameWhileGroupsComeAndGo) {
  const std::filesystem::path at = std::filesystem::path{testing::TempDir()} /
                                   ("random-kernels-" + std::to_string(::getpid()) + ".cl");
  const RandomFile file = random_file(GetParam(), each_file);
  const Program program = compiled(file, at, "-O0");
  std::filesystem::remove(at);
  std::uint64_t joins = 0;
  std::uint64_t leaves = 0;
  for (std::uint32_t i = 0; i < each_file; ++i) {
    const std::uint64_t seed = seed_in_file(GetParam(), i);
    for (std::uint64_t turn = 0; turn < 4; ++turn) {
      const RandomRun result = run(program, file.kernels[i], seed + turn);
      EXPECT_EQ(result.wrong, "") << "seed " << seed << ":\n" << file.kernels[i].text;
      joins += result.joins;
      leaves += result.leaves;
    }
  }
  EXPECT_GT(joins, 0U);
  EXPECT_GT(leaves, 0U);
}

#if defined(COHORT_TEST_OPENCL)
TEST_P(RandomKernels, ComputeTheSameWithoutCohortc) {
  const RandomFile file = random_file(GetParam(), each_file);
  PlainProgram program{file.text()};
  for (const RandomKernel& each : file.kernels)
    EXPECT_EQ(run_plain(program, each), "") << each.text;
}
#endif

INSTANTIATE_TEST_SUITE_P(FromSeed, RandomKernels,
                         testing::ValuesIn(on_opencl ? std::vector<std::uint64_t>{0, 1}
                                                     : std::vector<std::uint64_t>{0, 1, 3}),
                         testing::PrintToStringParamName());

TEST(RandomKernel, LosesTheStatementsThatAreLeftOut) {
  const RandomKernel whole = *random_kernel(6, "k");
  ASSERT_GT(whole.pieces, 10U);
  EXPECT_EQ(random_kernel(6, "k")->text, whole.text) << "the same again";
  std::set<std::uint32_t> all;
  for (std::uint32_t i = 0; i < whole.pieces; ++i) all.insert(i);
  const RandomKernel empty = *random_kernel(6, "k", all);
  EXPECT_LT(empty.text.size(), whole.text.size());
  EXPECT_EQ(empty.points, 0U);
  EXPECT_EQ(empty.items, first_items());
}

}  // namespace
}  // namespace cohort::test
