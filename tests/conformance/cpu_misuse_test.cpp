// Bad use of the CPU engine: kernels and tasks that call it, forked processes, threads of a group
// that take different paths, and memory that runs out.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "cohort/cpu.hpp"
#include "conformance/kernels/misuse.hpp"
#include "conformance/refused.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

TEST(BadCpuOptions, OfAnEngineAreRefused) {
  expect_error([] { cpu::Engine engine{{.capacity = 0}}; }, Errc::bad_options, "capacity of 0");
  expect_error([] { cpu::Engine engine{{.capacity = max_groups_limit + 1}}; }, Errc::bad_options,
               "1 to 4096");
}

/// A kernel that waits for its own job, or suspends it.
struct WaitsForItself {
  const std::atomic<const Job*>* own;
  bool suspends;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    hold_until(group, [this] { return own->load() != nullptr; });
    if (suspends) own->load()->suspend();
    own->load()->wait();
  }
};

TEST(BadCpuCalls, AGroupWaitsForItsOwnJob) {
  cpu::Engine engine{{.capacity = 2}};
  for (const bool suspends : {false, true}) {
    std::atomic<const Job*> own{nullptr};
    const ScopedJob job = engine.launch(WaitsForItself{&own, suspends}, {.max_groups = 1});
    own = &job;
    EXPECT_EQ(refused([&] { job.wait(); }), Errc::bad_state);
  }
}

TEST(BadCpuCalls, ATaskWaitsForATaskThatNeedsItsUnit) {
  cpu::Engine engine{{.capacity = 1}};
  const auto with_subtask = [&engine](std::uint32_t groups) {
    return engine.submit([&engine, groups] { engine.submit([] {}, {.groups = groups}).wait(); });
  };
  EXPECT_EQ(refused([&] { with_subtask(1).wait(); }), Errc::bad_state);
  engine.set_capacity(2);
  EXPECT_EQ(with_subtask(1).wait().status, Status::finished);
  EXPECT_EQ(refused([&] { with_subtask(2).wait(); }), Errc::bad_state);
}

TEST(BadCpuCalls, TasksWaitForTasksThatNeedTheirUnits) {
  cpu::Engine engine{{.capacity = 2}};
  std::atomic<std::uint32_t> started{0};
  const auto task = [&] {
    ++started;
    while (started != 2) std::this_thread::yield();
    engine.submit([] {}).wait();
  };
  const Task tasks[] = {engine.submit(task), engine.submit(task)};
  int failures = 0;
  for (const Task& each : tasks) {
    failures += refused([&] { each.wait(); }) == Errc::bad_state ? 1 : 0;
  }
  EXPECT_EQ(failures, 1) << "the unit of the first one serves the other";
}

/// A task that submits a task of its own kind, and waits for it.
struct Nesting {
  cpu::Engine* engine;
  std::uint32_t depth;

  void operator()() const {
    if (depth > 1) engine->submit(Nesting{engine, depth - 1}).wait();
  }
};

TEST(BadCpuCalls, TasksWaitForTasksThatWait) {
  cpu::Engine engine{{.capacity = 3}};
  EXPECT_EQ(engine.submit(Nesting{&engine, 3}).wait().status, Status::finished);
  EXPECT_EQ(refused([&] { engine.submit(Nesting{&engine, 4}).wait(); }), Errc::bad_state);
}

TEST(BadCpuCalls, ATaskWaitsThatKeepsTheUnitsOfGroupsThatReturned) {
  cpu::Engine engine{{.capacity = 2}};
  const Task task = engine.submit(
      [&engine](auto& group) {
        if (group.group_id() == 0) engine.submit([] {}).wait();
      },
      {.groups = 2});
  EXPECT_EQ(refused([&] { task.wait(); }), Errc::bad_state);
}

/// A kernel that waits for another job.
struct WaitsForOther {
  const std::atomic<const Job*>* other;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    hold_until(group, [this] { return other->load() != nullptr; });
    other->load()->wait();
  }
};

