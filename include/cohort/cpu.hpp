// The CPU engine: a pool of worker threads, each a compute unit that runs one group of one job at a
// time. Invariant: at most `capacity` groups are inside kernels, over all jobs, at any moment;
// after a set_capacity that lowers it, once those that are too many have left.
#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <vector>

#include "cohort/buffer.hpp"
#include "cohort/checkpoint.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/platform/cpu.hpp"
#include "cohort/protocol/driver.hpp"
#include "cohort/task.hpp"

namespace cohort::cpu {

/// How to make an engine.
struct EngineOptions {
  /// Worker threads, that is groups active at a time. Default: the CPUs this process may use, by
  /// affinity and cgroup quota. More than that works: waiting groups sleep.
  std::optional<std::uint32_t> capacity = {};
  /// Binds each worker to one CPU, round robin.
  bool pin_workers = false;
};

/// CPUs this process may use: its affinity mask, cut down by cgroup CPU quotas.
[[nodiscard]] std::uint32_t usable_cpus();

namespace detail {

/// How a worker's visit to a job went.
enum class Stay : std::uint8_t {
  refused,   ///< never admitted
  left,      ///< taken away by an offer or a barrier
  finished,  ///< returned from the kernel
  ended,     ///< the job was cancelled or failed
};

/// What a worker brings to a visit.
struct Visit {
  bool first = false;        ///< to the check-in rather than the lobby
  std::uint32_t serial = 0;  ///< the run of the job it was sent to
  std::uint32_t hint = 0;    ///< where to look for a free box first
  Team* team = nullptr;      ///< for groups of more than one thread
  Samples offers;
  bool joined = false;
  /// Told when the group is in, and when it is out again.
  void (*moved)(void* job, bool in, bool joined) = nullptr;
  void* job = nullptr;
};

/// One launched kernel, type-erased: its shared state, and a way for a worker to run a group of it.
class Body {
 public:
  explicit Body(std::uint32_t max_groups);
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body();

  virtual Stay run_group(Visit& visit) = 0;
  /// Writes the kept State and the kernel's buffers to a file; false if the kernel names none.
  [[nodiscard]] virtual bool save(const std::filesystem::path& file) = 0;
  virtual void load(const std::filesystem::path& file) = 0;
  /// Ends the job with what the kernel, or making room for it, threw.
  void fail(std::exception_ptr thrown) noexcept;
  /// Makes everything ready for a run that starts with `quorum` groups; `restarted`: from the kept
  /// state.
  void prepare(std::uint32_t quorum, bool restarted);

  protocol::Shared<Platform> shared;
  std::exception_ptr exception;  ///< what the kernel threw, when shared.fault is Fault::exception
  bool suspendable = true;
  bool may_all_leave = false;

 private:
  std::vector<protocol::Box<Platform>> boxes_;
  std::vector<Atomic<std::uint64_t>> free_ids_;
};

template <class Kernel, protocol::Role role>
class TypedBody final : public Body {
  using State = StateOf<Kernel>;
  using Member = protocol::Member<Platform, State>;

 public:
  TypedBody(Kernel kernel, std::uint32_t max_groups)
      : Body(max_groups), kernel_(std::move(kernel)), box_states_(max_groups) {
    states_.boxes = box_states_.data();
    suspendable = traits.suspendable && role != protocol::Role::fixed;
    may_all_leave = traits.survivors == Survivors::may_all_leave;
  }

  Stay run_group(Visit& visit) override {
    Member member{.shared = shared, .states = states_};
    member.votes = Contract<Kernel>::step_style;
    member.sampler = Sampler{visit.offers, shared.recorder.tracer != nullptr};
    const bool in = (visit.first && protocol::check_in(member)) ||
                    protocol::wait_in_lobby(member, visit.serial, visit.hint);
    if (!in) return Stay::refused;
    visit.joined = member.joined;
    visit.moved(visit.job, true, visit.joined);
    const Stay stay = live(member, visit);
    visit.moved(visit.job, false, visit.joined);
    return stay;
  }

