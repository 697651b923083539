// The CUDA engine's inside: the jobs as it knows them, the grids it has launched, and the agent
// that looks after both. Invariant: all bookkeeping is under one mutex. No thread holds it while a
// kernel has to move, a tracer is called, the memory of a run is read or a file is written.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cohort/cuda.hpp"
#include "cpu/sizes.hpp"
#include "cuda/driver.hpp"
#include "cuda/memory.hpp"
#include "cuda/ranges.hpp"
#include "engine/effects.hpp"
#include "engine/process.hpp"
#include "engine/task_queue.hpp"
#include "scheduler/policy.hpp"

namespace cohort::cuda {

using protocol::Fault;
using protocol::FaultRecord;
using protocol::Roster;

/// No group is running, and none will without a call by the host.
inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}
/// At rest for good.
inline bool ended(Status status) { return at_rest(status) && status != Status::suspended; }

/// Nanoseconds of the host's clock.
[[nodiscard]] std::uint64_t now() noexcept;

/// A word that the device or a stream writes, read by the host.
[[nodiscard]] inline std::uint32_t seen(const std::uint32_t& word) noexcept {
  return std::atomic_ref{const_cast<std::uint32_t&>(word)}.load(std::memory_order_acquire);
}

/// Streams of one priority, each for one grid at a time: nothing is ever queued behind a grid of
/// ours, which could hold up the writes of other streams.
class Streams {
 public:
  void open(int priority) { priority_ = priority; }
  void close() noexcept;
  [[nodiscard]] cudaStream_t take();
  void give(cudaStream_t stream) { idle_.push_back(stream); }

 private:
  int priority_ = 0;
  std::vector<cudaStream_t> idle_;
};

/// Everything of an engine that may outlive its handle: jobs refer to it.
class Engine::Core : public std::enable_shared_from_this<Core> {
 public:
  class Record;

  Core(const EngineOptions& options, std::shared_ptr<cohort::detail::Memory> memory);
  void start();
  void stop();

  std::shared_ptr<Record> launch(std::unique_ptr<detail::Body> body, const LaunchOptions& options,
                                 std::optional<int> priority, bool restored);
  [[nodiscard]] std::uint32_t capacity() const;
  void set_capacity(std::uint32_t units);
  [[nodiscard]] std::uint32_t sms() const { return sms_; }
  [[nodiscard]] int device() const { return device_; }
  void check_alive() const;

  [[nodiscard]] std::uint32_t open_lease(cudaStream_t stream, std::uint32_t sms);
  void close_lease(std::uint32_t slot, cudaStream_t stream) noexcept;

 private:
  /// The most grids that run or wait at a time. With some 40 of them, each in its stream, a call of
  /// CUDA may not return before one has ended.
  static constexpr std::size_t most_grids = 24;
  /// Of those, kept for tasks.
  static constexpr std::size_t task_grids = 8;

  /// One run of a job: from a start to its rest. The numbers are as of the host's last look at its
  /// diary.
  struct Run {
    detail::Desk desk;
    std::uint32_t* lines = nullptr;  // the diary
    std::uint32_t last_line = 0;
    std::uint32_t read = 0;                      // lines, so far
    std::uint32_t in = 0;                        // groups checked in or admitted
    std::uint32_t joined = 0;                    // of those: not by the check-in of a first run
    std::uint32_t out = 0;                       // groups that are out again
    std::uint32_t left = 0;                      // of those: taken away
    std::uint32_t finished = 0;                  // of those: returned
    std::uint32_t refused = 0;                   // blocks that were not admitted
    std::uint32_t gone = 0;                      // blocks that are done with everything
    bool closed = false;                         // the job admits nobody any more
    std::vector<std::vector<std::byte>> images;  // of its memory, until it is there
    std::size_t states_size = 0;
    std::vector<std::uint64_t> heard;  // by the host's clock, of who is out; if traced
    std::uint32_t launched = 0;        // blocks
    std::uint32_t gone_before = 0;     // as of the last look at the grids
    std::uint32_t looks = 0;           // at the grids since then
    std::vector<cudaStream_t> grids;
    bool high = false;

    void catch_up();
  };

  /// The mutex, for every thread but the agent, which lets them pass first. Its end runs the
  /// effects. Throws Error{engine_gone} in a child of fork().
  class Turn {
   public:
    explicit Turn(const Core& core, const char* call = "engine");
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { core_.effects_.perform(lock_); }
    std::unique_lock<std::mutex>& lock() { return lock_; }

