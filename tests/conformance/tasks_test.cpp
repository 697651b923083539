// Tasks beside jobs: what submit promises, and that the machine is never given out twice.
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cohort/periodic.hpp"
#include "support.hpp"

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

/// How many units are in use, over all kernels and tasks of an engine.
struct Monitor {
  std::atomic<std::uint32_t> busy{0};
  std::atomic<std::uint32_t> most{0};

  void enter() {
    const std::uint32_t now = busy.fetch_add(1) + 1;
    std::uint32_t seen = most.load();
    while (seen < now && !most.compare_exchange_weak(seen, now)) {
    }
  }
  void exit() { busy.fetch_sub(1); }
};

/// Steps until told to stop; each item is touched once a step.
struct Background {
  std::uint32_t* items;
  std::uint32_t count;
  const std::atomic<bool>* stop;
  Monitor* monitor;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  Next step(Group group, State& state) const {
    monitor->enter();
    for (auto i : group.stride(count)) ++items[i];
    monitor->exit();
    ++state.step;
    return stop->load() ? Next::halt : Next::again;
  }
};

/// Offers all the time, but cannot be suspended.
struct Stubborn {
  static constexpr Traits traits{.suspendable = false};
  const std::atomic<bool>* stop;
  struct State {
    int unused = 0;
  };

  template <class Group>
  void run(Group group, State state) const {
    while (!stop->load()) {
      if (group.offer_kill()) return;
      group.request_fork(state);
      std::this_thread::yield();
    }
  }
};

/// M, as the job's report has it.
std::uint32_t groups_of(const Job& job) {
  const Report report = job.report();
  return report.sizes.empty() ? 0 : report.sizes.back().groups;
}

template <class Engine>
class Tasks : public testing::Test {};
TYPED_TEST_SUITE(Tasks, Engines, EngineNames);

TYPED_TEST(Tasks, RunOnceForEachGroup) {
  TypeParam engine{{.capacity = 8}};
  for (std::uint32_t groups = 1; groups <= 8; ++groups) {
    std::mutex mutex;
    std::multiset<std::uint32_t> ids;
    const Task task = engine.submit(
        [&](auto& group) {
          EXPECT_EQ(group.num_groups(), groups);
          const std::lock_guard lock{mutex};
          ids.insert(group.group_id());
        },
        {.groups = groups});
    EXPECT_EQ(task.wait().status, Status::finished);
    EXPECT_EQ(ids.size(), groups);
    EXPECT_EQ(std::set<std::uint32_t>(ids.begin(), ids.end()).size(), groups);
  }
}

TYPED_TEST(Tasks, HaveAllTheirGroupsAtOnce) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  Monitor monitor;
  std::vector<std::uint32_t> items(64);
  const Job job = engine.launch(Background{items.data(), 64, &stop, &monitor});
  for (int i = 0; i < 50; ++i) {
    const Task task = engine.submit([](auto& group) { group.global_barrier(); }, {.groups = 3});
    const TaskReport report = task.wait();
    EXPECT_EQ(report.status, Status::finished);
    EXPECT_GT(report.gather, 0ns);
  }
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  for (const std::uint32_t each : items) EXPECT_EQ(each, items[0]);
}

TYPED_TEST(Tasks, OfTheWholeMachineSuspendTheJobAndGiveItBack) {
  TypeParam engine{{.capacity = 3}};
  std::atomic<bool> stop{false};
  Monitor monitor;
  std::vector<std::uint32_t> items(64);
  const Job job = engine.launch(Background{items.data(), 64, &stop, &monitor});
  for (int i = 0; i < 20; ++i) {
    std::atomic<std::uint32_t> others{0};
    const Task task = engine.submit([&](auto&) { others += monitor.busy; }, {.groups = 3});
    EXPECT_EQ(task.wait().status, Status::finished);
    EXPECT_EQ(others, 0U) << "the job ran beside a task that had the whole machine";
  }
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
  for (const std::uint32_t each : items) EXPECT_EQ(each, items[0]);
}

