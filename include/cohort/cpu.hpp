// The CPU engine: a pool of worker threads. Each worker is a compute unit that runs one group of
// one job at a time.
// Invariant: over all jobs, at most `capacity` groups are inside kernels at any moment. After
// set_capacity() has lowered it, or a task was overdue, this holds once the surplus groups have
// left.
#pragma once

#include <atomic>
#include <exception>
#include <string>
#include <vector>

#include "cohort/engine.hpp"
#include "cohort/platform/cpu.hpp"

namespace cohort::cpu {

/// Options of an engine.
struct EngineOptions {
  /// Worker threads, and thus the maximum number of active groups. Default: the number of CPUs this
  /// process may use, by affinity and cgroup quota. It may be larger: waiting groups sleep.
  std::optional<std::uint32_t> capacity = {};
  /// Binds each worker to one CPU, round robin.
  bool pin_workers = false;
  /// Shares the engine under this name: other processes of this user can borrow workers as tenants
  /// (docs/tenants.md). Empty: not shared.
  std::string share = {};
};

/// CPUs this process may use: those of its affinity mask, limited by cgroup CPU quotas.
[[nodiscard]] std::uint32_t usable_cpus();

namespace detail {

/// How a worker's visit to a job ended.
enum class Stay : std::uint8_t {
  refused,   ///< the group was not admitted
  left,      ///< the group was removed in an offer or a barrier
  finished,  ///< the group returned from the kernel
  ended,     ///< the job was cancelled or failed
};

/// What a worker passes to a visit to a job, and what the visit returns to it.
struct Visit {
  bool first = false;        ///< enters by the check-in, not by the lobby
  std::uint32_t serial = 0;  ///< the run of the job that the worker was sent to
  std::uint32_t hint = 0;    ///< the box of the lobby to try first
  Team* team = nullptr;      ///< for groups of more than one thread
  Samples offers;
  bool joined = false;
  std::uint32_t group = protocol::no_id;  ///< atomic: written by the worker, read by the engine
  /// Called when the group has come in, and when it has left.
  void (*moved)(void* job, bool in, bool joined) = nullptr;
  void* job = nullptr;
};

/// A kernel as workers run it: its shared state, and the code that runs one group.
class WorkerBody : public cohort::detail::JobBody {
 public:
  explicit WorkerBody(std::uint32_t groups);

  virtual Stay run_group(Visit& visit) = 0;
  /// Ends the job with an exception that the kernel, or the allocation of its threads, threw in
  /// `group` (no_id: in none) before barrier `gen`.
  void fail(std::exception_ptr exception, std::uint32_t group, std::uint32_t gen) noexcept;

  protocol::Shared<Platform> shared;
  std::vector<TraceGather>
      untold;  ///< events that the next worker to enter or leave passes to the tracer

 private:
  std::vector<protocol::Box<Platform>> boxes_;
  std::vector<Atomic<std::uint64_t>> free_ids_;
};

/// A group's local memory.
template <class Kernel>
class LocalRoom {
 public:
  explicit LocalRoom(const Kernel& /*kernel*/) {}
  [[nodiscard]] LocalOf<Kernel>& local() { return local_; }

 private:
  LocalOf<Kernel> local_;
};
template <HasMoreLocal Kernel>
class LocalRoom<Kernel> {
 public:
  explicit LocalRoom(const Kernel& kernel)
      : lines_(cohort::detail::local_room(cohort::detail::local_size_of(kernel)) / sizeof(Line)),
        local_(new (lines_.data()) LocalOf<Kernel>) {}
  [[nodiscard]] LocalOf<Kernel>& local() { return *local_; }

 private:
  struct alignas(cohort::detail::local_alignment) Line {
    std::byte bytes[cohort::detail::local_alignment];
  };
  std::vector<Line> lines_;
  LocalOf<Kernel>* local_;
};

template <class Kernel, protocol::Role role>
class CpuBody final : public cohort::detail::KernelBody<WorkerBody, Kernel, role> {
  using Base = cohort::detail::KernelBody<WorkerBody, Kernel, role>;
  using State = typename Base::State;
  using Member = protocol::Member<Platform, State>;
  using Base::kernel_;
  using Base::shared;
  using Base::traits;

 public:
  CpuBody(Kernel kernel, std::uint32_t groups)
      : Base(std::move(kernel), groups), box_states_(groups) {
    states_.boxes = box_states_.data();
  }

  Stay run_group(Visit& visit) override {
    Member member{.shared = shared, .states = states_};
    member.votes = Contract<Kernel>::step_style;
    member.sampler = Sampler{visit.offers, shared.recorder.tracer != nullptr};
    const bool in = (visit.first && protocol::check_in(member)) ||
                    protocol::wait_in_lobby(member, visit.serial, visit.hint);
    if (!in) return Stay::refused;
    visit.joined = member.joined;
    std::atomic_ref{visit.group}.store(member.id, std::memory_order_relaxed);
    visit.moved(visit.job, true, visit.joined);
    const Stay stay = live(member, visit);
    visit.moved(visit.job, false, visit.joined);
    return stay;
  }

 private:
  std::span<State, 1> kept_state() override { return std::span<State, 1>{&states_.kept, 1}; }

  /// Runs a group, from its admission to the end of its stay. No exception of the kernel leaves
  /// this function.
  Stay live(Member& member, Visit& visit) noexcept {
    try {
      if (protocol::enter<Platform, traits>(member) == protocol::Verdict::stay) run(member, visit);
    } catch (const Unwind&) {
      protocol::abandon(member);
      return Stay::ended;
    } catch (...) {
      this->fail(std::current_exception(), member.id, member.gen);
      protocol::abandon(member);
      return Stay::ended;
    }
    if (member.left) return shared.look().faulted() ? Stay::ended : Stay::left;
    protocol::finish(member);
    return member.left ? Stay::ended : Stay::finished;
  }

  void run(Member& member, Visit& visit) {
    LocalRoom<Kernel> room{kernel_};
    LocalOf<Kernel>& local = room.local();
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

  protocol::States<State> states_{};
  std::vector<State> box_states_;
};

}  // namespace detail

/// Runs cooperative kernels on worker threads. Thread-safe. The destructor cancels all jobs and
/// tasks, and waits until each group has left at its next primitive.
///
/// Kernels and tasks may themselves launch, submit and wait. A group that waits keeps its unit. So
/// wait() throws Error{bad_state} in three cases: in a group of the same job, if groups would wait
/// for each other, and if the waiting groups hold units that the awaited job needs to start. A
/// child of fork() does not have the worker threads: every call throws Error{engine_gone} there,
/// and the destructor does nothing.
class Engine : public cohort::detail::KernelEngine<detail::CpuBody> {
 public:
  explicit Engine(EngineOptions options = {});
};

}  // namespace cohort::cpu
