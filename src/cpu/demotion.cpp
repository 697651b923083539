#include "cpu/demotion.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace cohort::cpu {
namespace {

bool can_leave_idle_policy() {
  bool can = false;
  std::thread{[&can] {
    int policy = SCHED_OTHER;
    sched_param before = {};
    const sched_param none = {};
    can = ::pthread_getschedparam(::pthread_self(), &policy, &before) == 0 &&
          ::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &none) == 0 &&
          ::pthread_setschedparam(::pthread_self(), policy == SCHED_IDLE ? SCHED_OTHER : policy,
                                  &before) == 0;
  }}.join();
  return can;
}

/// The last CPUs of `all`, without the first `without` of them; at least one CPU.
cpu_set_t last_cpus(const cpu_set_t& all, std::uint32_t without) {
  const auto count = static_cast<std::uint32_t>(CPU_COUNT(&all));
  std::uint32_t to_skip = std::min(without, count - 1);
  cpu_set_t result;
  CPU_ZERO(&result);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    if (to_skip > 0) {
      --to_skip;
    } else {
      CPU_SET(cpu, &result);
    }
  }
  return result;
}

constexpr std::uint64_t shortest_slice = 100'000;  // in nanoseconds: the least that Linux accepts

// Not pthread_setschedparam(), which does not support slices and caches the policy.
bool get_scheduling(SchedulingAttributes& attributes) {
  return ::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0;
}
bool set_scheduling(const SchedulingAttributes& attributes) {
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

std::atomic<DemotionWay>& known_way() {
  static std::atomic<DemotionWay> way{can_leave_idle_policy() ? DemotionWay::idle_policy
                                                              : DemotionWay::fewer_cpus};
  return way;
}

}  // namespace

DemotionWay demotion_way() { return known_way().load(std::memory_order_relaxed); }

void PromptWaking::begin() {
  if (begun_ || !get_scheduling(own_) || own_.policy != SCHED_OTHER) return;
  const SchedulingAttributes lowest{
      .policy = SCHED_FIFO,
      .priority = static_cast<std::uint32_t>(::sched_get_priority_min(SCHED_FIFO))};
  SchedulingAttributes brief = own_;
  brief.runtime = shortest_slice;
  begun_ = set_scheduling(lowest) || set_scheduling(brief);
}

void PromptWaking::end() {
  if (!begun_) return;
  begun_ = false;
  if (set_scheduling(own_)) return;
  // Another process has given the thread a higher nice value, which this one may not lower.
  const sched_param none = {};
  ::sched_setscheduler(0, SCHED_OTHER, &none);  // keeps the nice value
}

Scheduling::Scheduling()
    : known_(::pthread_getschedparam(::pthread_self(), &policy_, &priority_) == 0 &&
             ::pthread_getaffinity_np(::pthread_self(), sizeof cpus_, &cpus_) == 0) {}

void Scheduling::apply(pthread_t thread) const {
  if (!known_) return;
  static_cast<void>(::pthread_setschedparam(thread, policy_, &priority_));
  static_cast<void>(::pthread_setaffinity_np(thread, sizeof cpus_, &cpus_));
}

void Demotion::demote(pthread_t thread, std::uint32_t busy_cpus, DemotionWay way) {
  if (thread_) return;
  way_ = way;
  if (way == DemotionWay::idle_policy) {
    const sched_param none = {};
    if (::pthread_getschedparam(thread, &policy_, &priority_) != 0 ||
        ::pthread_setschedparam(thread, SCHED_IDLE, &none) != 0)
      return;
  } else {
    if (::pthread_getaffinity_np(thread, sizeof cpus_, &cpus_) != 0) return;
    if (CPU_COUNT(&cpus_) < 2) return;
    const cpu_set_t fewer = last_cpus(cpus_, busy_cpus);
    if (::pthread_setaffinity_np(thread, sizeof fewer, &fewer) != 0) return;
  }
  thread_ = thread;
}

bool Demotion::restore() {
  if (!thread_) return true;
  if (way_ == DemotionWay::idle_policy) {
    if (::pthread_setschedparam(*thread_, policy_, &priority_) != 0) {
      // Applies to all other threads too.
      known_way().store(DemotionWay::fewer_cpus, std::memory_order_relaxed);
      return false;
    }
  } else if (::pthread_setaffinity_np(*thread_, sizeof cpus_, &cpus_) != 0) {
    return false;
  }
  thread_.reset();
  return true;
}

}  // namespace cohort::cpu