TYPED_TEST(Tasks, OfTheWholeMachineWaitForAJobThatCannotBeSuspended) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<bool> stop{false};
  const Job job = engine.launch(Stubborn{&stop});
  const Task task = engine.submit([] {}, {.groups = 2});
  EXPECT_FALSE(task.wait_for(50ms).has_value());
  stop = true;
  EXPECT_EQ(task.wait().status, Status::finished);
  EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(Tasks, OfHigherPriorityGoFirst) {
  TypeParam engine{{.capacity = 1}};
  std::atomic<bool> go{false};
  std::vector<int> order;
  const Task blocker = engine.submit([&] {
    while (!go) std::this_thread::yield();
  });
  std::vector<Task> tasks;
  for (const int priority : {0, 2, 1, 2, 0}) {
    tasks.push_back(
        engine.submit([&order, priority] { order.push_back(priority); }, {.priority = priority}));
  }
  go = true;
  for (const Task& task : tasks) task.wait();
  EXPECT_THAT(order, testing::ElementsAre(2, 2, 1, 0, 0));
}

TYPED_TEST(Tasks, ThatThrowReportItAndGiveTheirUnitsBack) {
  TypeParam engine{{.capacity = 2}};
  for (int i = 0; i < 20; ++i) {
    const Task task = engine.submit(
        [](auto& group) {
          if (group.group_id() == 1) throw std::runtime_error("broken frame");
          group.global_barrier();  // the other one is never coming
        },
        {.groups = 2});
    EXPECT_THROW(task.wait(), std::runtime_error);
    EXPECT_EQ(task.report().status, Status::failed);
    EXPECT_NE(task.report().error.find("broken frame"), std::string::npos);
  }
  EXPECT_EQ(engine.submit([] {}, {.groups = 2}).wait().status, Status::finished);
}

TYPED_TEST(Tasks, CanBeWithdrawn) {
  TypeParam engine{{.capacity = 1}};
  std::atomic<bool> go{false};
  const Task blocker = engine.submit([&] {
    while (!go) std::this_thread::yield();
  });
  std::atomic<bool> ran{false};
  std::stop_source stop;
  const Task by_call = engine.submit([&] { ran = true; });
  const Task by_token = engine.submit([&] { ran = true; }, {.stop = stop.get_token()});
  by_call.cancel();
  stop.request_stop();
  EXPECT_EQ(by_call.wait().status, Status::cancelled);
  EXPECT_EQ(by_token.wait().status, Status::cancelled);
  go = true;
  EXPECT_EQ(blocker.wait().status, Status::finished);
  EXPECT_FALSE(ran);
}

TYPED_TEST(Tasks, ThatCanNeverRunAreRefused) {
  TypeParam engine{{.capacity = 2}};
  EXPECT_THROW(engine.submit([] {}, {.groups = 0}), Error);
  EXPECT_THROW(engine.submit([] {}, {.groups = 3}), Error);
  EXPECT_THROW(engine.submit([] {}, {.local_size = 0}), Error);
}

TYPED_TEST(Tasks, OfManyHostsBesideThreeJobsAreAllServed) {
  constexpr std::uint32_t units = 6;
  TypeParam engine{{.capacity = units}};
  std::atomic<bool> stop{false};
  Monitor monitor;
  std::vector<std::vector<std::uint32_t>> items(3, std::vector<std::uint32_t>(64));
  std::vector<Job> jobs;
  jobs.reserve(items.size());
  for (auto& each : items) {
    jobs.push_back(engine.launch(Background{each.data(), 64, &stop, &monitor}));
  }
  const std::uint32_t each_host = scaled(800, 50);
  std::atomic<std::uint64_t> served{0};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> hosts;
  for (std::uint32_t host = 0; host < 4; ++host) {
    hosts.emplace_back([&, host] {
      std::mt19937 random{host};
      for (std::uint32_t i = 0; i < each_host; ++i) {
        const auto groups = static_cast<std::uint32_t>(1 + random() % (units - 3));
        std::atomic<std::uint32_t> calls{0};
        const Task task = engine.submit(
            [&](auto& group) {
              monitor.enter();
              calls += group.group_id() + 1;
              monitor.exit();
            },
            {.groups = groups, .priority = static_cast<int>(random() % 3)});
        if (task.wait().status == Status::finished && calls == groups * (groups + 1) / 2) ++served;
        sum += groups;
      }
    });
  }
  for (auto& host : hosts) host.join();
  stop = true;
  for (const Job& job : jobs) EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(served, std::uint64_t{each_host} * 4);
  EXPECT_LE(monitor.most, units);
  EXPECT_EQ(monitor.busy, 0U);
  for (const auto& all : items) {
    EXPECT_GT(all[0], 0U);
    for (const std::uint32_t each : all) EXPECT_EQ(each, all[0]);
  }
}

