// Fair scheduling of active groups (section 3.1 of the paper): each group keeps making progress, so
// groups may wait for each other in any way. The tests check that such kernels end.
#include <atomic>
#include <thread>

#include "cohort/cpu.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

const Site& cpu_site() {
  static const Site site{EngineKind::cpu};
  return site;
}

/// A lock that only spins and never yields, like a lock on a GPU.
class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) {
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

/// Every thread of every group counts under one lock.
struct Locking {
  SpinLock* mutex;
  std::uint32_t* count;  // plain: the lock protects it
  std::uint32_t times;

  template <class Group>
  void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < times; ++i) {
      mutex->lock();
      ++*count;
      // The holder of the lock yields once, so that the other groups certainly spin while it does
      // not run.
      if (i == times / 2 && leader(group)) std::this_thread::yield();
      mutex->unlock();
      (void)group.request_fork(state);
    }
  }
};

TEST(Fairness, GroupsMayLockEachOtherOut) {
  cpu::Engine engine{{.capacity = cpu_site().capacity()}};
  for_each_shape(cpu_site(), [&](Shape shape) {
    for (const bool resizable : {true, false}) {
      SpinLock mutex;
      std::uint32_t count = 0;
      const std::uint32_t times = scaled(200, 20);
      const ScopedJob job = engine.launch(
          Locking{&mutex, &count, times},
          {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_EQ(count, times * shape.groups * shape.local_size);
    }
  });
}

/// A token passes from group to group, up or down the ids; groups without it only spin.
struct HandingOn {
  std::atomic<std::uint32_t>* token;
  std::uint32_t* visits;  // plain: the token protects it
  bool upwards;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const std::uint32_t id = group.group_id();
    const std::uint32_t place = upwards ? id : group.num_groups() - 1 - id;
    while (token->load(std::memory_order_acquire) != place) {
    }
    ++*visits;
    token->store(place + 1, std::memory_order_release);
  }
};

TEST(Fairness, GroupsMayHandOverInBothDirections) {
  cpu::Engine engine{{.capacity = cpu_site().capacity()}};
  for (const bool upwards : {true, false}) {
    for (const std::uint32_t groups : {2U, 3U, 5U, 8U, 16U}) {
      if (sanitized && groups > 3) continue;  // under a sanitizer, spinning takes a minute
      std::atomic<std::uint32_t> token{0};
      std::uint32_t visits = 0;
      const ScopedJob job =
          engine.launch(HandingOn{&token, &visits, upwards}, {.max_groups = groups});
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_EQ(visits, groups);
    }
  }
}

/// Passes the token many rounds, in a kernel whose groups offer themselves while they wait.
struct HandingOnWhileOffering {
  std::atomic<std::uint32_t>* token;
  std::uint32_t laps;
  bool upwards;

  template <class Group>
  void run(Group& group, Nothing state) const {
    const std::uint32_t groups = group.max_groups();
    const std::uint32_t id = group.group_id();
    const auto wait_for = [&](std::uint32_t place) {
      while (group.broadcast(token->load(std::memory_order_acquire)) < place) {
        if (group.offer(state)) return false;
        std::this_thread::yield();
      }
      return true;
    };
    for (std::uint32_t lap = 0; lap < laps; ++lap) {
      const std::uint32_t place = lap * groups + (upwards ? id : groups - 1 - id);
      if (!wait_for(place)) return;
      if (leader(group)) token->store(place + 1, std::memory_order_release);
    }
    (void)wait_for(laps * groups);  // keeps groups from returning before all are through
  }
};

TEST(Fairness, GroupsMayHandOverWhileTheyOfferThemselves) {
  cpu::Engine engine{{.capacity = cpu_site().capacity()}};
  for (const bool upwards : {true, false}) {
    for_each_shape(cpu_site(), [&](Shape shape) {
      std::atomic<std::uint32_t> token{0};
      const std::uint32_t laps = scaled(10, 2);
      const ScopedJob job =
          engine.launch(HandingOnWhileOffering{&token, laps, upwards}, shape.options());
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_EQ(token, laps * shape.groups);
    });
  }
}

/// Group 0 of one job and group 0 of another wait for each other.
struct PingPong {
  std::atomic<std::uint32_t>* ball;
  std::uint32_t side;
  std::uint32_t times;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    if (group.group_id() != 0) return;
    for (std::uint32_t i = 0; i < times; ++i) {
      while (ball->load(std::memory_order_acquire) % 2 != side) {
      }
      ball->fetch_add(1, std::memory_order_release);
    }
  }
};

TEST(Fairness, HoldsBetweenJobsThatHaveStarted) {
  cpu::Engine engine{{.capacity = cpu_site().capacity()}};
  std::atomic<std::uint32_t> ball{0};
  const ScopedJob ping = engine.launch(PingPong{&ball, 0, scaled(50)}, {.max_groups = 8});
  const ScopedJob pong = engine.launch(PingPong{&ball, 1, scaled(50)}, {.max_groups = 8});
  EXPECT_EQ(ping.wait().status, Status::finished);
  EXPECT_EQ(pong.wait().status, Status::finished);
  EXPECT_EQ(ball, 2 * scaled(50));
}

}  // namespace
}  // namespace cohort::test
