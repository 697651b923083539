// The objects behind the handles of the C API. Invariant: the call that closes an engine destroys
// it, after all its work has ended and when no call uses it any more.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "c/handles.hpp"
#include "cohort/any_engine.hpp"
#include "tool/timeline.hpp"
#ifdef COHORT_C_PROGRAMS
#include "cohort/program.hpp"
#endif
#ifdef COHORT_C_APPS
#include "apps/registry.hpp"
#endif

namespace cohort::c {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

/// The time at which a wait ends; empty for COHORT_FOREVER.
[[nodiscard]] inline Deadline deadline_of(std::int64_t timeout_ns) {
  if (timeout_ns < 0) return std::nullopt;
  return cohort::detail::deadline_after(std::chrono::nanoseconds{timeout_ns});
}

/// A job or task, as seen by an engine that is being closed.
class Work : public Object {
 public:
  virtual void cancel() = 0;
  /// Whether the work has ended for good.
  [[nodiscard]] virtual bool over() = 0;
  /// Waits until the work has ended for good. Returns false at the deadline.
  virtual bool wait_ended(const Deadline& deadline) = 0;
};

class EngineObject final : public Object {
 public:
  explicit EngineObject(std::unique_ptr<AnyEngine> engine) : engine_(std::move(engine)) {}

  /// Marks a call that uses the engine, which is not destroyed before the call ends.
  class Use {
   public:
    /// Throws Refusal{COHORT_ENGINE_GONE} if the engine is being closed.
    explicit Use(std::shared_ptr<EngineObject> object);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();
    [[nodiscard]] const AnyEngine& operator*() const { return *object_->engine_; }
    [[nodiscard]] const AnyEngine* operator->() const { return object_->engine_.get(); }
    /// Records work for which a closing engine has to wait. Cancels the work if the engine is
    /// already closing.
    void adds(const std::shared_ptr<Work>& work) const;
    [[nodiscard]] const std::shared_ptr<EngineObject>& object() const { return object_; }

   private:
    std::shared_ptr<EngineObject> object_;
  };

  /// Ends all work. Returns false at the deadline.
  bool close(const Deadline& deadline);

  /// Marks that the calling thread runs a task of this engine, for the lifetime of the object.
  class InTask {
   public:
    explicit InTask(const EngineObject& engine) : engine_(&engine), outer_(innermost) {
      innermost = this;
    }
    InTask(const InTask&) = delete;
    InTask& operator=(const InTask&) = delete;
    ~InTask() { innermost = outer_; }
    [[nodiscard]] static bool of(const EngineObject& engine) {
      for (const InTask* each = innermost; each != nullptr; each = each->outer_) {
        if (each->engine_ == &engine) return true;
      }
      return false;
    }

   private:
    static thread_local const InTask* innermost;
    const EngineObject* engine_;
    const InTask* outer_;
  };

 private:
  bool end_work(const Deadline& deadline);

  std::unique_ptr<AnyEngine> engine_;
  const pid_t process_ = ::getpid();
  // Guarded by the table's mutex:
  // All work that has not ended, and possibly some that has.
  std::vector<std::shared_ptr<Work>> work_;
  std::size_t forget_at_ = 4;
  std::uint32_t uses_ = 0;
  bool closing_ = false;
  std::condition_variable unused_;
};

struct BufferObject final : Object {
  Buffer<std::byte> memory;
};

class TimelineObject final : public Object {
 public:
  explicit TimelineObject(std::size_t limit) : timeline_(limit) {}
  [[nodiscard]] tool::Timeline& timeline() { return timeline_; }
  Tracer& job(const std::string& name) { return timeline_.job(name); }
  /// The track for all tasks of that name.
  Tracer& task(const std::string& name);

 private:
  tool::Timeline timeline_;
  std::mutex mutex_;
  std::map<std::string, Tracer*> tasks_;
};

class JobObject : public Work {
 public:
  virtual std::optional<Status> wait(const Deadline& deadline) = 0;
  [[nodiscard]] virtual Report report() = 0;
  /// The launched job. Throws Refusal{COHORT_BAD_STATE} while an app is still preparing it.
  [[nodiscard]] virtual Job job(const char* call) = 0;
#ifdef COHORT_C_APPS
  /// The results of an app that has finished. Throws Refusal{COHORT_BAD_STATE}.
  [[nodiscard]] virtual const apps::AppRun& run();
#endif
};

class KernelJob final : public JobObject {
 public:
  explicit KernelJob(Job job) : job_(std::move(job)) {}
  void cancel() override { job_.cancel(); }
  bool over() override;
  bool wait_ended(const Deadline& deadline) override;
  std::optional<Status> wait(const Deadline& deadline) override;
  Report report() override { return job_.report(); }
  Job job(const char* /*call*/) override { return job_; }

