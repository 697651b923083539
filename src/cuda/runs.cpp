// Runs: the shape of their blocks, the memory that blocks and host share, and the launch of grids.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cohort/protocol/reset.hpp"
#include "cuda/grids.hpp"
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

namespace {

/// Refuses kernels that cannot be launched as they are compiled.
void check_form(const detail::GridBody& body, const Code& code) {
  const bool clusters = code.attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) != 0 ||
                        code.attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH) > 1;
  if (clusters) {
    throw Error{
        Errc::bad_options,
        "launch: this kernel has clusters, whose blocks cannot leave one by one; compile it "
        "without __cluster_dims__"};
  }
  const std::vector<std::size_t>& sizes = body.parameter_sizes;
  for (std::size_t i = 0; i <= sizes.size() && !sizes.empty(); ++i) {
    const std::optional<std::size_t> its = code.parameter(i);
    if (!its || *its == (i < sizes.size() ? sizes[i] : 0)) continue;
    throw Error{
        Errc::bad_options,
        i == 0 ? "launch: the first parameter of this function is not the cohort::GridArg of this "
                 "version of cohort; compile it with the same headers"
        : *its == 0 || i == sizes.size()
            ? "launch: " + std::to_string(sizes.size() - 1) +
                  " arguments after the options; this " + "function has " +
                  (*its == 0 ? "fewer" : "more") + " parameters after its GridArg"
            : "launch: argument " + std::to_string(i) + " after the options has " +
                  std::to_string(sizes[i]) + " bytes; the parameter has " + std::to_string(*its)};
  }
}

}  // namespace

/// Chooses the size of a job's blocks, and how many of them share an SM.
void Grids::admit(JobRecord& job) {
  detail::GridBody& body = body_of(job);
  if (body.on_device != nullptr) return;  // the job is being resumed
  const OnDevice here{device_};
  body.on_device = std::make_shared<detail::DeviceJob>();
  detail::DeviceJob& shape = *body.on_device;
  if (job.priority) shape.gather_range.emplace("gather for a task");
  shape.function = body.function();
  const Code code{shape.function};
  check_form(body, code);
  const auto most_threads =
      std::min(max_local_size,
               static_cast<std::uint32_t>(code.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)));
  const std::uint32_t largest = most_threads < 32 ? most_threads : most_threads / 32 * 32;
  const std::optional<std::uint32_t> chosen = job.options.local_size;
  if (chosen > most_threads) {
    throw Error{Errc::bad_options, "launch: local_size = " + std::to_string(*chosen) +
                                       "; this kernel allows blocks of at most " +
                                       std::to_string(most_threads) + " threads"};
  }
  const auto own = static_cast<std::size_t>(code.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  if (own + body.local_memory > block_memory_) {
    throw Error{Errc::bad_options, std::string{"launch: "} + body.local_memory_name +
                                       std::to_string(body.local_memory) +
                                       " bytes; a block has room for " +
                                       std::to_string(block_memory_ - own)};
  }
  code.allow_shared_memory(block_memory_ - own);

  // The blocks on one SM reserve just over half of its shared memory together, so that no other
  // fits.
  const auto memory_for = [&](std::uint32_t bundle) {
    const std::size_t fixed = own + block_reserve_;
    const std::size_t part = exclusive_ ? (sm_memory_ / 2 + 2048) / bundle : 0;
    const std::size_t most = block_memory_ - own;
    return std::max(body.local_memory, std::min(most, part > fixed ? part - fixed : 0));
  };
  const auto fits = [&code](std::uint32_t bundle, std::uint32_t threads, std::size_t memory) {
    return code.blocks_on_an_sm(threads, memory) >= bundle;
  };
  const std::uint32_t wanted = job.priority ? 1 : (body.max_groups + sms_ - 1) / sms_;
  for (std::uint32_t bundle = wanted; bundle > 0; --bundle) {
    for (std::uint32_t threads = chosen.value_or(largest); threads > 0;
         threads = threads > 128 ? threads / 64 * 32 : 0) {
      if (fits(bundle, threads, memory_for(bundle))) {
        body.groups_per_unit = bundle;
        shape.threads = threads;
        shape.memory = memory_for(bundle);
        // Limits the blocks per SM where the number of threads alone would allow more.
        const std::size_t alone = sm_memory_ / (bundle + 1) + 1024;
        const std::size_t fixed = own + block_reserve_;
        if (exclusive_ && fits(bundle + 1, threads, shape.memory) && alone > fixed &&
            fits(bundle, threads, std::min(alone - fixed, block_memory_ - own))) {
          shape.memory = std::max(shape.memory, std::min(alone - fixed, block_memory_ - own));
        }
        return;
      }
      if (chosen) break;
    }
  }
  throw Error{Errc::bad_options, "launch: a block of this kernel does not fit an SM"};
}

