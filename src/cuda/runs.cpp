// Grids, the memory they share with the host, and leases.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/core.hpp"
#include "cuda/tapes.hpp"

namespace cohort::cuda {

void Streams::close() noexcept {
  for (cudaStream_t stream : idle_) cudaStreamDestroy(stream);
  idle_.clear();
}

cudaStream_t Streams::take() {
  if (!idle_.empty()) {
    cudaStream_t stream = idle_.back();
    idle_.pop_back();
    return stream;
  }
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority_), "a stream");
  return stream;
}

/// Decides on the size of a job's blocks, and on how many of them share an SM.
void Engine::Core::shape(Record& job) const {
  const detail::Body& body = *job.body;
  const void* const function = body.function();
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "launch: the kernel's attributes");
  const auto most_threads = std::min<std::uint32_t>(
      max_local_size, static_cast<std::uint32_t>(attributes.maxThreadsPerBlock));
  const std::uint32_t largest = most_threads < 32 ? most_threads : most_threads / 32 * 32;
  const std::optional<std::uint32_t> chosen = job.options.local_size;
  if (chosen > most_threads) {
    throw Error{Errc::bad_options, "launch: local_size = " + std::to_string(*chosen) +
                                       "; this kernel allows blocks of at most " +
                                       std::to_string(most_threads) + " threads"};
  }
  const std::size_t own = attributes.sharedSizeBytes;
  if (own + body.local_memory > block_memory_) {
    throw Error{Errc::bad_options,
                "launch: Kernel::Local has " + std::to_string(body.local_memory) +
                    " bytes; a block has room for " + std::to_string(block_memory_ - own)};
  }
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(block_memory_ - own)),
        "launch: the kernel's shared memory");

  // Just over half of the SM's shared memory for those on it, so that nobody else fits.
  const auto memory_for = [&](std::uint32_t bundle) {
    const std::size_t fixed = own + block_reserve_;
    const std::size_t part = exclusive_ ? (sm_memory_ / 2 + 2048) / bundle : 0;
    const std::size_t most = block_memory_ - own;
    return std::max(body.local_memory, std::min(most, part > fixed ? part - fixed : 0));
  };
  const auto fits = [&](std::uint32_t bundle, std::uint32_t threads, std::size_t memory) {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function,
                                                        static_cast<int>(threads), memory),
          "launch: the kernel's occupancy");
    return static_cast<std::uint32_t>(blocks) >= bundle;
  };
  const std::uint32_t wanted = job.priority ? 1 : (body.max_groups + sms_ - 1) / sms_;
  for (std::uint32_t bundle = wanted; bundle > 0; --bundle) {
    for (std::uint32_t threads = chosen.value_or(largest); threads > 0;
         threads = threads > 128 ? threads / 64 * 32 : 0) {
      if (fits(bundle, threads, memory_for(bundle))) {
        job.bundle = bundle;
        job.threads = threads;
        job.memory = memory_for(bundle);
        // No more than so many on an SM, where the threads alone would allow it.
        const std::size_t alone = sm_memory_ / (bundle + 1) + 1024;
        const std::size_t fixed = own + block_reserve_;
        if (exclusive_ && fits(bundle + 1, threads, job.memory) && alone > fixed &&
            fits(bundle, threads, std::min(alone - fixed, block_memory_ - own))) {
          job.memory = std::max(job.memory, std::min(alone - fixed, block_memory_ - own));
        }
        const std::uint32_t units = (body.max_groups + bundle - 1) / bundle;
        if (job.options.resizable || units <= capacity_) return;
        throw Error{Errc::bad_options,
                    "launch: a static launch of " + std::to_string(body.max_groups) +
                        " groups needs " + std::to_string(units) +
                        " SMs and could never start on " + std::to_string(capacity_) +
                        "; use fewer groups, or resizable = true"};
      }
      if (chosen) break;
    }
  }
  throw Error{Errc::bad_options, "launch: a block of this kernel does not fit an SM"};
}

/// Reads what blocks have written into the diary since the last look.
void Engine::Core::Run::catch_up() {
  for (;; ++read) {
    const std::uint32_t line = seen(lines[read & last_line]);
    if (line >> news_bits != ((read + 1) & (~0U >> news_bits))) return;
    const auto tells = [line](News news) { return (line & news) != 0 ? 1U : 0U; };
    in += tells(came_in);
    joined += tells(joined_later);
    out += tells(came_out);
    left += tells(taken_away);
    finished += tells(has_returned);
    refused += tells(is_gone) & ~tells(came_out);
    gone += tells(is_gone);
    closed = closed || tells(found_closed) != 0;
    if (desk.tapes.heads != nullptr && (line & came_out) != 0) heard.push_back(now());
  }
}

