// Shared by all engines: the capacity and, for kernels written in C++, launch, restore and submit.
// Invariant: engines differ in the body that they make of a kernel, not in their calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cohort/buffer.hpp"
#include "cohort/checkpoint.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/protocol/driver.hpp"
#include "cohort/task.hpp"

namespace cohort::engine {
class Dispatcher;
}

namespace cohort::detail {

/// One launched kernel, type-erased. Has what every engine needs to know about it; each engine
/// derives its own class.
class JobBody {
 public:
  explicit JobBody(std::uint32_t groups) : max_groups(groups) {}
  JobBody(const JobBody&) = delete;
  JobBody& operator=(const JobBody&) = delete;
  virtual ~JobBody() = default;

  /// The contents of a checkpoint of the suspended kernel. Empty if the kernel names no buffers.
  [[nodiscard]] virtual std::optional<CheckpointParts> checkpoint_parts() = 0;
  /// For the error message, if the kernel is not suspendable.
  [[nodiscard]] virtual std::string why_not_suspendable() const;
  /// Start of the message about a broken contract.
  [[nodiscard]] virtual std::string label() const { return {}; }

  const std::uint32_t max_groups;
  std::string name;  ///< name of the job, if it has one
  std::uint32_t groups_per_unit = 1;
  bool suspendable = true;
  bool may_all_leave = false;
  bool guest = false;         ///< the task is a unit on loan to a tenant
  std::exception_ptr thrown;  ///< the kernel's exception
};

/// The part of an engine's body that depends only on the kernel's type.
template <class EngineBody, class Kernel, protocol::Role role>
class KernelBody : public EngineBody {
 public:
  std::optional<CheckpointParts> checkpoint_parts() final {
    if constexpr (NamesBuffers<Kernel>) {
      BufferList list;
      kernel_.buffers(list);
      return CheckpointParts{
          checkpoint_name<Kernel>() + (this->name.empty() ? "" : ", ") + this->name,
          std::as_writable_bytes(kept_state()), list.all()};
    } else {
      return {};
    }
  }

 protected:
  using State = StateOf<Kernel>;
  static constexpr Traits traits = Contract<Kernel>::traits;

  KernelBody(Kernel kernel, std::uint32_t groups) : EngineBody(groups), kernel_(std::move(kernel)) {
    this->suspendable = traits.suspendable && role != protocol::Role::fixed;
    this->may_all_leave = traits.survivors == Survivors::may_all_leave;
  }

  /// The State with which a resumed run starts.
  [[nodiscard]] virtual std::span<State, 1> kept_state() = 0;

  Kernel kernel_;
};

/// The capacity, and access to the dispatcher.
class EngineBase : public BufferFactory {
 public:
  /// The number of units that can be in use at the same time: workers of the CPU engine, SMs, or
  /// OpenCL work-groups.
  [[nodiscard]] std::uint32_t capacity() const;
  /// Changes the capacity while jobs run. Jobs shrink at their next resizing points, or grow. With
  /// more jobs than units, jobs are suspended: the lowest weight first and, among equal weights,
  /// the youngest. A suspended job is `pending` until there is room, and then continues by itself.
  /// Some groups stay although they exceed the capacity: the groups of static launches and of
  /// running tasks until they end, and one group of a job that cannot be suspended. Tasks and
  /// static launches that have become too large wait. Throws Error{bad_options} for 0 and for more
  /// than the engine can have.
  void set_capacity(std::uint32_t units);

 protected:
  explicit EngineBase(std::shared_ptr<engine::Dispatcher> dispatcher);
  /// Cancels all jobs and tasks and waits until the groups have left.
  ~EngineBase();

  /// The job's max_groups. Throws Error{bad_options} for options that cannot run.
  [[nodiscard]] std::uint32_t checked(const LaunchOptions& options, const Traits& traits) const;
  [[nodiscard]] std::uint32_t checked(const TaskOptions& options) const;
  Job start(std::unique_ptr<JobBody> body, const LaunchOptions& options);
  /// Starts from a file written by Job::checkpoint.
  Job start_from(const std::filesystem::path& file, std::unique_ptr<JobBody> body,
                 const LaunchOptions& options);
  Task start(std::unique_ptr<JobBody> body, const TaskOptions& options);
  [[nodiscard]] engine::Dispatcher& dispatcher() const { return *dispatcher_; }

 private:
  std::shared_ptr<engine::Dispatcher> dispatcher_;
};

/// An engine for kernels in C++. BodyOf<Kernel, role> is the engine's body for a kernel of that
/// type.
template <template <class Kernel, protocol::Role role> class BodyOf>
class KernelEngine : public EngineBase {
 public:
  /// Starts a kernel. Throws Error{bad_options} for options that cannot run.
  template <class Kernel>
  requires(!std::is_pointer_v<Kernel>) Job
      launch(Kernel kernel, const LaunchOptions& options = {}) {
    const std::uint32_t groups = checked(options, Contract<Kernel>::traits);
    return options.resizable
               ? start(make<Kernel, protocol::Role::member>(std::move(kernel), groups), options)
               : start(make<Kernel, protocol::Role::fixed>(std::move(kernel), groups), options);
  }

  /// Continues a job that was suspended and written to a file by Job::checkpoint, on this or
  /// another engine: reads the buffers that `kernel` names, and starts with the State. Throws
  /// Error{bad_file} if the file is damaged or of another kernel; then nothing has been changed.
  template <class Kernel>
  Job restore(Kernel kernel, const std::filesystem::path& file, const LaunchOptions& options = {}) {
    static_assert(NamesBuffers<Kernel>,
                  "cohort: to be restored a kernel names its memory: `template <class Visit> void "
                  "buffers(Visit& visit) const { visit(\"name\", pointer, count); ... }`");
    const std::uint32_t groups = checked(options, Contract<Kernel>::traits);
    return start_from(file, make<Kernel, protocol::Role::member>(std::move(kernel), groups),
                      options);
  }

  /// Runs `function` on `groups` units at once. The units are taken from the jobs and given back
  /// afterwards. Each group calls `function(group)` or `function()` once; on a GPU, each thread of
  /// the group does. `group` has ids, strides and barriers among the task's own groups. Throws
  /// Error{bad_options} for options that cannot run.
  template <class Function>
  Task submit(Function function, const TaskOptions& options = {}) {
    using Kernel = TaskKernel<Function>;
    return start(make<Kernel, protocol::Role::fixed>(Kernel{std::move(function)}, checked(options)),
                 options);
  }

 protected:
  using EngineBase::EngineBase;
  ~KernelEngine() = default;

 private:
  template <class Kernel, protocol::Role role>
  static std::unique_ptr<JobBody> make(Kernel kernel, std::uint32_t groups) {
    static_assert(
        requires { sizeof(BodyOf<Kernel, role>); },
        "cohort: kernels for this engine are launched by files that nvcc compiles");
    return std::make_unique<BodyOf<Kernel, role>>(std::move(kernel), groups);
  }
};

}  // namespace cohort::detail
