// The CUDA engine's backend: the grids that it has launched, the log in which their blocks report,
// and leases.
// Invariant: nothing here waits for a running kernel to make progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "cohort/cuda.hpp"
#include "cuda/driver.hpp"
#include "cuda/memory.hpp"
#include "cuda/ranges.hpp"
#include "cuda/watchdog.hpp"
#include "engine/agent.hpp"

namespace cohort::cuda {

using engine::Census;
using engine::Ending;
using engine::JobRecord;
using engine::now;
using protocol::FaultRecord;
using protocol::Roster;

/// Reads a word that the device or a stream writes.
[[nodiscard]] inline std::uint32_t seen(const std::uint32_t& word) noexcept {
  return std::atomic_ref{const_cast<std::uint32_t&>(word)}.load(std::memory_order_acquire);
}

/// Streams of one priority, each for one grid at a time. Nothing is ever queued behind one of the
/// engine's grids, since that could delay the writes of other streams.
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

/// One run of a job, from a start until the job is at rest. The counts are as of the host's last
/// look at the log.
struct Run {
  detail::RunArguments arguments;
  std::uint32_t* lines = nullptr;  // the log; null: the run could not be started
  std::uint32_t last_line = 0;
  std::uint32_t read = 0;  // lines read so far
  std::uint32_t in = 0;    // groups checked in or admitted
  // Groups that came in other than by a first run's check-in.
  std::uint32_t joined = 0;
  std::uint32_t out = 0;       // groups that are out
  std::uint32_t left = 0;      // groups that were killed
  std::uint32_t finished = 0;  // groups that returned
  std::uint32_t refused = 0;   // blocks that were not admitted
  std::uint32_t gone = 0;      // blocks that have reported that they are done
  bool closed = false;         // the job admits no more groups
  // Initial contents of the run's memory, kept until they are copied.
  std::vector<std::vector<std::byte>> images;
  std::size_t states_size = 0;
  std::vector<std::uint64_t> heard;  // when each group was out, by the host's clock; only if traced
  std::uint32_t launched = 0;        // number of blocks launched
  std::uint32_t gone_before = 0;     // as of the last check of the grids
  std::uint32_t looks = 0;           // polls since the last check of the grids
  std::vector<cudaStream_t> grids;
  bool high = false;
  std::uint32_t thin_to = 0;      // first shrink to this many groups, then return with fewer grids
  std::uint32_t share_word = 0;   // the share, as last published
  std::uint32_t before_word = 0;  // the number of SMs that other jobs give first, as last published
  std::uint64_t refill_after = 0;
  bool told_to_suspend = false;

  /// Reads what blocks have written to the log since the last call.
  void catch_up();
  /// Whether no group is inside, and blocks that start later find the job closed.
  [[nodiscard]] bool empty() const { return closed && in == out; }
};

namespace detail {

/// How a job is ordered with the work of a stream.
class StreamOrder {
 public:
  StreamOrder() = default;
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;
  ~StreamOrder();

  cudaEvent_t reached = nullptr;  // recorded in the stream before the job: its earlier work is done
  // Pinned word for which later work of the stream waits; null when no longer needed.
  std::uint32_t* gate = nullptr;
};

/// The engine's data of a job, in addition to its record.
struct DeviceJob {
  cudaFunction_t function = nullptr;
  std::uint32_t threads = 32;  // per block
  std::size_t memory = 0;      // shared memory allocated by the launch
  std::unique_ptr<Run> run;
  std::optional<Range> range;         // the run, as shown by a profiler
  std::optional<Range> gather_range;  // a demand, as shown by a profiler
};

}  // namespace detail

class Grids final : public engine::PolledBackend {
 public:
  Grids(engine::Dispatcher& dispatcher, const EngineOptions& options);
  ~Grids() override { close(); }
  /// Called before the first job.
  void open();

  [[nodiscard]] std::uint32_t sms() const { return sms_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] std::uint32_t open_lease(cudaStream_t stream, std::uint32_t sms);
  void close_lease(std::uint32_t slot, cudaStream_t stream) noexcept;

  [[nodiscard]] std::shared_ptr<detail::StreamOrder> order_after(cudaStream_t stream);
  void hold_up(cudaStream_t stream, detail::StreamOrder& order);
  void let_go(detail::StreamOrder& order);