/// Writes what the blocks of a run will find, in the order of the control words that are written
/// later; its grids wait for it.
void Engine::Core::write(Run& run, void* to, std::vector<std::byte> bytes) {
  const auto& kept = run.images.emplace_back(std::move(bytes));
  check(cudaMemcpyAsync(to, kept.data(), kept.size(), cudaMemcpyHostToDevice, control_),
        "a run's memory");
  check(cudaEventRecord(written_, control_), "a run's memory");
}

/// The memory of a run that starts with `quorum` groups, ready for its blocks.
std::unique_ptr<Engine::Core::Run> Engine::Core::make_run(const Record& job, std::uint32_t quorum,
                                                          std::uint32_t share) {
  const detail::Body& body = *job.body;
  const std::uint32_t groups = body.max_groups;
  std::size_t size = 0;
  const auto place = [&size](std::size_t bytes) {
    const std::size_t at = size;
    size = (size + bytes + 255) / 256 * 256;
    return at;
  };
  using Shared = protocol::Shared<Platform>;
  const std::size_t states_size = body.states(nullptr).size();
  const std::size_t shared_at = place(sizeof(Shared));
  const std::size_t states_at = place(states_size);
  const std::size_t boxes_at = place(groups * sizeof(protocol::Box<Platform>));
  const std::size_t box_states_at = place(groups * body.box_state_size);
  const std::size_t ids_at = place(protocol::id_words(groups) * sizeof(std::uint64_t));
  const std::size_t places_at = place(groups * sizeof(std::uint32_t));

  auto run = std::make_unique<Run>();
  run->states_size = states_size;
  run->high = job.priority.has_value();
  // Blocks launched and not known to be gone are never more than the groups; each writes two lines.
  const std::uint32_t lines = std::bit_ceil(2 * groups);
  run->lines = static_cast<std::uint32_t*>(pinned_memory_.take(lines * sizeof(std::uint32_t)));
  run->last_line = lines - 1;
  std::fill_n(run->lines, lines, 0);
  std::byte* memory = nullptr;
  try {
    memory = static_cast<std::byte*>(control_memory_.take(size));
  } catch (...) {
    pinned_memory_.give(run->lines);
    throw;
  }
  run->desk.shared = reinterpret_cast<Shared*>(memory + shared_at);
  run->desk.states = memory + states_at;
  run->desk.places = reinterpret_cast<std::uint32_t*>(memory + places_at);
  run->desk.bundle = job.bundle;
  const bool resizable = job.options.resizable;
  run->desk.demands = resizable ? demands_ : nullptr;
  if (job.options.tracer != nullptr) run->desk.tapes = make_tapes(job, *run);

  std::vector<std::byte> image(size);  // all zero: boxes are empty, nobody has a place
  Shared shared;
  shared.share.store(share, Order::relaxed);
  shared.serial.store(1, Order::relaxed);
  shared.roster.store(Roster::gather, Order::relaxed);
  shared.max_groups = groups;
  shared.quorum = quorum;
  // A static launch needs all its groups; the others begin with those that a busy device lets in.
  shared.start_deadline = resizable ? 1'000'000 : 0;
  shared.offer_wait =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, job.options.offer_wait.count()));
  shared.restarted = job.kept;
  shared.boxes = reinterpret_cast<protocol::Box<Platform>*>(memory + boxes_at);
  shared.recorder.bundle = job.bundle;
  shared.recorder.lines = run->lines;
  shared.recorder.last_line = run->last_line;
  for (Event* const event : {&shared.barrier_event, &shared.offer_event, &shared.lobby_event}) {
    event->job = run->desk.shared;
  }
  shared.lobby_event.pause = 200;
  auto* const ids = reinterpret_cast<Atomic<std::uint64_t>*>(memory + ids_at);
  shared.resting = ids;
  if (body.any_order) {
    shared.resting = nullptr;
    shared.free_ids = ids;
    for (std::uint32_t id = quorum; id < groups; ++id) {  // the first ids go by check-in
      auto& byte = image[ids_at + id / 8];
      byte |= std::byte{1} << (id % 8);
    }
  }
  std::memcpy(image.data() + shared_at, static_cast<const void*>(&shared), sizeof shared);
  const std::vector<std::byte> states = body.states(memory + box_states_at);
  std::memcpy(image.data() + states_at, states.data(), states.size());
  write(*run, memory, std::move(image));
  return run;
}