void Run::catch_up() {
  for (; lines != nullptr; ++read) {
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
    if (arguments.tapes.heads != nullptr && (line & came_out) != 0) heard.push_back(now());
  }
}

/// Writes memory that the blocks of a run will read. Later writes of control words are ordered
/// after it, and the run's grids wait for it.
void Grids::write(Run& run, void* to, std::vector<std::byte> bytes) {
  const auto& kept = run.images.emplace_back(std::move(bytes));
  check(cudaMemcpyAsync(to, kept.data(), kept.size(), cudaMemcpyHostToDevice, control_),
        "a run's memory");
  check(cudaEventRecord(written_, control_), "a run's memory");
}

/// Prepares the memory of a run that starts with `quorum` groups.
void Grids::furnish(Run& run, const JobRecord& job, std::uint32_t quorum) {
  const detail::GridBody& body = body_of(job);
  const std::uint32_t groups = body.max_groups;
  std::size_t size = 0;
  const auto place = [&size](std::size_t bytes) {
    const std::size_t at = size;
    size = (size + bytes + 255) / 256 * 256;
    return at;
  };
  using Shared = protocol::Shared<Platform>;
  const std::vector<std::byte> states = body.states();
  const std::size_t shared_at = place(sizeof(Shared));
  const std::size_t states_at = place(states.size());
  const std::size_t boxes_at = place(groups * sizeof(protocol::Box<Platform>));
  const std::uint32_t words = protocol::id_words(groups);
  const std::size_t free_ids_at = place(words * sizeof(std::uint64_t));
  const std::size_t resting_at = place(words * sizeof(std::uint64_t));
  const std::size_t places_at = place(groups * sizeof(std::uint32_t));
  // The host fills this part; the rest is written before it is read.
  const std::size_t filled = size;
  const std::size_t box_states_at = place(groups * body.box_state_size);

  run.states_size = states.size();
  run.share_word = job.share;
  run.high = job.priority.has_value();
  // At any time, at most as many blocks are launched and not known to be gone as the job has
  // groups. Each block writes two lines.
  const std::uint32_t lines = std::bit_ceil(2 * groups);
  run.lines = static_cast<std::uint32_t*>(pinned_memory_.take(lines * sizeof(std::uint32_t)));
  run.last_line = lines - 1;
  std::fill_n(run.lines, lines, 0);
  auto* const memory = static_cast<std::byte*>(control_memory_.take(size));
  run.arguments.shared = reinterpret_cast<Shared*>(memory + shared_at);
  run.arguments.states = memory + states_at;
  run.arguments.box_states = memory + box_states_at;
  run.arguments.stress = body.stress;
  run.arguments.places = reinterpret_cast<std::uint32_t*>(memory + places_at);
  run.arguments.bundle = body.groups_per_unit;
  run.arguments.demands = job.resizable() ? demands_ : nullptr;
  if (job.options.tracer != nullptr) run.arguments.tapes = make_tapes(job, run);

  std::vector<std::byte> image(filled);  // all zero: boxes are empty, no group has a place
  Shared shared;
  shared.max_groups = groups;
  protocol::reset_words(shared, quorum, job.kept, Order::relaxed);
  shared.share.store(job.share, Order::relaxed);
  // A static launch needs all its groups. Any other job begins with the groups that a busy device
  // starts in time.
  shared.start_deadline = job.resizable() ? 1'000'000 : 0;
  shared.offer_wait =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, job.options.offer_wait.count()));
  shared.boxes = reinterpret_cast<protocol::Box<Platform>*>(memory + boxes_at);
  shared.recorder.bundle = body.groups_per_unit;
  shared.recorder.lines = run.lines;
  shared.recorder.last_line = run.last_line;
  for (Event* const event : {&shared.barrier_event, &shared.offer_event, &shared.lobby_event}) {
    event->job = run.arguments.shared;
  }
  shared.lobby_event.pause = 200;
  shared.resting = reinterpret_cast<Atomic<std::uint64_t>*>(memory + resting_at);
  shared.free_ids = reinterpret_cast<Atomic<std::uint64_t>*>(memory + free_ids_at);
  for (std::uint32_t i = 0; i < words; ++i) {
    const std::uint64_t free = protocol::free_ids_at_start(i, quorum, groups);
    std::memcpy(image.data() + free_ids_at + i * sizeof free, &free, sizeof free);
  }
  std::memcpy(image.data() + shared_at, static_cast<const void*>(&shared), sizeof shared);
  std::memcpy(image.data() + states_at, states.data(), states.size());
  write(run, memory, std::move(image));
}

