// A kernel on several ranks: each superstep is a job of the rank's own engine. So inside a rank,
// groups come and go and tasks borrow units as in any job. Invariant: while ranks exchange
// messages, no group of the job runs, and its units are free.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cohort/checkpoint.hpp"
#include "cohort/cpu.hpp"
#include "cohort/error.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/protocol/balance.hpp"
#include "cohort/protocol/ranks.hpp"
#include "cohort/shards.hpp"

namespace cohort {

/// Options for a kernel on several ranks.
struct RankOptions {
  /// V, the number of shards of the job on all ranks. A job can have at most this many ranks.
  std::uint32_t shards = 64;
  /// The cost of each shard, if it is known; it must be the same on all ranks. Decides where the
  /// shards are at the start. If empty, all shards cost the same.
  std::vector<std::uint64_t> weights = {};
  /// How each superstep is launched on the rank's engine.
  LaunchOptions launch = {};
  /// Distinguishes the checkpoints of different jobs. Default: the kernel's name.
  std::string name = {};
  /// The folder for checkpoints, which all ranks must see. If empty, the job cannot be suspended.
  std::filesystem::path checkpoint = {};
  /// The interval between checkpoints. 0: a checkpoint is written only when the job is suspended.
  std::chrono::nanoseconds every{0};
};

/// Statistics of one rank.
struct RankReport {
  protocol::RankEnd end = protocol::RankEnd::finished;
  std::uint64_t supersteps = 0;
  std::uint64_t messages = 0;  ///< number of messages sent; one to all ranks counts once
  /// The superstep of the checkpoint from which this run started; 0 if it started without one.
  std::uint64_t continued = 0;
  std::chrono::nanoseconds local_time{0};
  std::chrono::nanoseconds exchange_time{
      0};  ///< time in votes and exchanges, including waits for slower ranks
};

/// Requests to the ranks of a running job: see protocol::Requests.
using RankRequests = protocol::Requests<cpu::Platform>;

/// Whether a request waits for the next exchange: see RankRequests. A kernel has it as the member
/// `asked`, and may go on without exchanges while all shards are on this rank: no other rank can be
/// asked then.
class Asked {
 public:
  Asked() = default;
  explicit Asked(const RankRequests& requests) : requests_(&requests) {}

  explicit operator bool() const {
    const protocol::Ballot mine = requests_->ballot(true);
    return mine.target + mine.save + mine.suspend != 0;
  }

 private:
  const RankRequests* requests_ = nullptr;
};

/// Checkpoints in a folder: one file per shard, and a manifest that is renamed into place last.
class ShardFiles {
 public:
  /// Refuses files of a job with another name.
  ShardFiles(std::filesystem::path folder, std::string job)
      : folder_(std::move(folder)), job_(std::move(job)) {}

  void write(std::uint64_t generation, std::uint32_t shard, const protocol::Bytes& bytes) const;
  [[nodiscard]] protocol::Bytes read(std::uint64_t generation, std::uint32_t shard) const;
  void publish(const protocol::Manifest& manifest) const;
  void prune(std::uint64_t generation) const;
  /// The checkpoint in the folder, if there is one.
  [[nodiscard]] std::optional<protocol::Manifest> published() const;
  /// Removes the checkpoint. Call it once the job has finished.
  void clear() const;

 private:
  [[nodiscard]] std::filesystem::path file_of(std::uint64_t generation, std::uint32_t shard) const;

  std::filesystem::path folder_;
  std::string job_;
};

namespace detail {

/// Runs the local steps of a kernel up to the next exchange.
template <class Kernel>
struct LocalSteps {
  static_assert(StepKernel<Kernel>,
                "cohort: a kernel on several ranks is in step style. Work stealing across ranks is "
                "not offered: its groups would wait for the network in every offer");
  static_assert(!HasSetup<Kernel>,
                "cohort: a kernel on several ranks has no setup(): make the "
                "shards as they should be at the start");
  static constexpr Traits traits = declared_traits<Kernel>();
  using Local = LocalOf<Kernel>;
  struct State {
    StateOf<Kernel> its = {};
    bool begun = false;
  };