TYPED_TEST(Tasks, ThatFillTheMachineDoNotStarveAJob) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<bool> stop{false};
  std::atomic<bool> enough{false};
  Monitor monitor;
  std::vector<std::uint32_t> items(8);
  std::vector<std::thread> hosts;
  hosts.reserve(2);
  for (int host = 0; host < 2; ++host) {
    hosts.emplace_back([&] {
      while (!enough) engine.submit([] {}, {.groups = 2}).wait();
    });
  }
  const Job job = engine.launch(Background{items.data(), 8, &stop, &monitor});
  std::this_thread::sleep_for(100ms);
  stop = true;
  EXPECT_TRUE(job.wait_for(long_enough).has_value()) << "starved";
  enough = true;
  for (auto& host : hosts) host.join();
}

TYPED_TEST(Tasks, GetMoreOrLessOfTheMachineByItsCapacity) {
  TypeParam engine{{.capacity = 4}};
  std::atomic<bool> stop{false};
  Monitor monitor;
  std::vector<std::uint32_t> items(64);
  const Job job = engine.launch(Background{items.data(), 64, &stop, &monitor}, {.max_groups = 8});
  ASSERT_TRUE(eventually([&] { return groups_of(job) == 4; }));
  for (const std::uint32_t units : {1U, 8U, 2U, 6U, 1U, 3U}) {
    engine.set_capacity(units);
    EXPECT_EQ(engine.capacity(), units);
    EXPECT_TRUE(eventually([&] { return groups_of(job) == units; }));
    monitor.most = 0;
    std::this_thread::sleep_for(5ms);
    EXPECT_LE(monitor.most, units);
  }
  EXPECT_THROW(engine.set_capacity(0), Error);
  EXPECT_THROW(engine.set_capacity(max_groups_limit + 1), Error);
  stop = true;
  EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(Tasks, ThatArePeriodicKeepTheirPace) {
  TypeParam engine{{.capacity = 2}};
  std::atomic<std::uint32_t> frames{0};
  const auto begin = std::chrono::steady_clock::now();
  Periodic periodic{engine, 5ms, [&] { ++frames; }};
  ASSERT_TRUE(eventually([&] { return periodic.report().count >= 20; }));
  const PeriodicReport report = periodic.stop();
  const auto time = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(frames, report.count);
  EXPECT_LE(frames, report.count + 1) << "but for the one that stop() may cancel";
  EXPECT_LE(report.count, time / 5ms + 1);
  EXPECT_EQ(report.period.count, report.count - 1);
}

TYPED_TEST(Tasks, ThatArePeriodicAndThrowStopAndSaySo) {
  TypeParam engine{{.capacity = 2}};
  Lookout lookout{Trace::fault};
  Periodic periodic{
      engine, 1ms, [] { throw std::runtime_error("no frame"); }, {.tracer = &lookout}};
  ASSERT_TRUE(eventually([&] { return lookout.seen.load(); }));
  EXPECT_THROW(periodic.stop(), std::runtime_error);
  EXPECT_EQ(periodic.report().count, 0U);
}

}  // namespace
}  // namespace cohort::test
