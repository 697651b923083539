// The CPU platform: atomics, waiting and the threads of a group, for groups that are
// operating-system threads.
// Invariant: a thread that changes a word calls notify() afterwards if others may sleep on it, and
// no wake-up is lost.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>

#include "cohort/platform/cpu_atomic.hpp"
#include "cohort/platform/team_threads.hpp"
#include "cohort/protocol/group.hpp"
#include "cohort/samples.hpp"
#include "cohort/trace.hpp"

namespace cohort::cpu {

/// Thrown through a kernel to end it. A kernel that catches all exceptions must rethrow this one.
struct Unwind {};

/// Nanoseconds of the engine's clock.
inline std::uint64_t now() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How long a waiter checks its condition before it sleeps: first by spinning, then by yielding.
struct alignas(8) Patience {
  std::uint32_t spins = 0;
  std::uint32_t yields = 0;
};

/// A place to wait: an event count. A waiter checks any words it likes, and sleeps while they do
/// not change.
class Event {
 public:
  /// May change while groups wait; it takes effect at the next wait.
  std::atomic<Patience> patience{Patience{}};

  /// Returns when `done()` is true. `done` reads with Order::acquire, and the thread that makes it
  /// true calls notify() afterwards.
  template <class Done>
  void await(Done&& done) noexcept {
    if (look(done)) return;
    for (;;) {
      const std::uint32_t ticket = announce();
      if (done()) break;
      sleep(ticket);
      retract();
      if (done()) return;
    }
    retract();
  }

  /// Like await(), but for at most `nanoseconds`. Returns whether `done()` became true.
  template <class Done>
  bool await_for(std::uint64_t nanoseconds, Done&& done) noexcept {
    if (look(done)) return true;
    const std::uint64_t deadline = now() + nanoseconds;
    for (;;) {
      const std::uint64_t at = now();
      if (at >= deadline) return done();
      const std::uint32_t ticket = announce();
      const bool met = done();
      if (!met) sleep_for(ticket, deadline - at);
      retract();
      if (met || done()) return true;
    }
  }

  /// Wakes the sleepers, if any. Call it after a change made with at least Order::release.
  void notify() noexcept {
    if (sleepers_.load(std::memory_order_seq_cst) != 0)
      wake();  // pairs with announce(): both are in one total order
  }

 private:
  template <class Done>
  bool look(Done& done) const noexcept {
    if (done()) return true;
    const Patience now = patience.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < now.spins; ++i) {
      relax();
      if (done()) return true;
    }
    for (std::uint32_t i = 0; i < now.yields; ++i) {
      yield();
      if (done()) return true;
    }
    return false;
  }

  std::uint32_t announce() noexcept {
    // Counts this sleeper before done() is checked for the last time. Either that check sees the
    // change, or notify() sees the sleeper and wakes it.
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    return epoch_.load(std::memory_order_seq_cst);
  }
  void retract() noexcept { sleepers_.fetch_sub(1, std::memory_order_relaxed); }

  static void yield() noexcept;
  void sleep(std::uint32_t ticket) noexcept;
  void sleep_for(std::uint32_t ticket, std::uint64_t nanoseconds) noexcept;
  void wake() noexcept;

  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> epoch_{0};
};

/// The threads of one group as fibres of one worker. A conductor runs each of them to its next
/// meeting, checks that all are at the same one, acts for them, and lets them continue.
class Team {
 public:
  /// The action of a meeting. It runs once, after all threads have arrived, and receives every
  /// thread's slot.
  using Act = void (*)(void* context, std::span<void* const> slots);

  explicit Team(std::uint32_t local_size);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  [[nodiscard]] std::uint32_t local_size() const noexcept { return local_size_; }

  /// Runs `body(context, local_id)` on every thread to its end. Returns false if the threads called
  /// different functions. Rethrows a thread's exception.
  bool run(void (*body)(void* context, std::uint32_t local_id), void* context);

  /// Called by each thread. Of the threads' `act` and `context`, thread 0's are used.
  void meet(std::uint32_t local_id, protocol::Point point, void* slot, Act act, void* context);

 private:
  struct Fibres;
  Fibres* fibres_;
  std::uint32_t local_size_;
};

/// One thread's view of its group's threads. A group of one thread has no team and pays nothing.
class Threads : public cohort::detail::TeamThreads<Threads> {
 public:
  Threads() noexcept = default;
  Threads(Team& team, std::uint32_t local_id) noexcept
      : team_(&team), local_id_(local_id), local_size_(team.local_size()) {}