   private:
    static const Core& checked(const Core& core, const char* call) {
      core.process_.check(call);
      return core;
    }

    const Core& core_;
    std::unique_lock<std::mutex> lock_;
    OnDevice on_device_;
  };

  enum class Slot : std::uint8_t { free, open, closing, captured };

  /// Waits for `resting`, which `changed` tells of.
  template <class Resting>
  void await(Turn& turn, std::condition_variable& changed,
             std::optional<std::chrono::steady_clock::time_point> deadline, Resting resting);

  // core.cpp: who gets what, and the agent
  void tend();
  bool look();
  [[nodiscard]] bool poll();
  [[nodiscard]] bool idle() const;
  void observe(Record& job);
  void reap(Run& run);
  void rebalance();
  void publish(Record& job, std::uint32_t units);
  void publish_order();
  void refill(Record& job);
  void thin_out(Record& job);
  void settle(Record& job);
  void conclude(Record& job);
  void rest(Record& job, Status status);
  void lose(const std::string& why);
  void fail_lost(Record& job);
  [[nodiscard]] std::uint32_t demanded() const;
  [[nodiscard]] std::uint32_t target_of(const Record& job) const;

  // runs.cpp: grids and their memory
  void shape(Record& job) const;
  bool begin(Record& job, std::uint32_t units);
  [[nodiscard]] std::unique_ptr<Run> make_run(const Record& job, std::uint32_t quorum,
                                              std::uint32_t share);
  void launch_grid(Record& job, std::uint32_t blocks, bool first);
  void write(Run& run, void* to, std::vector<std::byte> bytes);
  [[nodiscard]] Tapes make_tapes(const Record& job, Run& run);
  void play_tapes(const Record& job) const;
  void bury(std::unique_ptr<Run> run);

  void free_slots();
  [[nodiscard]] std::uint32_t free_slot(cudaStream_t stream) const;

  const int device_;
  const bool exclusive_;
  const bool self_test_;
  std::uint32_t sms_ = 0;
  std::size_t sm_memory_ = 0;      // shared memory of an SM
  std::size_t block_memory_ = 0;   // the most of it for one block
  std::size_t block_reserve_ = 0;  // what the system takes of it for each block
  int low_ = 0;
  int high_ = 0;
  std::shared_ptr<cohort::detail::Memory> memory_;
  ControlMemory control_memory_;
  PinnedMemory pinned_memory_;

  mutable std::mutex mutex_;
  mutable std::atomic<std::uint32_t> callers_{0};
  std::condition_variable called_;
  std::thread agent_;
  std::vector<std::shared_ptr<Record>> jobs_;  // not yet ended, in launch order; no tasks
  engine::TaskQueue<Record> tasks_;
  mutable engine::Effects effects_;
  const engine::HomeProcess process_{};
  std::vector<std::unique_ptr<Run>> graves_;  // at rest, but a grid has yet to end
  std::uint32_t capacity_ = 0;
  std::size_t grids_ = 0;
  bool stopping_ = false;
  std::string lost_;  // why every call fails

  cudaStream_t control_ = nullptr;  // for writes of control words
  cudaEvent_t written_ = nullptr;   // there: the memory of all runs so far
  Streams low_streams_;
  Streams high_streams_;
  Demands* demands_ = nullptr;           // on the device
  std::uint32_t* leased_ = nullptr;      // pinned: the same, for the agent
  std::uint32_t* lease_ends_ = nullptr;  // pinned: how often each slot was given back
  Slot slots_[demand_slots] = {};
  std::uint32_t slot_serial_[demand_slots] = {};
  cudaStream_t slot_stream_[demand_slots] = {};
  std::optional<Range> slot_range_[demand_slots];

  friend class Record;
};

template <class Resting>
void Engine::Core::await(Turn& turn, std::condition_variable& changed,
                         std::optional<std::chrono::steady_clock::time_point> deadline,
                         Resting resting) {
  using namespace std::chrono_literals;
  using Clock = std::chrono::steady_clock;
  // Who waits looks himself at first: many a job is over before the agent would wake anybody. Ever
  // more rarely, so that what is missed is small beside what has passed.
  const Clock::time_point began = Clock::now();
  const Clock::time_point until =
      std::min(deadline.value_or(Clock::time_point::max()), began + 10ms);
  for (Clock::time_point at = began; !resting() && at < until; at = Clock::now()) {
    look();
    effects_.perform(turn.lock());
    if (resting()) break;
    turn.lock().unlock();
    while (Clock::now() < at + 1us + (at - began) / 128) std::this_thread::yield();
    turn.lock().lock();
  }
  if (deadline && *deadline != Clock::time_point::max()) {
    changed.wait_until(turn.lock(), *deadline, resting);
  } else {
    changed.wait(turn.lock(), resting);
  }
}

