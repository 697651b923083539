// What the conformance tests share: the engines they run on, the sizes they sweep over, and the
// notes that groups take. Invariant: no test can hang. A watchdog ends the process when one takes
// longer than its limit.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cohort/cpu.hpp"
#include "sanitizers.hpp"

namespace cohort::test {

using namespace std::chrono_literals;

/// The engines that have to meet the specification: each conformance test runs on every one of
/// them.
using Engines = testing::Types<cpu::Engine>;

/// The names of the engines in the names of the tests.
struct EngineNames {
  template <class Engine>
  // NOLINTNEXTLINE(readability-identifier-naming): the name that gtest looks for
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Engine, cpu::Engine> ? "cpu" : "other";
  }
};

/// Groups that can be active on the engines under test: more than most machines have cores.
inline constexpr std::uint32_t capacity = 16;

inline constexpr bool thread_sanitized = COHORT_THREAD_SANITIZER;
inline constexpr bool sanitized = COHORT_ADDRESS_SANITIZER || thread_sanitized;

/// COHORT_TEST_SCALE: how much of the repetition in a test is wanted, 1 unless set.
inline double scale() {
  static const double factor = [] {
    const char* text = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? 1.0 : std::atof(text);       // NOLINT(cert-err34-c)
  }();
  return factor;
}

/// `count` repetitions, scaled, but not fewer than `least`.
inline std::uint32_t scaled(std::uint32_t count, std::uint32_t least = 1) {
  return std::max(least, static_cast<std::uint32_t>(count * scale()));
}

/// How long to wait for what has to happen: only a hang takes as long, also under a sanitizer on a
/// machine that is busy with other things.
inline constexpr auto long_enough = 100s;

/// Ends the process when a test takes longer than its limit: a hang is a failure that names its
/// test.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  static constexpr auto limit = 6 * long_enough;

  void OnTestStart(const testing::TestInfo& test) override {
    name_ = std::string{test.test_suite_name()} + "." + test.name();
    ended_ = false;
    thread_ = std::thread{[this] {
      std::unique_lock lock{mutex_};
      if (changed_.wait_for(lock, limit, [this] { return ended_; })) return;
      std::fprintf(stderr, "watchdog: %s still runs after %lld s: something hangs\n", name_.c_str(),
                   static_cast<long long>(std::chrono::seconds{limit}.count()));
      std::abort();
    }};
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::string name_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

inline const bool watched = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);  // which then owns it
  return true;
}();

/// Raises a flag at the first event of a kind.
class Lookout : public Tracer {
 public:
  explicit Lookout(Trace what) : what_(what) {}
  void record(const TraceEvent& event) noexcept override {
    if (event.what == what_) seen.store(true);
  }
  std::atomic<bool> seen{false};

 private:
  Trace what_;
};

/// Whether `done()` comes true, without taking much of a CPU from those who are to make it so.
template <class Done>
[[nodiscard]] bool eventually(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + long_enough;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(20us);
  }
  return true;
}

/// Inside a kernel: until `done()`, letting others run. For waits that are no part of what is
/// tested.
template <class Done>
void hold_until(Done done) {
  while (!done()) std::this_thread::yield();
}

/// A job that does not outlive what its kernel refers to, however its test ends.
class ScopedJob : public Job {
 public:
  ScopedJob(Job job) : Job(std::move(job)) {}  // so that `= engine.launch(...)` makes one
  ScopedJob(const ScopedJob&) = delete;
  ScopedJob& operator=(const ScopedJob&) = delete;
  ~ScopedJob() {
    cancel();
    while (status() == Status::pending || status() == Status::running) {
      std::this_thread::sleep_for(100us);
    }
  }
};

/// How large a job is.
struct Shape {
  std::uint32_t groups = 1;
  std::uint32_t local_size = 1;
};

