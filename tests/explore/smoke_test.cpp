#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <chrono>
#include <iostream>

#include "cohort/explore.hpp"

namespace cohort {
namespace {

struct Count {
  std::uint32_t* visits;
  std::uint32_t steps;
  struct State { std::uint32_t step = 0; };
  template <class Group>
  Next step(Group& group, State& state) const {
    if (group.local_id() == 0) group.atomic(visits[state.step]).fetch_add(1);
    ++state.step;
    return state.step < steps ? Next::again : Next::halt;
  }
};

TEST(ResizingBarrier, JoinersEnterAtTheSameStep) {
  for (std::uint32_t seed = 1; seed < 300; ++seed) {
    explore::Engine engine{{.seed = seed, .capacity = 4, .local_size = 2}};
    auto visits = engine.fill<std::uint32_t>(5, 0);
    auto job = engine.launch(Count{visits.data(), 5}, {.max_groups = 4, .start_groups = 1});
    engine.before_step(2, [&] { engine.set_target(job, 4); });
    job.wait();
    EXPECT_THAT(visits.read(), testing::ElementsAre(1, 1, 4, 4, 4)) << engine.replay();
  }
}

struct Mixed {
  std::uint32_t* rounds;
  std::uint32_t wanted;
  struct State { std::uint32_t turn = 0; };
  template <class Group>
  void run(Group group, State state) const {
    while (state.turn < wanted) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      if (group.global_id() == 0) ++group.view(rounds)[0];
      const State next{state.turn + 1};
      if (state.turn % 2 == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      state = next;
    }
  }
};

template <class Make>
void speed(const char* what, Make make, explore::Options options) {
  const auto t0 = std::chrono::steady_clock::now();
  Buffer<std::uint32_t> buffer;
  const auto result = explore::check([&](explore::Engine& engine) {
    buffer = engine.fill<std::uint32_t>(8, 0);
    return make(buffer.data());
  }, [] { return true; }, options);
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
  std::cout << what << ": " << result << "\n  " << static_cast<double>(result.schedules) / s << " schedules/s, " << static_cast<double>(result.steps) / static_cast<double>(result.schedules) << " steps each\n";
  EXPECT_TRUE(result.ok);
}

TEST(Explore, Random) {
  for (bool weak : {false, true}) for (auto w : {explore::Waiting::polled, explore::Waiting::notified}) {
    speed("count", [](std::uint32_t* b) { return Count{b, 4}; }, {.schedules = 20000, .capacity = 4, .weak_memory = weak, .waiting = w});
    speed("mixed", [](std::uint32_t* b) { return Mixed{b, 4}; }, {.schedules = 20000, .capacity = 4, .suspends = 1, .weak_memory = weak, .waiting = w});
  }
  speed("pct", [](std::uint32_t* b) { return Mixed{b, 4}; }, {.search = explore::Search::pct, .schedules = 20000, .capacity = 4, .suspends = 1});
  speed("2 threads", [](std::uint32_t* b) { return Mixed{b, 4}; }, {.schedules = 20000, .capacity = 3, .local_size = 2, .suspends = 1});
}

}  // namespace
}  // namespace cohort