void Grids::launch_grid(JobRecord& job, std::uint32_t blocks, bool first) {
  const detail::DeviceJob& own = on_device(job);
  Run& run = *own.run;
  Streams& streams = run.high ? high_streams_ : low_streams_;
  cudaStream_t const stream = take_stream(streams);
  detail::RunArguments arguments = run.arguments;
  arguments.first = first;
  cudaError_t result = cudaStreamWaitEvent(stream, written_);
  if (result == cudaSuccess) {
    result = Code{own.function}.launch(blocks, own.threads, own.memory, stream,
                                       body_of(job).parameters(arguments).data());
  }
  if (result != cudaSuccess) streams.give(stream);
  check(result, "a launch");
  run.grids.push_back(stream);
  run.launched += blocks;
  ++grids_;
}

/// Allocates a tape for each block that can be alive at a time; those of one SM are neighbours.
Tapes Grids::make_tapes(const JobRecord& job, Run& run) {
  const std::size_t lanes = std::size_t{sms_} * job.body->groups_per_unit;
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

/// Passes the events on the tapes of the job's run to the tracer, by the host's clock.
void Grids::play_tapes(const JobRecord& job) const {
  const Run& run = *on_device(job).run;
  const Tapes& tapes = run.arguments.tapes;
  if (tapes.heads == nullptr) return;
  const auto read = [this](auto& to, const auto* from, std::size_t count) {
    to.resize(count);
    dispatcher_.memory()->read(to.data(), from, count * sizeof *from);
  };
  Recording recording;
  read(recording.heads, tapes.heads, tapes.lanes);
  read(recording.stays, tapes.stays, std::size_t{tapes.lanes} * tape_stays);
  const bool arrived = std::any_of(recording.heads.begin(), recording.heads.end(),
                                   [](const TapeHead& head) { return head.arrivals > 0; });
  if (arrived) read(recording.arrivals, tapes.arrivals, std::size_t{tapes.lanes} * tape_arrivals);
  play(recording, ahead_of(recording, run.heard), *job.options.tracer);
}

/// Called when no block of the run is left and none will start.
void Grids::reuse_memory(const Run& run) {
  control_memory_.give(run.arguments.tapes.stays);
  control_memory_.give(run.arguments.shared);
  pinned_memory_.give(run.lines);
}

}  // namespace cohort::cuda