  void admit(JobRecord& job) override;
  void resize(std::uint32_t units) override;
  void stop() override;
  void published_all() override;
  [[nodiscard]] bool may_begin(const JobRecord& job) const override;
  [[nodiscard]] std::uint32_t startable(const JobRecord& job, std::uint32_t groups) const override;
  void start(JobRecord& job, std::uint32_t groups) override;
  void publish(JobRecord& job) override;
  void refill(JobRecord& job) override;
  [[nodiscard]] Census census(const JobRecord& job) const override;
  [[nodiscard]] std::uint32_t target(const JobRecord& job) const override;
  [[nodiscard]] std::optional<Ending> ending(JobRecord& job) override;
  [[nodiscard]] Ending conclude(JobRecord& job) override;
  void retire(JobRecord& job) override;
  void ended(JobRecord& job) override;
  void await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
             const std::function<bool()>& done) override;
  void abandon() override { retired_.clear(); }
  [[nodiscard]] std::string lost_prefix() const override {
    return "the engine is lost, make a new process: ";
  }
  [[nodiscard]] bool busy() const override { return dispatcher_.has_work() || !retired_.empty(); }
  std::chrono::microseconds look() override;

 private:
  /// The maximum number of grids that run or wait at a time. With about 40 grids, each in its own
  /// stream, a CUDA call may not return before one of them has ended.
  static constexpr std::size_t most_grids = 24;
  /// How many of these grids are reserved for tasks.
  static constexpr std::size_t task_grids = 8;
  /// How many streams to try for a grid while other streams wait for jobs.
  static constexpr std::size_t most_stuck = 8;

  enum class Slot : std::uint8_t { free, open, closing, captured };

  void attend_on_agent() override;
  void close() noexcept;

  // grids.cpp: orders to blocks, and their reports
  void watch();
  void observe(JobRecord& job);
  void reap(Run& run);
  [[nodiscard]] std::uint32_t demanded() const;

  // runs.cpp: the memory of runs, and their grids
  void furnish(Run& run, const JobRecord& job, std::uint32_t quorum);
  void launch_grid(JobRecord& job, std::uint32_t blocks, bool first);
  void write(Run& run, void* to, std::vector<std::byte> bytes);
  [[nodiscard]] Tapes make_tapes(const JobRecord& job, Run& run);
  void play_tapes(const JobRecord& job) const;
  void reuse_memory(const Run& run);

  // functions.cpp: order with streams
  void open_gate(detail::StreamOrder& order);
  [[nodiscard]] bool moves(cudaStream_t stream);
  [[nodiscard]] bool gated() const;
  [[nodiscard]] cudaStream_t take_stream(Streams& streams);

  // leases.cpp
  void free_slots();
  [[nodiscard]] std::uint32_t free_slot(cudaStream_t stream) const;

  const int device_;
  const bool exclusive_;
  std::unique_ptr<Watchdog> watchdog_;  // null if the user does not want it
  const bool suspends_for_calls_;
  std::uint32_t sms_ = 0;
  std::size_t sm_memory_ = 0;      // bytes of shared memory of an SM
  std::size_t block_memory_ = 0;   // maximum of one block, in bytes
  std::size_t block_reserve_ = 0;  // reserved by the system per block, in bytes
  int low_ = 0;
  int high_ = 0;
  ControlMemory control_memory_;
  PinnedMemory pinned_memory_;
  std::vector<std::unique_ptr<Run>> retired_;  // runs that have ended, but not all of their grids
  std::size_t grids_ = 0;

  cudaStream_t control_ = nullptr;  // for writes of control words
  cudaEvent_t written_ = nullptr;   // recorded in `control_` after the memory of all runs so far
  Streams low_streams_;
  Streams high_streams_;
  std::vector<std::uint32_t*> gates_;  // pinned words, see StreamOrder
  // Streams blocked by a stream that waits for a job.
  std::vector<std::pair<Streams*, cudaStream_t>> stuck_;
  // pinned, for writes whose value is never read
  std::uint32_t* canary_ = nullptr;
  Demands* demands_ = nullptr;           // on the device
  std::uint32_t* leased_ = nullptr;      // pinned: a copy for the agent
  std::uint32_t* lease_ends_ = nullptr;  // pinned: how often each slot has been given back
  Slot slots_[demand_slots] = {};
  std::uint32_t slot_serial_[demand_slots] = {};
  cudaStream_t slot_stream_[demand_slots] = {};
  std::optional<Range> slot_range_[demand_slots];
};

[[nodiscard]] inline detail::GridBody& body_of(const JobRecord& job) {
  return static_cast<detail::GridBody&>(*job.body);
}
[[nodiscard]] inline detail::DeviceJob& on_device(const JobRecord& job) {
  return *body_of(job).on_device;
}
/// What a job keeps of its share if leases want `sms` SMs of it, minus what other jobs give first.
[[nodiscard]] std::uint32_t keeps(const JobRecord& job, std::uint32_t share, std::uint32_t sms,
                                  std::uint32_t others = 0);

}  // namespace cohort::cuda