/// A job as the engine knows it. Guarded by the core's mutex.
class Engine::Core::Record final : public cohort::detail::JobControl,
                                   public std::enable_shared_from_this<Record> {
 public:
  Record(std::shared_ptr<Core> its_core, std::unique_ptr<detail::Body> its_body, LaunchOptions with,
         std::optional<int> its_priority)
      : core(std::move(its_core)),
        body(std::move(its_body)),
        options(std::move(with)),
        priority(its_priority),
        target(options.target) {}

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) override;
  void cancel() override;
  Status suspend() override;
  void resume() override;
  void checkpoint(const std::filesystem::path& file) const override;
  void set_target(std::optional<std::uint32_t> groups) override;
  [[nodiscard]] Report report() const override;
  void rethrow() const override;

  /// Groups that units are good for.
  [[nodiscard]] std::uint32_t groups_on(std::uint32_t units) const;
  /// What it keeps of a share when so many SMs are wanted of it, less what others give first.
  [[nodiscard]] std::uint32_t keeps(std::uint32_t share, std::uint32_t sms,
                                    std::uint32_t others = 0) const;
  /// Groups inside the kernel.
  [[nodiscard]] std::uint32_t inside() const { return run == nullptr ? 0 : run->in - run->out; }
  [[nodiscard]] scheduler::Claim claim() const;
  [[nodiscard]] bool open() const;
  void note(std::uint64_t at);
  /// A demand begins, and is met; a task's begins with it.
  void demanded(std::uint64_t at);
  void met(std::uint64_t at);
  /// At rest, and its memory is not being written to a file any more unless it is only suspended.
  [[nodiscard]] bool waited_for() const {
    return at_rest(status) && !(ended(status) && saving > 0);
  }

  const std::shared_ptr<Core> core;
  const std::unique_ptr<detail::Body> body;
  const LaunchOptions options;
  const std::optional<int> priority;    // of a task; a job has none
  std::optional<std::uint32_t> target;  // set by hand
  std::uint32_t threads = 32;           // in a block
  std::uint32_t bundle = 1;             // blocks on an SM
  std::size_t memory = 0;               // shared memory that the launch brings
  Status status = Status::pending;
  Status last_rest = Status::pending;
  std::uint64_t rests = 0;
  bool kept = false;        // a resume continues from the kept State
  bool held = false;        // suspended by the host, not for a task
  bool owed = false;        // a task was served while this job waited: its turn now
  bool cancelled = false;   // has been told so
  bool suspending = false;  // has been told so
  bool concluding = false;  // its groups are out, and its run is read without the mutex
  FaultRecord fault;
  std::string error;  // of CUDA
  std::unique_ptr<Run> run;
  std::uint32_t units = 0;    // as published
  std::uint32_t thin_to = 0;  // groups, until it has no more; then it comes back with fewer grids
  std::uint32_t share_word = 0;      // as published
  std::uint32_t before_word = 0;     // as published
  engine::Ticket ticket;             // of a task
  mutable std::uint32_t saving = 0;  // checkpoints that are being written: it must not run
  mutable std::condition_variable changed;

  std::uint64_t launched_at = now();
  std::uint64_t started_at = 0;
  std::uint64_t ran_before = 0;
  std::uint64_t demand_at = 0;
  std::uint64_t refill_after = 0;
  std::uint32_t refused = 0;
  std::uint32_t last_inside = 0;
  std::uint32_t start_groups = 0;
  std::uint64_t joins = 0;   // of earlier runs
  std::uint64_t leaves = 0;  // of earlier runs
  bool gathered = false;     // a task has all its groups in hand
  Samples gather;
  cpu::Sizes sizes;
  std::optional<Range> range;         // of its run
  std::optional<Range> gather_range;  // of a demand

  std::optional<std::stop_callback<std::function<void()>>> stop_callback;
};

}  // namespace cohort::cuda
