// What cohortc writes for CUDA compiles. That needs nvcc and no GPU, so that it is known where the
// tests that run it are skipped.
#include <gtest/gtest.h>

#include "program/build.hpp"

namespace cohort {
namespace {

class CudaDialect : public testing::TestWithParam<const char*> {};

TEST_P(CudaDialect, Compiles) {
  const std::string source = std::string{COHORT_TEST_COMPILER} + GetParam();
  // Compiles to unoptimised PTX: what takes nvcc longest is left to the run on a device.
  EXPECT_NO_THROW(static_cast<void>(
      program::build(source, {.engine = "cuda", .optimise = "-O0", .architecture = "compute_90"})));
}

INSTANTIATE_TEST_SUITE_P(All, CudaDialect,
                         testing::Values("/test/figure4.cl", "/test/programs.cl", "/test/ranges.cl",
                                         "/test/functions.cl", "/apps/octree.cl"));

// Of kernels in the style of public suites, in minutes.
INSTANTIATE_TEST_SUITE_P(Suites, CudaDialect,
                         testing::Values("/test/suites/graphs.cl", "/test/suites/images.cl",
                                         "/test/suites/matrices.cl", "/test/suites/physics.cl",
                                         "/test/suites/scans.cl", "/test/suites/sorts.cl"));

}  // namespace
}  // namespace cohort
