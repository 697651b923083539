// The processes of a command, and the CPUs that their threads may use. Invariant: only processes of
// the command are changed, even if process ids are reused.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::cli {

/// A set of CPUs in the format of Linux's scheduler.
class CpuSet {
 public:
  CpuSet() { CPU_ZERO(&mask_); }
  explicit CpuSet(const std::vector<std::uint32_t>& cpus);
  /// The CPUs that a thread may use; 0 is the calling thread. Empty if the thread has ended.
  static std::optional<CpuSet> of(pid_t thread);

  [[nodiscard]] bool has(std::uint32_t cpu) const {
    return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &mask_);
  }
  /// The set with only its lowest CPU.
  [[nodiscard]] CpuSet first() const;
  [[nodiscard]] bool within(const CpuSet& other) const { return (*this & other) == *this; }
  /// Binds a thread. Returns false if it has ended, if it belongs to another user, or if its cpuset
  /// allows none of these CPUs.
  [[nodiscard]] bool bind(pid_t thread) const {
    return ::sched_setaffinity(thread, sizeof mask_, &mask_) == 0;
  }
  /// The set as text, e.g. "0-3,8"; an empty text for the empty set.
  [[nodiscard]] std::string text() const;

  friend CpuSet operator&(const CpuSet& one, const CpuSet& other) {
    CpuSet both;
    CPU_AND(&both.mask_, &one.mask_, &other.mask_);
    return both;
  }
  friend bool operator==(const CpuSet& one, const CpuSet& other) {
    return CPU_EQUAL(&one.mask_, &other.mask_);
  }

 private:
  cpu_set_t mask_;
};

/// A command's process and its descendants, including those whose parents have ended. The calling
/// process is never one of them.
class ProcessTree {
 public:
  /// Descendants are recognised by their parents, and by `mark`, an entry in their environment.
  /// `started`: the result of start_of(root) at a time when the id was certainly the command's.
  ProcessTree(pid_t root, std::uint64_t started, std::string mark);

  /// The start time of a process, in the system's ticks. Empty if the process has ended.
  [[nodiscard]] static std::optional<std::uint64_t> start_of(pid_t process);

  /// Lets all threads use the CPUs in `now`. A thread that has bound itself to a part of `now`
  /// stays there, unless it is bound to `before`, the set that bind() used last.
  void bind(const CpuSet& before, const CpuSet& now);
  /// A number that grows whenever a thread has used a CPU, and changes when threads come or go.
  [[nodiscard]] std::uint64_t cpu_use();

 private:
  struct Process {
    pid_t parent = 0;
    std::uint64_t started = 0;  ///< start time, which together with the id identifies a process
  };

  /// Finds new processes, and forgets those that have ended.
  void look();
  [[nodiscard]] static std::optional<Process> read(pid_t id);
  [[nodiscard]] static std::map<pid_t, Process> all_processes();
  [[nodiscard]] bool has_mark(pid_t process) const;

  std::string mark_;
  std::uint64_t first_ = 0;  // start time of the root: no process of the tree is older
  std::map<pid_t, std::uint64_t> members_;  // start time of each process
};

}  // namespace cohort::cli
