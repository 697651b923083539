// Exceptions thrown by kernels of the CPU engine: where the host receives them, and what they leave
// unaffected.
#include <stdexcept>
#include <thread>

#include "cohort/cpu.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

using testing::HasSubstr;

struct Oops : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One thread throws while all others wait for its group in some way.
struct Throwing {
  std::uint32_t group_throwing;
  std::uint32_t thread_throwing;
  bool resizing;

  template <class Group>
  void run(Group& group, Nothing state) const {
    for (int round = 0;; ++round) {
      if (round == 3 && group.group_id() == group_throwing && group.local_id() == thread_throwing) {
        throw Oops{"thrown on purpose"};
      }
      if (resizing) {
        if (group.resizing_global_barrier(state)) return;
      } else {
        group.global_barrier();
      }
    }
  }
};

TEST(Exceptions, ReachWaitWhileTheOthersAreInBarriers) {
  const Site site{EngineKind::cpu};
  cpu::Engine engine{{.capacity = site.capacity()}};
  for_each_barrier_and_shape<Throwing>(site, [&](auto barrier, Shape shape) {
    for (const bool resizing : {false, true}) {
      for (const std::uint32_t group : {0U, shape.groups - 1}) {
        const Throwing kernel{group, shape.local_size - 1, resizing};
        const ScopedJob job = engine.launch(with(barrier, kernel), shape.options());
        EXPECT_THROW(job.wait(), Oops);
        EXPECT_THROW(job.wait_for(1s), Oops);  // again, because the job stays failed
        EXPECT_EQ(job.status(), Status::failed);
        EXPECT_THAT(job.report().error, HasSubstr("thrown on purpose"));
      }
    }
  });
}

/// Throws in one of the places where a kernel may throw.
struct ThrowingIn {
  enum class Place : std::uint8_t { setup, run, operation, after_leaving };
  Place place;

  template <class Group>
  void setup(Group& /*group*/) const {
    if (place == Place::setup) throw Oops{"setup"};
  }
  template <class Group>
  void run(Group& group, Nothing state) const {
    if (place == Place::run) throw 42;  // NOLINT: not a std::exception, on purpose
    if (place == Place::operation) {
      (void)group.reduce(1, [](int, int) -> int { throw Oops{"operation"}; });
    }
    while (!group.offer_kill(state)) std::this_thread::yield();
    if (place == Place::after_leaving) throw Oops{"after leaving"};
  }
};

TEST(Exceptions, MayComeFromAnywhereInAKernel) {
  const Site site{EngineKind::cpu};
  cpu::Engine engine{{.capacity = site.capacity()}};
  using Place = ThrowingIn::Place;
  for_each_shape(site, [&](Shape shape) {
    const LaunchOptions options = shape.options();
    EXPECT_THROW(engine.launch(ThrowingIn{Place::setup}, options).wait(), Oops);
    const ScopedJob odd = engine.launch(ThrowingIn{Place::run}, options);
    EXPECT_THROW(odd.wait(), int);
    EXPECT_THAT(odd.report().error, HasSubstr("the kernel threw an exception in group "));
    if (shape.local_size > 1) {
      EXPECT_THROW(engine.launch(ThrowingIn{Place::operation}, options).wait(), Oops);
    }
    if (shape.groups > 1) {
      const ScopedJob job = engine.launch(ThrowingIn{Place::after_leaving}, options);
      job.set_target(1);
      EXPECT_THROW(job.wait(), Oops);
    }
  });
}

/// Handles its own exceptions, with group barriers inside the handlers.
struct Handling {
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    for (std::uint32_t round = 0; round < 3; ++round) {
      const std::uint32_t mine = group.local_id() * 10 + round;
      try {
        throw mine;  // NOLINT
      } catch (const std::uint32_t& caught) {
        group.barrier();
        if (caught != mine) wrong->fetch_add(1);
        try {
          throw;
        } catch (const std::uint32_t& again) {
          group.barrier();
          if (again != mine) wrong->fetch_add(1);
        }
      }
      if (std::current_exception()) wrong->fetch_add(1);
    }
  }
};

TEST(Exceptions, HandledByOneThreadAreNoBusinessOfTheOthers) {
  cpu::Engine engine{{.capacity = 4}};
  for (const std::uint32_t local_size : {1U, 4U}) {
    std::atomic<std::uint32_t> wrong{0};
    const ScopedJob job =
        engine.launch(Handling{&wrong}, {.max_groups = 4, .local_size = local_size});
    EXPECT_EQ(job.wait().status, Status::finished);
    EXPECT_EQ(wrong, 0U);
  }
}

TEST(Exceptions, LeaveTheEngineAndOtherJobsAlone) {
  Site site{EngineKind::cpu};
  cpu::Engine engine{{.capacity = site.capacity()}};
  const March march{site};
  const ScopedJob other = engine.launch(march.kernel());
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(engine.launch(Throwing{0, 0, true}, {.max_groups = 4}).wait(), Oops);
  }
  site.until([&] { return march.groups() == site.capacity(); });
  finish(other, march.stop);
}

TEST(Exceptions, AreWhatSuspendFindsToo) {
  cpu::Engine engine{{.capacity = 4}};
  const ScopedJob job = engine.launch(Throwing{0, 0, true}, {.max_groups = 2});
  EXPECT_THROW(job.wait(), Oops);
  EXPECT_EQ(job.suspend(), Status::failed);
  EXPECT_THROW(job.resume(), Error);
}

TEST(Exceptions, StayAfterTheEnginesEnd) {
  std::vector<Job> jobs;
  {
    cpu::Engine engine{{.capacity = 4}};
    jobs.push_back(engine.launch(Throwing{0, 0, false}));
    EXPECT_THROW(jobs[0].wait(), Oops);
  }
  EXPECT_THROW(jobs[0].wait(), Oops);
}

}  // namespace
}  // namespace cohort::test
