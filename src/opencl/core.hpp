// The OpenCL engine's inside: the workers of the running megakernel, and the jobs as the host knows
// them. An agent watches the workers' desks, since a kernel cannot wake the host. Invariant: all
// bookkeeping is under one mutex, and no tracer is called and no program compiled under it; groups
// touch only what they share with the host (layout.hpp).
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "cohort/opencl.hpp"
#include "cpu/sizes.hpp"
#include "engine/effects.hpp"
#include "engine/process.hpp"
#include "engine/task_queue.hpp"
#include "opencl/shift.hpp"
#include "scheduler/policy.hpp"

namespace cohort::opencl {

inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}
inline bool ended(Status status) { return at_rest(status) && status != Status::suspended; }

/// A kernel with its arguments, as a job or a task runs it.
struct Order {
  KernelOf kernel;
  std::vector<std::byte> arguments;

  [[nodiscard]] const KernelInfo& info() const { return kernel.info(); }
};

[[nodiscard]] inline Shape shape_of(const Order& order, const LaunchOptions& options) {
  return order.info().required_shape.value_or(Shape{options.local_size.value_or(1), 1, 1});
}

/// What the groups of one job share with each other and the host.
class JobMemory {
 public:
  JobMemory(const std::shared_ptr<SharedMemory>& memory, const Order& order,
            std::uint32_t state_size, std::uint32_t max_groups, const LaunchOptions& options);

  /// Makes everything ready for a run that starts with `quorum` groups; `restarted`: from the kept
  /// State.
  void prepare(std::uint32_t quorum, bool restarted);
  /// Hands the events since the last call on to the tracer.
  void replay(Tracer& tracer);

  [[nodiscard]] Words& words() const { return *reinterpret_cast<Words*>(block_.data()); }

 private:
  Block block_;
  Block events_;
  std::uint32_t replayed_ = 0;
};

class Engine::Core : public std::enable_shared_from_this<Core> {
 public:
  class Record;

  explicit Core(EngineOptions options);
  void start();
  void stop();
  void load(const std::vector<KernelOf>& kernels);
  std::shared_ptr<Record> launch(Order order, const LaunchOptions& options,
                                 std::optional<int> priority);
  [[nodiscard]] std::uint32_t capacity() const;
  [[nodiscard]] std::uint32_t most_groups() const { return most_groups_; }
  void set_capacity(std::uint32_t units);
  [[nodiscard]] const Device& device() const { return chosen_.info; }
  [[nodiscard]] const std::shared_ptr<SharedMemory>& memory() const { return memory_; }

 private:
  /// A work-group of the running megakernel.
  struct Worker {
    std::uint32_t visit = 0;
    std::shared_ptr<Record> job;  // where it is
    bool in = false;              // and inside the kernel
  };

  [[nodiscard]] engine::Locked locked(const char* call) const {
    return {process_, mutex_, effects_, call};
  }
  void check_alive() const;
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] std::vector<std::shared_ptr<Record>> jobs_and_running_tasks() const;
  [[nodiscard]] bool is_open_for(const KernelOf& kernel, Shape shape) const;
  [[nodiscard]] std::vector<KernelOf> kernels_with(const KernelOf& kernel) const;
  [[nodiscard]] std::shared_ptr<Megakernel> find_built(const KernelOf& kernel, Shape shape) const;
  std::shared_ptr<Megakernel> build(const KernelOf& kernel, Shape shape);
  std::optional<std::uint32_t> open_shift(const KernelOf& kernel, Shape shape);
  void close_shift();
  void lose(const std::string& why);

  void attend();
  bool look();
  bool look_at_desks();
  bool look_at_contexts();
  void back(std::uint32_t worker, Desk& desk);
  void watch();

  void rebalance();
  bool begin(const std::shared_ptr<Record>& job, std::uint32_t share);
  [[nodiscard]] std::optional<std::uint32_t> free_context() const;
  void order(const std::shared_ptr<Record>& job, std::uint32_t count, std::uint32_t share);
  [[nodiscard]] std::uint32_t room() const;
  [[nodiscard]] std::uint32_t free_units() const;
  void send(const std::shared_ptr<Record>& job, std::uint32_t count, bool first);
  void publish(Record& job, std::uint32_t share);
  void settle(Record& job);
  void conclude(Record& job);
  void rest(Record& job, Status status);
  void fail(Record& job, Errc code, const std::string& why);

  const EngineOptions options_;
  const Chosen chosen_;
  const cl::Context context_;
  const std::shared_ptr<SharedMemory> memory_;
  std::uint32_t most_groups_ = 1;  // that run at a time

  mutable std::mutex mutex_;
  mutable engine::Effects effects_;
  const engine::HomeProcess process_{};
  std::mutex building_;           // one build at a time; taken before the other one
  std::vector<KernelOf> loaded_;  // part of every megakernel
  std::vector<std::shared_ptr<Megakernel>> built_;
  std::shared_ptr<Megakernel> megakernel_;  // of the shift
  std::unique_ptr<Shift> shift_;
  std::uint64_t opened_at_ = 0;
  std::uint64_t idle_since_ = 0;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> idle_;
  std::vector<std::shared_ptr<Record>> jobs_;  // not yet ended, in launch order; no tasks
  engine::TaskQueue<Record> tasks_;
  std::uint32_t capacity_ = 0;
  bool stopping_ = false;
  std::string lost_;  // why nothing runs any more
  std::condition_variable called_;
  std::thread agent_;
};

