// How long a waiting group of the CPU engine polls before it sleeps depends on the current
// capacity. The test replaces sched_yield to count the polls.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "cohort/cpu.hpp"
#include "conformance/site.hpp"

namespace {

thread_local bool counted = false;
std::atomic<std::uint32_t> yields{0};

}  // namespace

extern "C" int sched_yield() noexcept {
  if (counted) ++yields;
  return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace cohort::test {
namespace {

/// When released, group 1 waits in a barrier for group 0.
struct LateForBarrier {
  const std::atomic<bool>* go_on;
  const std::atomic<bool>* arrive;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::atomic<bool>& flag = group.group_id() == 0 ? *arrive : *go_on;
    while (!flag) std::this_thread::sleep_for(100us);
    counted = true;
    group.global_barrier();
    counted = false;
  }
};

TEST(Patience, FollowsTheCapacityWhileAJobRuns) {
  constexpr std::uint32_t yields_with_a_cpu_each = 20;
  const std::uint32_t cpus = cpu::usable_cpus();
  if (cpus < 2) GTEST_SKIP() << "needs two CPUs";
  cpu::Engine engine{{.capacity = cpus}};
  std::atomic<bool> go_on{false};
  std::atomic<bool> arrive{false};
  const ScopedJob job =
      engine.launch(LateForBarrier{&go_on, &arrive}, {.max_groups = 2, .resizable = false});
  await([&] { return job.status() == Status::running; });
  engine.set_capacity(cpus + 1);
  go_on = true;
  await([] { return yields > yields_with_a_cpu_each; });
  arrive = true;
  EXPECT_EQ(job.wait().status, Status::finished);
}

}  // namespace
}  // namespace cohort::test
