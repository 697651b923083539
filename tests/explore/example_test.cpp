// The example of docs/explorer.md: a wrong kernel, its report, and the corrected kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "cohort/explore.hpp"

namespace {

struct Queue {
  std::uint32_t* counters;
  std::uint32_t* next;
  struct State {};

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      const std::uint32_t task = group.atomic(next[0]).fetch_add(1);
      if (task >= 6) return;
      if (group.offer(state)) return;
      ++group.view(counters)[task];
    }
  }
};

struct Mended {
  std::uint32_t* counters;
  std::uint32_t* next;
  struct State {};

  template <class Group>
  void run(Group& group, State state) const {
    for (;;) {
      if (group.offer(state)) return;
      const std::uint32_t task = group.atomic(next[0]).fetch_add(1);
      if (task >= 6) return;
      ++group.view(counters)[task];
    }
  }
};

template <class Kernel>
cohort::explore::Result explore_queue() {
  cohort::Buffer<std::uint32_t> counters;
  cohort::Buffer<std::uint32_t> next;
  return cohort::explore::check(
      [&](cohort::explore::Engine& engine) {
        counters = engine.fill<std::uint32_t>(6, 0, "counters");
        next = engine.fill<std::uint32_t>(1, 0, "next");
        return Kernel{counters.data(), next.data()};
      },
      [&] { return counters.read() == std::vector<std::uint32_t>(6, 1); },
      {.capacity = 2, .changes = 1});
}

TEST(Queue, AnOfferBetweenTakingATaskAndDoingItLosesTheTask) {
  const auto result = explore_queue<Queue>();
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.text(), testing::HasSubstr("the result is wrong"));
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* const file = std::getenv("COHORT_EXPLORE_EXAMPLE"); file != nullptr) {
    std::ofstream{file} << result << '\n';
  }
}

TEST(Queue, DoesEveryTaskOnce) {
  const auto result = explore_queue<Mended>();
  EXPECT_TRUE(result.ok) << result;
}

}  // namespace