  Kernel kernel;
  StateOf<Kernel>* kept;  // the State between supersteps
  std::uint32_t* wants;   // whether a group waits for an exchange

  template <class Group>
  Next step(Group& group, State& state) const {
    if (!std::exchange(state.begun, true)) {
      state.its = first;
      if constexpr (requires { kernel.begin(state.its); }) kernel.begin(state.its);
    }
    const Next next = kernel.step(group, state.its);
    if (group.global_id() == 0) *kept = state.its;
    if (next == Next::exchange && group.atomic(*wants).load() == 0) group.atomic(*wants).store(1);
    return next == Next::again ? Next::again : Next::halt;
  }

  StateOf<Kernel> first;  // a copy, because groups still read it when the first one writes `kept`
};

/// Implements the Work of the outer protocol for a kernel.
template <class Engine, class Kernel>
class RankWork {
 public:
  using Part = typename Kernel::Part;
  using Message = typename Kernel::Message;
  using Memory = RankMemory<Part, Message>;
  using Bytes = protocol::Bytes;

  RankWork(Engine& engine, Kernel kernel, const RankRequests& requests, const RankOptions& options)
      : engine_(engine),
        kernel_(std::move(kernel)),
        requests_(requests),
        launch_(options.launch),
        memory_(options.shards, std::size_t{options.launch.max_groups.value_or(engine.capacity())} *
                                    options.launch.local_size.value_or(1)) {}

  void add(std::uint32_t shard, Part part) {
    memory_.parts[shard] = std::make_unique<Part>(std::move(part));
    adopted_.push_back(shard);
    list_parts();
  }
  [[nodiscard]] Memory& memory() { return memory_; }

  void compute(protocol::Ballot& ballot) {
    if constexpr (requires(Part & part) { kernel_.adopt(state_, part); }) {
      for (const std::uint32_t shard : adopted_) kernel_.adopt(state_, *memory_.parts[shard]);
    }
    adopted_.clear();
    kernel_.parts = Shards<Part>{memory_};
    kernel_.in = Inbox<Message>{std::span<const Message>{memory_.inbox}};
    kernel_.out = Outbox<Message>{std::span{memory_.lanes}};
    if constexpr (requires { kernel_.tally; }) kernel_.tally = Tally<Message>{memory_};
    if constexpr (requires { kernel_.asked; }) kernel_.asked = Asked{requests_};
    std::uint32_t wants = 0;
    const auto begin = std::chrono::steady_clock::now();
    const Report done =
        engine_.launch(LocalSteps<Kernel>{kernel_, &state_, &wants, state_}, launch_).wait();
    report.local_time += std::chrono::steady_clock::now() - begin;
    if (done.status != Status::finished)
      throw Error{Errc::bad_state,
                  std::string{"the job of a superstep was "} + to_string(done.status)};
    ++report.supersteps;
    ballot.more = wants;
    for (auto& lane : memory_.lanes) {
      if (lane.least != std::numeric_limits<std::uint64_t>::max()) ballot.more = 1;
      ballot.sum += std::exchange(lane.sum, 0);
      ballot.least = std::min(ballot.least,
                              std::exchange(lane.least, std::numeric_limits<std::uint64_t>::max()));
      sends_ += std::exchange(lane.sent, 0);
    }
  }