/// A job as the engine knows it. Guarded by the core's mutex.
class Engine::Core::Record final : public cohort::detail::JobControl,
                                   public std::enable_shared_from_this<Record> {
 public:
  Record(std::shared_ptr<Core> its_core, Order its_order, JobMemory its_memory, LaunchOptions with,
         std::optional<int> its_priority);

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) override;
  void cancel() override;
  Status suspend() override;
  void resume() override;
  void checkpoint(const std::filesystem::path& file) const override;
  void set_target(std::optional<std::uint32_t> groups) override;
  [[nodiscard]] Report report() const override;
  void rethrow() const override;

  [[nodiscard]] Words& words() const { return memory.words(); }
  [[nodiscard]] bool suspending() const {
    return (words().flags.load(std::memory_order_relaxed) & protocol::suspend_flag) != 0;
  }
  /// Before the share is published: a target of 0 must come with its flag.
  void ask_to_leave() {
    words().flags.store(protocol::suspend_flag, std::memory_order_release);  // as publish()
  }
  [[nodiscard]] scheduler::Claim claim() const;
  /// A demand has been met.
  void gathered(std::uint64_t since, std::uint32_t groups);
  /// A group has come in or gone out.
  void moved(bool came, bool joined);
  /// So many are in the kernel.
  void count(std::uint32_t groups);
  /// All groups of the start are on their way.
  void started();
  /// A demand may have been met.
  void look_at_demand();
  [[nodiscard]] std::string why() const;  // it failed

  const std::shared_ptr<Core> core;
  const Order order;
  JobMemory memory;
  const LaunchOptions options;
  const std::optional<int> priority;    // of a task; a job has none
  std::optional<std::uint32_t> target;  // set by hand
  Status status = Status::pending;
  Status last_rest = Status::pending;  // how the job last came to rest
  std::uint64_t rests = 0;
  bool kept = false;         // a resume continues from the kept State
  bool held = false;         // suspended by the host, not for a task
  bool owed = false;         // a task was served while this job waited: its turn now
  std::uint32_t share = 0;   // as published
  std::uint32_t inside = 0;  // workers sent and not yet back
  bool concluding = false;   // its groups are out, and its tracer is told without the mutex
  engine::Ticket ticket;     // of a task
  std::optional<Error> error;
  std::condition_variable changed;

  std::uint64_t launched_at = 0;
  std::uint64_t started_at = 0;
  std::uint64_t ran_before = 0;  // nanoseconds of earlier runs
  std::uint64_t demand_at = 0;   // when a demand that is not yet met was published
  std::uint64_t fault_at = 0;    // when a fault was first seen
  std::uint32_t start_groups = 0;
  std::uint64_t joins = 0;
  std::uint64_t leaves = 0;
  Samples gather;
  cpu::Sizes sizes;
  std::uint32_t in_kernel = 0;
  /// Where a scheduler group schedules: the number of its context while it runs, whether its start
  /// is still to come, and what has been seen there.
  std::optional<std::uint32_t> context;
  bool ordered = false;
  std::uint32_t joins_seen = 0;
  std::uint32_t leaves_seen = 0;

  std::optional<std::stop_callback<std::function<void()>>> stop_callback;
};

}  // namespace cohort::opencl