TEST(BadCpuCalls, TwoJobsWaitForEachOther) {
  cpu::Engine engine{{.capacity = 3}};
  std::atomic<const Job*> jobs[2] = {nullptr, nullptr};
  const ScopedJob first = engine.launch(WaitsForOther{&jobs[1]}, {.max_groups = 1});
  const ScopedJob second = engine.launch(WaitsForOther{&jobs[0]}, {.max_groups = 1});
  jobs[0] = &first;
  jobs[1] = &second;
  EXPECT_EQ(refused([&] { first.wait(); }), Errc::bad_state);
  EXPECT_EQ(refused([&] { second.wait(); }), Errc::bad_state);
}

TEST(BadCpuCalls, AGroupWaitsForAJobBehindAStaticLaunchThatNeedsItsUnit) {
  cpu::Engine engine{{.capacity = 2}};
  std::atomic<const Job*> other{nullptr};
  const ScopedJob job = engine.launch(WaitsForOther{&other}, {.max_groups = 1});
  const ScopedJob fixed = engine.launch(Brief{}, {.max_groups = 2, .resizable = false});
  const ScopedJob behind = engine.launch(Brief{});
  other = &behind;
  EXPECT_EQ(refused([&] { job.wait(); }), Errc::bad_state);
  EXPECT_EQ(fixed.wait().status, Status::finished);
  EXPECT_EQ(behind.wait().status, Status::finished);
}

TEST(BadCpuCalls, AnEngineIsUsedInAForkedChild) {
  if (thread_sanitized) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  auto engine = std::make_unique<cpu::Engine>(cpu::EngineOptions{.capacity = 2});
  std::uint32_t words[4] = {};
  const Job job = engine->launch(Offering{words, words + 1, words + 2, words + 3});
  std::thread waiting{[&job] { job.wait(); }};
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // ends a child process that hangs
    bool right = refused([&] { engine->submit([] {}); }) == Errc::engine_gone;
    right = right && refused([&] { engine->launch(Brief{}); }) == Errc::engine_gone;
    right = right && refused([&] { job.wait(); }) == Errc::engine_gone;
    right = right && refused([&] { job.suspend(); }) == Errc::engine_gone;
    job.cancel();
    engine.reset();
    cpu::Engine another{{.capacity = 1}};
    right = right && another.submit([] {}).wait().status == Status::finished;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::atomic_ref{words[0]}.store(1);
  waiting.join();
  EXPECT_EQ(job.wait().status, Status::finished) << "the parent's job goes on";
}

TEST(BrokenCpuContract, ATornGroupLeavesTheEngineInGoodOrder) {
  cpu::Engine engine{{.capacity = 4}};
  for (std::uint32_t i = 0; i < scaled(50, 10); ++i) {
    const ScopedJob broken =
        engine.launch(TornGroup{TornGroup::Way::early_return, i % 4, 0}, {.local_size = 4});
    EXPECT_THROW(broken.wait(), Error);
    EXPECT_EQ(broken.suspend(), Status::failed);
    EXPECT_EQ(engine.launch(Brief{}, {.local_size = 4}).wait().status, Status::finished);
  }
}

// ---- exhaustion of memory; last, because a failure ends the process

/// Limits the further address space of this process during its lifetime.
class AddressLimit {
 public:
  explicit AddressLimit(std::size_t more) {
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + more;
    ::setrlimit(RLIMIT_AS, &now);
  }
  AddressLimit(const AddressLimit&) = delete;
  AddressLimit& operator=(const AddressLimit&) = delete;
  ~AddressLimit() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST(Exhaustion, NoMemoryForTheThreadsOfAGroupFailsTheJobNotTheProcess) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs all the address space itself";
  cpu::Engine engine{{.capacity = 8}};
  for (const bool resizable : {true, false}) {
    const AddressLimit limit{512UL << 20U};
    const ScopedJob job =
        engine.launch(Brief{}, {.local_size = max_local_size, .resizable = resizable});
    EXPECT_ANY_THROW(job.wait());
    EXPECT_EQ(job.status(), Status::failed);
  }
  EXPECT_EQ(engine.launch(Brief{}).wait().status, Status::finished);
}

}  // namespace
}  // namespace cohort::test