/// Starts a job, or starts it again. False: not now, too many grids are under way.
bool Engine::Core::begin(Record& job, std::uint32_t units) {
  const std::size_t most = job.priority ? most_grids : most_grids - task_grids;
  if (grids_ >= most) return false;
  const bool resizable = job.options.resizable;
  const std::uint32_t share = resizable ? job.groups_on(units) : job.body->max_groups;
  std::uint32_t count = std::min(share, job.options.start_groups.value_or(share));
  if (count == 0) return false;
  // Those that leases want now would have to leave at once.
  if (resizable) count = std::min(count, job.keeps(share, demanded()));
  if (job.priority) tasks_.start(job);
  try {
    job.run = make_run(job, count, share);
    job.status = Status::running;
    job.started_at = now();
    job.owed = false;
    job.units = units;
    job.share_word = share;
    job.before_word = 0;
    job.refused = 0;
    job.last_inside = 0;
    job.refill_after = 0;
    job.range.emplace(job.priority ? "task" : "job");
    launch_grid(job, count, true);
  } catch (const Error& error) {
    static_cast<void>(cudaStreamSynchronize(control_));  // what is written comes from the run
    job.error = error.what();
    rest(job, Status::failed);
  }
  return true;
}

void Engine::Core::launch_grid(Record& job, std::uint32_t blocks, bool first) {
  Run& run = *job.run;
  Streams& streams = run.high ? high_streams_ : low_streams_;
  cudaStream_t const stream = streams.take();
  detail::Desk desk = run.desk;
  desk.first = first;
  cudaError_t result = cudaStreamWaitEvent(stream, written_);
  if (result == cudaSuccess) {
    result = job.body->launch(desk, blocks, job.threads, job.memory, stream);
  }
  if (result != cudaSuccess) streams.give(stream);
  check(result, "a launch");
  run.grids.push_back(stream);
  run.launched += blocks;
  ++grids_;
}

/// A tape for each block that can be alive at a time; those of an SM are neighbours.
Tapes Engine::Core::make_tapes(const Record& job, Run& run) {
  const std::size_t lanes = std::size_t{sms_} * job.bundle;
  const std::size_t stays = lanes * tape_stays;
  const std::size_t arrivals = lanes * tape_arrivals;
  const std::size_t bytes = (stays + arrivals) * sizeof(TapeEvent);
  auto* const memory =
      static_cast<std::byte*>(control_memory_.take(bytes + lanes * sizeof(TapeHead)));
  auto* const events = reinterpret_cast<TapeEvent*>(memory);
  const Tapes tapes{.heads = reinterpret_cast<TapeHead*>(memory + bytes),
                    .stays = events,
                    .arrivals = events + stays,
                    .lanes = static_cast<std::uint32_t>(lanes)};
  const std::vector<TapeHead> heads(lanes);
  const auto empty = std::as_bytes(std::span{heads});
  write(run, tapes.heads, {empty.begin(), empty.end()});
  return tapes;
}

/// Tells the tracer what is on the tapes of the job's run, by the host's clock.
void Engine::Core::play_tapes(const Record& job) const {
  const Tapes& tapes = job.run->desk.tapes;
  if (tapes.heads == nullptr) return;
  const auto read = [this](auto& to, const auto* from, std::size_t count) {
    to.resize(count);
    memory_->read(to.data(), from, count * sizeof *from);
  };
  Recording recording;
  read(recording.heads, tapes.heads, tapes.lanes);
  read(recording.stays, tapes.stays, std::size_t{tapes.lanes} * tape_stays);
  const bool arrived = std::any_of(recording.heads.begin(), recording.heads.end(),
                                   [](const TapeHead& head) { return head.arrivals > 0; });
  if (arrived) read(recording.arrivals, tapes.arrivals, std::size_t{tapes.lanes} * tape_arrivals);
  play(recording, ahead_of(recording, job.run->heard), *job.options.tracer);
}

/// No block of the run is left, nor will one start.
void Engine::Core::bury(std::unique_ptr<Run> run) {
  if (run->desk.tapes.stays != nullptr) control_memory_.give(run->desk.tapes.stays);
  control_memory_.give(run->desk.shared);
  pinned_memory_.give(run->lines);
}

// ---- leases