  bool save(const std::filesystem::path& file) override {
    if constexpr (NamesBuffers<Kernel>) {
      cohort::detail::write_checkpoint(file, cohort::detail::checkpoint_name<Kernel>(), kept(),
                                       buffers().all());
    }
    return NamesBuffers<Kernel>;
  }
  void load(const std::filesystem::path& file) override {
    if constexpr (NamesBuffers<Kernel>) {
      cohort::detail::read_checkpoint(file, cohort::detail::checkpoint_name<Kernel>(), kept(),
                                      buffers().all());
    }
  }

 private:
  static constexpr Traits traits = Contract<Kernel>::traits;

  std::span<std::byte> kept() { return std::as_writable_bytes(std::span{&states_.kept, 1}); }
  BufferList buffers() const {
    BufferList list;
    kernel_.buffers(list);
    return list;
  }

  /// From admission to the end of the stay; whatever the kernel throws ends here.
  Stay live(Member& member, Visit& visit) noexcept {
    try {
      if (protocol::enter<Platform, traits>(member) == protocol::Verdict::stay) run(member, visit);
    } catch (const Unwind&) {
      protocol::abandon(member);
      return Stay::ended;
    } catch (...) {
      fail(std::current_exception());
      protocol::abandon(member);
      return Stay::ended;
    }
    if (member.left) return shared.look().faulted() ? Stay::ended : Stay::left;
    protocol::finish(member);
    return member.left ? Stay::ended : Stay::finished;
  }

  void run(Member& member, Visit& visit) {
    LocalOf<Kernel> local;
    if (visit.team == nullptr) {
      protocol::live<Platform, role>(kernel_, member, local, Threads{});
      return;
    }
    struct Context {
      const Kernel& kernel;
      Member& member;
      LocalOf<Kernel>& local;
      Team& team;
    } context{kernel_, member, local, *visit.team};
    const bool together = visit.team->run(
        [](void* with, std::uint32_t local_id) {
          auto& [kernel, its_member, its_local, team] = *static_cast<Context*>(with);
          protocol::live<Platform, role>(kernel, its_member, its_local, Threads{team, local_id});
        },
        &context);
    if (!together) protocol::break_contract(member, protocol::Fault::divergent_group);
  }

