// Checks that cohortc's output for CUDA compiles. This needs nvcc but no GPU, so it also runs where
// the tests on a device are skipped.
#include <gtest/gtest.h>

#include "program/build.hpp"

namespace cohort {
namespace {

class CudaDialect : public testing::TestWithParam<const char*> {};

TEST_P(CudaDialect, Compiles) {
  const std::string source = std::string{COHORT_TEST_COMPILER} + GetParam();
  // Compiles to unoptimised PTX. The slowest part of nvcc's work is left to the tests on a device.
  EXPECT_NO_THROW(static_cast<void>(
      program::build(source, {.engine = "cuda", .optimise = "-O0", .architecture = "compute_90"})));
}

INSTANTIATE_TEST_SUITE_P(All, CudaDialect,
                         testing::Values("/test/figure4.cl", "/test/programs.cl", "/test/ranges.cl",
                                         "/test/functions.cl", "/apps/octree.cl"));

// Kernels in the style of public suites; takes minutes.
INSTANTIATE_TEST_SUITE_P(Suites, CudaDialect,
                         testing::Values("/test/suites/graphs.cl", "/test/suites/images.cl",
                                         "/test/suites/matrices.cl", "/test/suites/physics.cl",
                                         "/test/suites/scans.cl", "/test/suites/sorts.cl"));

}  // namespace
}  // namespace cohort
