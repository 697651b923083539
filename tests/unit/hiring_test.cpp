// An engine that cannot be created, or cannot grow, because memory is exhausted.
#include <gtest/gtest.h>

#include <new>

#include "cohort/cpu.hpp"
#include "unit/allocations.hpp"

namespace cohort::test {
namespace {

TEST(Hiring, ThrowsWhereMemoryIsShortAndKeepsWhatItHas) {
  cpu::Engine engine{{.capacity = 1}};
  int failures = 0;
  for (bool failed = true; failed; failures += failed ? 1 : 0) {  // each allocation fails in turn
    try {
      allocations_left = failures;
      engine.set_capacity(4);
      failed = false;
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(engine.capacity(), 1U);
    }
    allocations_left = -1;
  }
  EXPECT_GE(failures, 2);
  EXPECT_EQ(engine.submit([] {}, {.groups = 4}).wait().status, Status::finished);
}

}  // namespace
}  // namespace cohort::test
