// Lets the operating system prefer other threads to one, for a while and without help of its owner.
// Invariant: what demote() changes, restore() can change back with the rights of this process.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstdint>
#include <optional>

namespace cohort::cpu {

/// How a thread can step back.
enum class DemotionWay : std::uint8_t {
  idle_policy,  ///< SCHED_IDLE: it runs when a CPU has nothing else to do
  fewer_cpus,   ///< it keeps off some CPUs, for processes that may not leave SCHED_IDLE again
};

/// Leaving SCHED_IDLE takes CAP_SYS_NICE, or an RLIMIT_NICE that permits the thread's nice value.
/// Tried once, on a thread of its own.
[[nodiscard]] DemotionWay demotion_way();

/// Asks for short time slices for the calling thread, so that it need not wait for the end of the
/// slice of another one when it wakes. Since Linux 6.12; ignored before.
void take_short_slices();

/// The CPUs and the policy of the thread that makes this object, for threads that others start.
class Scheduling {
 public:
  Scheduling();
  void apply(pthread_t thread) const;

 private:
  int policy_ = SCHED_OTHER;
  sched_param priority_ = {};
  cpu_set_t cpus_ = {};
  bool known_;
};

/// One thread, which must live as long as this object demotes it.
class Demotion {
 public:
  /// `busy_cpus`: how many CPUs the preferred threads need.
  void demote(pthread_t thread, std::uint32_t busy_cpus, DemotionWay way = demotion_way());
  /// False if the system refuses it, as where the process has given up its rights meanwhile: the
  /// thread stays recorded, so that a later call tries again.
  bool restore();
  [[nodiscard]] bool demoted() const { return thread_.has_value(); }

 private:
  std::optional<pthread_t> thread_;
  DemotionWay way_ = DemotionWay::idle_policy;
  int policy_ = SCHED_OTHER;   // before
  sched_param priority_ = {};  // before
  cpu_set_t cpus_ = {};        // before
};

}  // namespace cohort::cpu