  [[nodiscard]] bool sends() const { return sends_ != 0; }
  Bytes messages(std::uint32_t shard) {
    std::vector<Message> all;
    for (auto& lane : memory_.lanes) {
      auto& to = lane.to[shard];
      all.insert(all.end(), to.begin(), to.end());
      to.clear();
    }
    if constexpr (requires { kernel_.combine(all); }) kernel_.combine(all);
    report.messages += all.size();
    return as_bytes(all);
  }
  Bytes messages_to_all() {
    std::vector<Message> all;
    for (auto& lane : memory_.lanes) {
      all.insert(all.end(), lane.to_all.begin(), lane.to_all.end());
      lane.to_all.clear();
    }
    report.messages += all.size();
    return as_bytes(all);
  }
  void voted(const protocol::Ballot& all) {
    sends_ = 0;
    memory_.inbox.clear();
    memory_.deliveries.clear();
    memory_.sum = all.sum;
    memory_.least = all.least;
  }
  void deliver(std::uint32_t shard, const Bytes& bytes) {
    const std::size_t begin = memory_.inbox.size();
    deliver_to_all(bytes);
    memory_.deliveries.push_back({shard, begin, memory_.inbox.size()});
  }
  void deliver_to_all(const Bytes& bytes) {
    const std::size_t begin = memory_.inbox.size();
    memory_.inbox.resize(begin + bytes.size() / sizeof(Message));
    if (!bytes.empty())
      std::memcpy(static_cast<void*>(memory_.inbox.data() + begin), bytes.data(), bytes.size());
  }
  [[nodiscard]] Bytes delivered(std::uint32_t shard) const {
    Bytes bytes;
    for (const auto& each : memory_.deliveries) {
      if (each.shard != shard) continue;
      const auto part =
          std::as_bytes(std::span{memory_.inbox}.subspan(each.begin, each.end - each.begin));
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
    return bytes;
  }
  [[nodiscard]] Bytes pack(std::uint32_t shard) const {
    Bytes bytes;
    FieldWriter visit{protocol::ParcelWriter{bytes}};
    memory_.parts[shard]->fields(visit);
    return bytes;
  }
  void unpack(std::uint32_t shard, const Bytes& bytes) {
    Part part;
    FieldReader visit{protocol::ParcelReader{bytes}};
    part.fields(visit);
    add(shard, std::move(part));
  }
  void drop(std::uint32_t shard) {
    memory_.parts[shard].reset();
    list_parts();
  }
  [[nodiscard]] Bytes state() const {
    Bytes bytes;
    protocol::ParcelWriter writer{bytes};
    writer.value(state_);
    writer.value(memory_.sum);
    writer.value(memory_.least);
    return bytes;
  }
  void set_state(const Bytes& bytes) {
    protocol::ParcelReader reader{bytes};
    state_ = reader.template value<State>();
    memory_.sum = reader.template value<double>();
    memory_.least = reader.template value<std::uint64_t>();
  }
  /// Called after set_state() with the State of a checkpoint.
  void restored() {
    if constexpr (requires { Kernel::restored(state_); }) Kernel::restored(state_);
  }

  RankReport report;

 private:
  using State = StateOf<Kernel>;

  static Bytes as_bytes(const std::vector<Message>& messages) {
    const auto bytes = std::as_bytes(std::span{messages});
    return {bytes.begin(), bytes.end()};
  }
  void list_parts() {
    memory_.here.clear();
    for (std::uint32_t shard = 0; shard < memory_.parts.size(); ++shard) {
      if (memory_.parts[shard] != nullptr) memory_.here.push_back(shard);
    }
  }

  Engine& engine_;
  Kernel kernel_;
  const RankRequests& requests_;
  LaunchOptions launch_;
  Memory memory_;
  std::vector<std::uint32_t> adopted_;  // shards that have come since the last superstep
  State state_{};
  std::uint64_t sends_ = 0;
};

/// Requests a checkpoint at fixed intervals.
class SaveTimer {
 public:
  SaveTimer(RankRequests& requests, std::chrono::nanoseconds every)
      : thread_([&requests, every](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any changed;
          std::unique_lock lock{mutex};
          while (!changed.wait_for(lock, stop, every, [&stop] { return stop.stop_requested(); }))
            requests.save();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace detail

/// One rank's part in a job. At the end it still holds the shards of this rank.
template <protocol::Network N, class Engine, class Kernel>
class RankJob {
 public:
  using Part = typename Kernel::Part;

  /// `network` and `engine` must outlive the job.
  RankJob(N& network, Engine& engine, Kernel kernel, RankOptions options)
      : network_(network),
        options_(checked(std::move(options), network)),
        work_(engine, std::move(kernel), requests_, options_),
        files_(options_.checkpoint,
               options_.name.empty() ? detail::checkpoint_name<Kernel>() : options_.name),
        rank_(network, work_, requests_, options_.checkpoint.empty() ? nullptr : &files_,
              options_.weights.empty()
                  ? protocol::first_owners(options_.shards, network.ranks())
                  : protocol::balanced_owners(options_.weights, network.ranks())) {}

  /// Runs this rank's part to its end. `make(owners)` makes the shards of this rank, in ascending
  /// order. All ranks call it, but only at a fresh start. Throws the kernel's exception on this
  /// rank, and Error{broken_contract} if another rank failed.
  template <class Make>
  RankReport run(Make make) {
    start(make);
    const auto begin = std::chrono::steady_clock::now();
    std::optional<detail::SaveTimer> timer;
    if (network_.rank() == 0 && options_.every.count() > 0)
      timer.emplace(requests_, options_.every);
    RankReport& report = work_.report;
    report.end = rank_.run();
    timer.reset();
    report.exchange_time = std::chrono::steady_clock::now() - begin - report.local_time;
    if (report.end == protocol::RankEnd::finished && network_.rank() == 0 &&
        !options_.checkpoint.empty())
      files_.clear();
    if (report.end == protocol::RankEnd::failed) {
      if (rank_.fault()) std::rethrow_exception(rank_.fault());
      throw Error{Errc::broken_contract, "another rank has failed; its message says why"};
    }
    return report;
  }

  /// May be called by any thread, and in signal handlers, while the job runs.
  [[nodiscard]] RankRequests& requests() { return requests_; }

  /// Calls `see(shard, part)` for each shard on this rank.
  template <class See>
  void for_parts(See see) {
    for (const std::uint32_t shard : work_.memory().here) see(shard, *work_.memory().parts[shard]);
  }

 private:
  static RankOptions checked(RankOptions options, const N& network) {
    if (options.shards < network.ranks()) {
      throw Error{Errc::bad_options, "shards = " + std::to_string(options.shards) +
                                         ": each of the " + std::to_string(network.ranks()) +
                                         " ranks needs one"};
    }
    if (!options.weights.empty() && options.weights.size() != options.shards) {
      throw Error{Errc::bad_options, "weights of " + std::to_string(options.weights.size()) +
                                         " shards: there are " + std::to_string(options.shards)};
    }
    if (options.every.count() > 0 && options.checkpoint.empty())
      throw Error{Errc::bad_options, "checkpoints every so often need a folder: set `checkpoint`"};
    return options;
  }

  template <class Make>
  void start(Make& make) {
    if (network_.joined()) return;
    if (!options_.checkpoint.empty()) {
      if (const auto manifest = files_.published()) {
        if (manifest->shards != options_.shards) {
          throw Error{Errc::bad_file, "checkpoint " + options_.checkpoint.string() + ": it has " +
                                          std::to_string(manifest->shards) + " shards, not " +
                                          std::to_string(options_.shards)};
        }
        rank_.restore(*manifest);
        work_.restored();
        work_.report.continued = manifest->superstep;
        return;
      }
    }
    std::vector<Part> parts = make(rank_.owners());
    auto next = parts.begin();
    for (std::uint32_t shard = 0; shard < options_.shards; ++shard) {
      if (rank_.has(shard)) work_.add(shard, std::move(*next++));
    }
  }

  N& network_;
  RankOptions options_;
  RankRequests requests_;
  detail::RankWork<Engine, Kernel> work_;
  ShardFiles files_;
  protocol::Rank<cpu::Platform, N, detail::RankWork<Engine, Kernel>, ShardFiles> rank_;
};

}  // namespace cohort
