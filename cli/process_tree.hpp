// The processes of a command, and the CPUs their threads may use.
// Invariant: only processes of the command are touched, also when process ids are given out again.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort::cli {

/// CPUs as Linux's scheduler takes them.
class CpuSet {
 public:
  CpuSet() { CPU_ZERO(&mask_); }
  explicit CpuSet(const std::vector<std::uint32_t>& cpus);
  /// Those a thread may use; empty if it has ended. 0: the calling thread.
  static std::optional<CpuSet> of(pid_t thread);

  [[nodiscard]] bool has(std::uint32_t cpu) const {
    return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &mask_);
  }
  /// The least of them alone.
  [[nodiscard]] CpuSet first() const;
  [[nodiscard]] bool within(const CpuSet& other) const { return (*this & other) == *this; }
  /// Binds a thread. False: it has ended, or belongs to another user, or no CPU is left in its
  /// cpuset.
  [[nodiscard]] bool bind(pid_t thread) const {
    return ::sched_setaffinity(thread, sizeof mask_, &mask_) == 0;
  }
  /// As in "0-3,8"; empty for none.
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

/// A command's process and its descendants, also those whose parents have ended. The calling
/// process is never among them.
class ProcessTree {
 public:
  /// Descendants are known by their parents, and by `mark`, an entry of their environment.
  /// `started`: start_of() the root, as it was when its id was certain.
  ProcessTree(pid_t root, std::uint64_t started, std::string mark);

  /// When a process started, in the system's ticks. Empty if it has ended.
  [[nodiscard]] static std::optional<std::uint64_t> start_of(pid_t process);

  /// Lets all threads use `now`. A thread that has bound itself to a part of `now` stays there,
  /// unless it is bound to `before`, what bind() gave it last.
  void bind(const CpuSet& before, const CpuSet& now);
  /// Grows whenever a thread has used a CPU, and changes when threads come or go.
  [[nodiscard]] std::uint64_t cpu_use();

 private:
  struct Process {
    pid_t parent = 0;
    std::uint64_t started = 0;  ///< with the id, tells processes apart
  };

  /// Looks for new processes, and forgets those that have ended.
  void look();
  [[nodiscard]] static std::optional<Process> read(pid_t id);
  [[nodiscard]] static std::map<pid_t, Process> all_processes();
  [[nodiscard]] bool has_mark(pid_t process) const;

  std::string mark_;
  std::uint64_t first_ = 0;                 // when the root started: none of the tree is older
  std::map<pid_t, std::uint64_t> members_;  // by process: when it started
};

}  // namespace cohort::cli