/// Slots whose stream has passed the end of their lease.
void Engine::Core::free_slots() {
  for (std::uint32_t i = 0; i < demand_slots; ++i) {
    if (slots_[i] == Slot::closing && seen(lease_ends_[i]) == slot_serial_[i]) {
      slots_[i] = Slot::free;
    }
  }
}

/// A slot that nobody uses; or one whose lease ends in the same stream, and so before the new one.
std::uint32_t Engine::Core::free_slot(cudaStream_t stream) const {
  for (std::uint32_t i = 0; i < demand_slots; ++i) {
    if (slots_[i] == Slot::free) return i;
  }
  for (std::uint32_t i = 0; i < demand_slots; ++i) {
    if (slots_[i] == Slot::closing && slot_stream_[i] == stream) return i;
  }
  throw Error{Errc::bad_options,
              "lease: " + std::to_string(demand_slots) + " leases are open; give one back first"};
}

std::uint32_t Engine::Core::open_lease(cudaStream_t stream, std::uint32_t sms) {
  const Turn turn{*this, "lease"};
  check_alive();
  if (sms == 0 || sms > sms_) {
    throw Error{Errc::bad_options,
                "lease: sms = " + std::to_string(sms) + "; it can be 1 to " + std::to_string(sms_)};
  }
  std::uint32_t floor = 0;
  for (const auto& job : jobs_) {
    if (job->status != Status::running) continue;
    floor += job->options.resizable ? 1 : job->claim().max_groups;
  }
  if (sms + floor > capacity_) {
    throw Error{Errc::bad_options, "lease: " + std::to_string(sms) + " of " +
                                       std::to_string(capacity_) +
                                       " SMs, but the running jobs need " + std::to_string(floor) +
                                       "; ask for fewer, or suspend a job first"};
  }
  int priority = 0;
  check(cudaStreamGetPriority(stream, &priority), "lease: the stream's priority");
  if (priority >= low_) {
    throw Error{Errc::bad_options, "lease: the stream has priority " + std::to_string(priority) +
                                       ", which does not outrank the jobs' " +
                                       std::to_string(low_) +
                                       ", so a freed SM might go back to them; make it with "
                                       "cudaStreamCreateWithPriority and " +
                                       std::to_string(low_ - 1) + " to " + std::to_string(high_)};
  }
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &capturing), "lease: the stream");
  free_slots();
  const std::uint32_t slot = free_slot(stream);
  check(stream_write(stream, &demands_->slot[slot], sms), "lease: the demand");
  check(stream_write(stream, &leased_[slot], sms), "lease: the demand");
  slot_stream_[slot] = stream;
  slot_range_[slot].emplace("lease");
  slots_[slot] = capturing == cudaStreamCaptureStatusNone ? Slot::open : Slot::captured;
  called_.notify_all();
  return slot;
}

void Engine::Core::close_lease(std::uint32_t slot, cudaStream_t stream) noexcept {
  try {
    const Turn turn{*this};
    slot_range_[slot].reset();
    if (demands_ == nullptr || !lost_.empty()) return;  // the engine has gone before its lease
    const auto withdraw = [&](cudaStream_t with) {
      const bool first = stream_write(with, &demands_->slot[slot], 0) == cudaSuccess;
      return stream_write(with, &leased_[slot], 0) == cudaSuccess && first;
    };
    const bool captured = slots_[slot] == Slot::captured;
    const std::uint32_t serial = ++slot_serial_[slot];
    // A stream that fails cannot keep the SMs: the demand goes by our own.
    cudaStream_t const with = withdraw(stream) ? stream : control_;
    if (with == control_) withdraw(control_);
    if (captured && with == stream) return;  // a graph may replay it: the slot stays its own
    static_cast<void>(stream_write(with, &lease_ends_[slot], serial));
    slots_[slot] = Slot::closing;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the mutex, which does not fail
  }
}

Lease::Lease(std::shared_ptr<Engine::Core> core, std::uint32_t slot, cudaStream_t stream) noexcept
    : core_(std::move(core)), slot_(slot), stream_(stream) {}

Lease::Lease(Lease&& other) noexcept
    : core_(std::move(other.core_)), slot_(other.slot_), stream_(other.stream_) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    give_back();
    core_ = std::move(other.core_);
    slot_ = other.slot_;
    stream_ = other.stream_;
  }
  return *this;
}

Lease::~Lease() { give_back(); }

void Lease::give_back() noexcept {
  if (core_ == nullptr) return;
  core_->close_lease(slot_, stream_);
  core_.reset();
}

}  // namespace cohort::cuda
