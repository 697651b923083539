// Lets the operating system prefer other threads to a given one, for a while and without that
// thread's help. Invariant: restore() can undo demote() with the rights of this process.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstdint>
#include <optional>

namespace cohort::cpu {

/// How a demoted thread gives way.
enum class DemotionWay : std::uint8_t {
  idle_policy,  ///< SCHED_IDLE: the thread runs when a CPU has nothing else to do
  fewer_cpus,  ///< the thread avoids some CPUs; for processes that could not leave SCHED_IDLE again
};

/// Chooses a way that this process can undo. Leaving SCHED_IDLE takes CAP_SYS_NICE, or an
/// RLIMIT_NICE that permits the thread's nice value. This is tried once, on a separate thread.
[[nodiscard]] DemotionWay demotion_way();

/// Linux's struct sched_attr, which glibc 2.36 does not declare.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

/// Lets the calling thread run at once when it wakes, even if other threads occupy all CPUs.
/// Between begin() and end() the thread has real-time priority, if the process has CAP_SYS_NICE or
/// an RLIMIT_RTPRIO. So call these two around a wait. Without that right the thread has short time
/// slices between begin() and end(), so that it need not wait for the end of another thread's
/// slice. These are effective since Linux 6.12. Does nothing for a thread whose policy is not
/// SCHED_OTHER.
class PromptWaking {
 public:
  void begin();
  void end();

 private:
  bool begun_ = false;
  SchedulingAttributes own_;  // scheduling of the thread outside of begin() and end()
};

/// Records the CPUs and the scheduling policy of the thread that makes this object, to apply them
/// to threads started by other threads.
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

/// Demotes one thread, which must live until restore() succeeds.
class Demotion {
 public:
  /// `busy_cpus`: how many CPUs the preferred threads need.
  void demote(pthread_t thread, std::uint32_t busy_cpus, DemotionWay way = demotion_way());
  /// Returns false if the system refuses, for example because the process has given up its rights
  /// meanwhile. The thread then stays recorded, so that a later call tries again.
  bool restore();
  [[nodiscard]] bool demoted() const { return thread_.has_value(); }

 private:
  std::optional<pthread_t> thread_;
  DemotionWay way_ = DemotionWay::idle_policy;
  int policy_ = SCHED_OTHER;   // policy before the demotion
  sched_param priority_ = {};  // priority before the demotion
  cpu_set_t cpus_ = {};        // CPUs before the demotion
};

}  // namespace cohort::cpu