  [[nodiscard]] std::uint32_t local_id() const noexcept { return local_id_; }
  [[nodiscard]] std::uint32_t local_size() const noexcept { return local_size_; }
  /// Whether the group has only one thread, which need not consult others before it acts.
  [[nodiscard]] bool alone() const noexcept { return team_ == nullptr; }

  /// Adds for one thread alone: on a CPU, neighbouring threads do not share an addition.
  template <class Ref>
  auto claim(Ref counter) const {
    return counter.fetch_add(1);
  }

  void meet(protocol::Point point, void* slot, Team::Act act, void* context) const {
    team_->meet(local_id_, point, slot, act, context);
  }

 private:
  Team* team_ = nullptr;
  std::uint32_t local_id_ = 0;
  std::uint32_t local_size_ = 1;
};

/// The worker of the calling thread. Used only if there is a Tracer.
inline thread_local std::uint32_t this_unit = no_unit;

/// Passes events to a Tracer, if there is one.
struct Recorder {
  Tracer* tracer = nullptr;

  void record(Trace what, std::uint32_t group, std::uint32_t active,
              std::uint64_t value) const noexcept {
    if (tracer != nullptr) [[unlikely]]
      tracer->record({now(), what, group, active, value, this_unit});
  }
};

/// Measures the intervals between a group's offers. Short intervals are sampled, so that reading
/// the clock takes at most about a hundredth of the time.
class Sampler {
 public:
  Sampler() noexcept = default;
  Sampler(Samples& samples, bool tracing) noexcept : samples_(&samples), tracing_(tracing) {}

  /// Called at an offer. Returns the number of offers after which it has to be called again.
  template <class Member>
  [[gnu::noinline, gnu::cold]] std::uint32_t sample(Member& member) noexcept {
    constexpr std::uint64_t long_enough =
        8192;  // in nanoseconds: longer intervals are all measured
    if (tracing_) member.trace(Trace::offer);
    const std::uint64_t at = now();
    std::uint64_t skip = 0;
    if (since_ != 0) {
      samples_->add(at - since_);
      if (!tracing_) skip = long_enough / (at - since_ + 1);
    }
    since_ = skip == 0 ? at : 0;
    return static_cast<std::uint32_t>(skip < 4096 ? skip : 4096) + 1;
  }

 private:
  Samples* samples_ = nullptr;
  std::uint64_t since_ = 0;  // time of the offer that began an interval; 0 between intervals
  bool tracing_ = false;
};

/// Counts a thread's offers down to the next one that the Sampler measures. It is part of the
/// Group, so that a kernel that takes its Group by value keeps it in a register.
class Probe {
 public:
  explicit Probe(const Threads& threads) noexcept
      : countdown_(threads.local_id() == 0 ? 1 : 0), each_(threads.alone() ? 0 : 1) {}

  /// Called at an offer. Returns true if the offer has to take the longer path. A group with
  /// several threads always takes it, since its threads must all go the same way. A group of one
  /// thread takes it at sampled offers, which is often enough to notice faults.
  template <class Member>
  COHORT_DETAIL_INLINE bool offer(Member& member) const noexcept {
    if (--countdown_ != 0) [[likely]]
      return each_ != 0;
    countdown_ = member.sampler.sample(member);
    return true;
  }

 private:
  mutable std::uint32_t countdown_;
  std::uint32_t each_;
};

/// Everything that the protocol requires of a platform.
struct Platform {
  template <class T>
  using Atomic = cpu::Atomic<T>;
  template <class T>
  using AtomicRef = cpu::AtomicRef<T>;
  using Event = cpu::Event;
  using Threads = cpu::Threads;
  using Recorder = cpu::Recorder;
  using Sampler = cpu::Sampler;
  using Probe = cpu::Probe;

  template <class Done>
  static void await(Event& event, Done&& done) noexcept {
    event.await(done);
  }
  template <class Done>
  static bool await_for(Event& event, std::uint64_t nanoseconds, Done&& done) noexcept {
    return event.await_for(nanoseconds, done);
  }
  static void notify(Event& event) noexcept { event.notify(); }
  template <class T>
  static T* view(T* memory) noexcept {
    return memory;
  }

  /// Nothing to do here: the engine subtracts all demands from the share before it publishes the
  /// share.
  static std::uint32_t less_demands(const protocol::Shared<Platform>& /*shared*/,
                                    std::uint32_t share) noexcept {
    return share;
  }

  /// Ends the calling thread's kernel function.
  [[noreturn]] static void unwind() { throw Unwind{}; }
};

}  // namespace cohort::cpu