 private:
  Job job_;
};

class TaskObject final : public Work {
 public:
  explicit TaskObject(Task task) : task_(std::move(task)) {}
  void cancel() override { task_.cancel(); }
  bool over() override;
  bool wait_ended(const Deadline& deadline) override;
  [[nodiscard]] const Task& task() const { return task_; }

 private:
  Task task_;
};

/// Objects that must live as long as a job: its timeline and its buffers.
using Kept = std::vector<std::shared_ptr<Object>>;

/// The options of a launch, with the timeline of `use`'s engine.
[[nodiscard]] LaunchOptions launch_options(const cohort_launch_options* given,
                                           const AnyEngine& engine, const std::string& name,
                                           const Kept& keeps);

[[nodiscard]] inline const char* text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}
[[nodiscard]] std::vector<std::string> list_of(const char* const* texts);
/// A copy of the text, which the caller frees with cohort_string_free.
[[nodiscard]] char* returned(const std::string& text);

#ifdef COHORT_C_PROGRAMS
struct ProgramObject final : Object {
  explicit ProgramObject(Program its_program) : program(std::move(its_program)) {}
  Program program;
};
struct KernelObject final : Object {
  explicit KernelObject(ProgramKernel its_kernel) : kernel(std::move(its_kernel)) {}
  std::mutex mutex;
  ProgramKernel kernel;
  std::map<std::string, std::shared_ptr<BufferObject>> buffers;
};
#else
struct ProgramObject final : Object {};
struct KernelObject final : Object {};
#endif
#ifdef COHORT_C_APPS
struct GraphObject;
#else
struct GraphObject final : Object {};
#endif

/// A lease of SMs or of a tenant. A function that its kind does not have is refused.
class LeaseObject : public Object {
 public:
  [[nodiscard]] virtual void* stream() { refuse_kind("stream", "a tenant's has CPUs"); }
  virtual void wait(const Deadline& /*deadline*/) { refuse_sms("wait"); }
  [[nodiscard]] virtual std::uint32_t units() { refuse_sms("units"); }
  [[nodiscard]] virtual std::vector<std::uint32_t> cpus() { refuse_sms("cpus"); }
  /// Also ends the waits of other threads. SMs go back in the destructor.
  virtual void give_back() noexcept {}

 private:
  [[noreturn]] static void refuse_kind(const char* call, const char* why) {
    refuse(COHORT_UNSUPPORTED, std::string{"lease: no "} + call + "; " + why);
  }
  [[noreturn]] static void refuse_sms(const char* call) {
    refuse_kind(call, "a lease of SMs has a stream");
  }
};

class TenantObject;

#define COHORT_HANDLE(handle, type, its_number, its_name) \
  template <>                                             \
  struct Kind<handle> {                                   \
    using Type = type;                                    \
    static constexpr unsigned number = its_number;        \
    static constexpr const char* name = its_name;         \
  }
COHORT_HANDLE(cohort_engine, EngineObject, 1, "engine");
COHORT_HANDLE(cohort_buffer, BufferObject, 2, "buffer");
COHORT_HANDLE(cohort_program, ProgramObject, 3, "program");
COHORT_HANDLE(cohort_kernel, KernelObject, 4, "kernel");
COHORT_HANDLE(cohort_job, JobObject, 5, "job");
COHORT_HANDLE(cohort_task, TaskObject, 6, "task");
COHORT_HANDLE(cohort_graph, GraphObject, 7, "graph");
COHORT_HANDLE(cohort_timeline, TimelineObject, 8, "timeline");
COHORT_HANDLE(cohort_lease, LeaseObject, 9, "lease");
COHORT_HANDLE(cohort_tenant, TenantObject, 10, "tenant");
#undef COHORT_HANDLE

}  // namespace cohort::c