  Kernel kernel_;
  protocol::States<State> states_{};
  std::vector<State> box_states_;
};

}  // namespace detail

/// Runs cooperative kernels on worker threads. Thread-safe. Its destructor cancels what runs and
/// waits for the groups to leave, which each does at its next primitive.
///
/// Kernels and tasks may launch, submit and wait themselves. A group that waits keeps its unit, so
/// wait() throws Error{bad_state} in a group of the same job, and where the waiting groups hold the
/// units that the awaited job needs to start. Groups that wait for each other's running jobs are
/// not detected. The worker threads do not exist in a child of fork(): there every call throws
/// Error{engine_gone}, and the destructor does nothing.
class Engine {
 public:
  explicit Engine(EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Starts a kernel. Throws Error{bad_options} for options that cannot run.
  template <class Kernel>
  Job launch(Kernel kernel, const LaunchOptions& options = {}) {
    const std::uint32_t groups = checked(options, Contract<Kernel>::traits);
    if (!options.resizable) {
      return Job{start(std::make_unique<detail::TypedBody<Kernel, protocol::Role::fixed>>(
                           std::move(kernel), groups),
                       options)};
    }
    return Job{start(std::make_unique<detail::TypedBody<Kernel, protocol::Role::member>>(
                         std::move(kernel), groups),
                     options)};
  }

  /// Continues a job that was suspended and written to a file by Job::checkpoint: reads the buffers
  /// that `kernel` names, and starts with the State. Throws Error{bad_file} for files that are
  /// damaged or of another kernel; nothing is touched then.
  template <class Kernel>
  Job restore(Kernel kernel, const std::filesystem::path& file, const LaunchOptions& options = {}) {
    static_assert(NamesBuffers<Kernel>,
                  "cohort: to be restored a kernel names its memory: `template <class Visit> void "
                  "buffers(Visit& visit) const { visit(\"name\", pointer, count); ... }`");
    const std::uint32_t groups = checked(options, Contract<Kernel>::traits);
    if (!options.resizable) refuse_static_restore();
    auto body = std::make_unique<detail::TypedBody<Kernel, protocol::Role::member>>(
        std::move(kernel), groups);
    body->load(file);
    return Job{start(std::move(body), options, {}, true)};
  }

  /// Runs `function` on `groups` units at once: taken from the jobs, given back afterwards. It is
  /// called once for each group, as `function(group)` (ids, strides and barriers among the task's
  /// own groups) or as `function()`. Throws Error{bad_options} for options that cannot run.
  template <class Function>
  Task submit(Function function, const TaskOptions& options = {}) {
    using Kernel = cohort::detail::TaskKernel<Function>;
    const std::uint32_t groups = checked(options);
    return Task{start(std::make_unique<detail::TypedBody<Kernel, protocol::Role::fixed>>(
                          Kernel{std::move(function)}, groups),
                      {.max_groups = groups,
                       .local_size = options.local_size,
                       .resizable = false,
                       .stop = options.stop,
                       .tracer = options.tracer},
                      options.priority)};
  }

  /// `count` elements, each a copy of `value`. Throws Error{out_of_memory}.
  template <class T>
  [[nodiscard]] Buffer<T> fill(std::size_t count, const T& value) {
    Buffer<T> buffer{memory_, count};
    buffer.fill(value);
    return buffer;
  }
  /// `count` elements that the kernel will set before it reads them.
  template <class T>
  [[nodiscard]] Buffer<T> allocate(std::size_t count) {
    return fill(count, T{});  // so that no page is missing when the kernel wants it
  }
  /// A copy of `values`.
  template <class T>
  [[nodiscard]] Buffer<T> upload(const std::vector<T>& values) {
    Buffer<T> buffer{memory_, values.size()};
    buffer.write(values);
    return buffer;
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const Buffer<T>& buffer) const {
    return buffer.read();
  }
  /// Where its buffers are.
  [[nodiscard]] const cohort::detail::Memory& memory() const { return *memory_; }

  /// Units that can be in use at a time.
  [[nodiscard]] std::uint32_t capacity() const;
  /// Changes that while jobs run: they shrink at their next resizing points, or grow. Where there
  /// are more jobs than units, jobs are suspended, the lowest weight first, the youngest among
  /// equals; they are `pending` until there is room, and then go on by themselves. Static launches
  /// and running tasks keep their groups until they end, and a job that cannot be suspended keeps
  /// one, also where these exceed the capacity. Tasks and static launches that have become too
  /// large wait. Throws Error{bad_options} for 0 and beyond max_groups_limit.
  void set_capacity(std::uint32_t units);

 private:
  class Core;

  /// The job's max_groups, or an Error.
  [[nodiscard]] std::uint32_t checked(const LaunchOptions& options, const Traits& traits) const;
  [[nodiscard]] std::uint32_t checked(const TaskOptions& options) const;
  /// `priority`: of a task; a job has none. `restored`: it starts with the kept State.
  std::shared_ptr<cohort::detail::JobControl> start(std::unique_ptr<detail::Body> body,
                                                    const LaunchOptions& options,
                                                    std::optional<int> priority = {},
                                                    bool restored = false);
  [[noreturn]] static void refuse_static_restore();

  std::shared_ptr<Core> core_;
  std::shared_ptr<cohort::detail::Memory> memory_;
};

}  // namespace cohort::cpu