/// Calls `test(shape)` for 1 to 16 groups of one and of four threads; for fewer sizes where the
/// scale is small.
template <class Test>
void for_each_shape(Test test) {
  const std::vector<std::uint32_t> sizes =
      scale() < 0.5 ? std::vector{1U, 2U, 5U, 16U} : std::vector{1U, 2U, 3U, 5U, 8U, 16U};
  for (const std::uint32_t local_size : {1U, 4U}) {
    for (const std::uint32_t groups : sizes) {
      if (thread_sanitized && groups * local_size > 20) continue;  // a fibre costs it a millisecond
      SCOPED_TRACE(testing::Message() << groups << " groups of " << local_size << " threads");
      test(Shape{.groups = groups, .local_size = local_size});
      if (testing::Test::HasFailure()) return;
    }
  }
}

inline const char* to_string(ResizingBarrier barrier) {
  switch (barrier) {
    case ResizingBarrier::one_pass: return "one_pass";
    case ResizingBarrier::query: return "query";
    case ResizingBarrier::plain: return "plain";
    case ResizingBarrier::modelled: return "modelled";
  }
  return "unknown";
}

/// Calls `test.operator()<barrier>()` for each of the resizing barriers.
template <class Test>
void for_each_barrier(Test test) {
  const auto with = [&test]<ResizingBarrier barrier>() {
    SCOPED_TRACE(testing::Message() << "resizing barrier " << to_string(barrier));
    if (!testing::Test::HasFailure()) test.template operator()<barrier>();
  };
  with.template operator()<ResizingBarrier::one_pass>();
  with.template operator()<ResizingBarrier::query>();
  with.template operator()<ResizingBarrier::plain>();
  with.template operator()<ResizingBarrier::modelled>();
}

/// Calls `test.operator()<barrier>(shape)` for each resizing barrier in each shape.
template <class Test>
void for_each_barrier_and_shape(Test test) {
  for_each_barrier([&test]<ResizingBarrier barrier>() {
    for_each_shape([&test](Shape shape) { test.template operator()<barrier>(shape); });
  });
}

/// Numbers that groups note down, for the host to read once they are out.
class Notes {
 public:
  void add(std::uint32_t number) {
    const std::lock_guard lock{mutex_};
    numbers_.push_back(number);
  }
  [[nodiscard]] std::vector<std::uint32_t> all() const {
    const std::lock_guard lock{mutex_};
    return numbers_;
  }
  [[nodiscard]] std::vector<std::uint32_t> sorted() const {
    std::vector<std::uint32_t> result = all();
    std::sort(result.begin(), result.end());
    return result;
  }
  [[nodiscard]] std::size_t size() const { return all().size(); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint32_t> numbers_;
};

/// first, first + 1, ... up to last - 1.
inline std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = first; i < last; ++i) result.push_back(i);
  return result;
}

/// Who holds which id. Plain data follows each id, so that a thread sanitizer sees whether
/// successive holders are ordered.
class Ids {
 public:
  /// A group begins to use its id.
  void enter(std::uint32_t id) {
    if (id >= holders_.size() || holders_[id].fetch_add(1, std::memory_order_relaxed) != 0) {
      clashes_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    ++stays_[id];
    const std::uint32_t inside = inside_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::uint32_t most = most_inside_.load(std::memory_order_relaxed);
    while (most < inside &&
           !most_inside_.compare_exchange_weak(most, inside, std::memory_order_relaxed)) {
    }
  }
  /// It will not use it any more. Call before the primitive that may take it away.
  void exit(std::uint32_t id) {
    inside_.fetch_sub(1, std::memory_order_relaxed);
    holders_[id].fetch_sub(1, std::memory_order_relaxed);
  }
  /// Times an id was found in use by another group, or out of range.
  [[nodiscard]] std::uint32_t clashes() const { return clashes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t inside() const { return inside_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint32_t most_inside() const {
    return most_inside_.load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint32_t>, 64> holders_{};
  std::array<std::uint64_t, 64> stays_{};
  std::atomic<std::uint32_t> inside_{0};
  std::atomic<std::uint32_t> most_inside_{0};
  std::atomic<std::uint32_t> clashes_{0};
};

/// True in the one thread of a group that takes its notes.
template <class Group>
bool leader(const Group& group) {
  return group.local_id() == 0;
}

/// A flag as one answer for the whole group: its threads must not part ways over a change in
/// between.
template <class Group>
bool told(const Group& group, const std::atomic<bool>& flag) {
  return group.broadcast(flag.load());
}

}  // namespace cohort::test
