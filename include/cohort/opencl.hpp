// The OpenCL engine: the paper's megakernel. One launch occupies the device with a pool of
// work-groups. The host sends them into cooperative kernels and tasks, which cohortc has compiled
// and the engine has merged into one source.
// Invariant: a job is given only work-groups that have checked in, so nothing waits for a
// work-group that the device never starts.
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
  std::uint32_t units = 0;  ///< number of compute units
  bool is_cpu = false;      ///< whether its units are threads on this machine's CPUs
  std::string lacks;  ///< what the engine needs and the device lacks, as text; empty if nothing
};

/// All devices of all platforms. Empty if there is no platform.
[[nodiscard]] std::vector<Device> devices();

/// The entity that decides how many work-groups each job has, and sends them.
enum class Scheduler : std::uint8_t {
  host,   ///< a thread of the engine
  group,  ///< a work-group of the megakernel, as in the paper; it takes the place of another one
};

/// Options of an engine. Every member has a default.
struct EngineOptions {
  /// Part of the name of a device or of its platform, or its number in devices(). Empty: the first
  /// device that has all features.
  std::string device = {};
  /// Work-groups in the pool. The engine uses those that have checked in. Default: as many as the
  /// device runs at a time; on a CPU device, as many as this process has CPUs.
  std::optional<std::uint32_t> capacity = {};
  /// How long a group may take to leave after it was told to. Then the engine gives up the device,
  /// because nothing can stop a kernel that reaches no primitive.
  std::chrono::milliseconds patience = std::chrono::seconds{10};
  Scheduler scheduler = Scheduler::host;
  /// More options for the device's compiler, e.g. "-cl-fast-relaxed-math".
  std::string build_options = {};
};

class WorkgroupBody;

/// Runs kernels of programs (Program::from_file with `.engine = "opencl"`) on one device.
/// Thread-safe. The destructor cancels what runs and waits until the groups have left.
class Engine : public cohort::detail::EngineBase {
 public:
  /// Throws Error{unsupported} if no device has what the engine needs, and Error{bad_options} if
  /// none has that name.
  explicit Engine(EngineOptions options = {});

  /// Makes a kernel, or all kernels of a program, part of the megakernel from its next start on. A
  /// launch uses the running megakernel. If none runs, it starts one with its kernel and all loaded
  /// ones. A kernel that is to run alongside a job therefore has to be loaded before that job is
  /// launched.
  void load(const ProgramKernel& kernel);
  void load(const Program& program);

  /// Starts a kernel. Throws Error{bad_options} for options that cannot run, Error{bad_state} for a
  /// kernel that is not part of the running megakernel, and Error{bad_file} if the device's
  /// compiler rejects it. All kernels that run at a time have the group size of the first.
  Job launch(const ProgramKernel& kernel, const LaunchOptions& options = {});
  /// Runs a kernel as a task, on `options.groups` units at once. The units are taken from the jobs
  /// and given back afterwards. Throws as launch() does.
  Task submit(const ProgramKernel& kernel, const TaskOptions& options = {});

  [[nodiscard]] const Device& device() const;

 private:
  [[nodiscard]] std::unique_ptr<WorkgroupBody> bind(const ProgramKernel& kernel,
                                                    std::uint32_t groups,
                                                    LaunchOptions options) const;
};

}  // namespace cohort::opencl
