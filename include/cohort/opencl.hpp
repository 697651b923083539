// The OpenCL engine: the paper's megakernel. One launch occupies the device with a pool of
// work-groups; the host sends them into cooperative kernels and tasks, which cohortc has compiled
// and the engine has merged into one source. Invariant: a job is given only work-groups that have
// checked in, so nothing waits for one that the device never starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cohort/engine.hpp"
#include "cohort/program.hpp"

namespace cohort::opencl {

/// An OpenCL device of this machine.
struct Device {
  std::string name;
  std::string platform;
  std::string version;
  std::uint32_t units = 0;  ///< compute units
  bool is_cpu = false;      ///< its units are threads on this machine's CPUs
  std::string lacks;        ///< what it would need for the engine, in words; empty: nothing
};

/// All devices of all platforms. Empty where there is no platform.
[[nodiscard]] std::vector<Device> devices();

/// Who sends work-groups to jobs and tasks. What each is to have is decided by the host.
enum class Scheduler : std::uint8_t {
  host,   ///< a thread of the engine
  group,  ///< a work-group of the megakernel, as in the paper; it uses up a compute unit
};

/// How to make an engine. Everything has a default.
struct EngineOptions {
  /// Part of the name of a device or of its platform, or its number in devices(). Empty: the first
  /// that has all features.
  std::string device = {};
  /// Work-groups in the pool, at most one for each compute unit; those are used that have checked
  /// in. Default: all, of a CPU device as many as this process has CPUs.
  std::optional<std::uint32_t> capacity = {};
  /// How long a group that has been told to leave may take. After that the device is given up:
  /// nothing can stop a kernel that reaches no primitive.
  std::chrono::milliseconds patience = std::chrono::seconds{10};
  Scheduler scheduler = Scheduler::host;
  /// More options for the device's compiler, e.g. "-cl-fast-relaxed-math".
  std::string build_options = {};
};

class WorkgroupBody;

/// Runs kernels of programs (Program::from_file with `.engine = "opencl"`) on one device.
/// Thread-safe. Its destructor cancels what runs and waits for the groups to leave.
class Engine : public cohort::detail::EngineBase {
 public:
  /// Throws Error{unsupported} where no device has what the engine needs, Error{bad_options} where
  /// none has that name.
  explicit Engine(EngineOptions options = {});

  /// Makes a kernel, or all of a program, part of the megakernel from its next start on. A launch
  /// finds its kernel in the megakernel that runs or, when nothing runs, starts one with that
  /// kernel and those that are loaded: so what is to run beside a job is loaded before the job is
  /// launched.
  void load(const ProgramKernel& kernel);
  void load(const Program& program);

  /// Starts a kernel. Throws Error{bad_options} for options that cannot run, Error{bad_state} for a
  /// kernel that is not in the megakernel that runs, Error{bad_file} if the device's compiler
  /// refuses it. All that run at a time have groups of the same size, that of the first.
  Job launch(const ProgramKernel& kernel, const LaunchOptions& options = {});
  /// Runs a kernel as a task, on `options.groups` units at once: taken from the jobs, given back
  /// afterwards. Throws as launch() does.
  Task submit(const ProgramKernel& kernel, const TaskOptions& options = {});

  [[nodiscard]] const Device& device() const;

 private:
  [[nodiscard]] std::unique_ptr<WorkgroupBody> bind(const ProgramKernel& kernel,
                                                    std::uint32_t groups,
                                                    LaunchOptions options) const;
};

}  // namespace cohort::opencl
