// What a job's groups share: made once, and made ready before each run.
#include <algorithm>
#include <cstring>

#include "cohort/platform/cpu.hpp"
#include "opencl/core.hpp"

namespace cohort::opencl {
namespace {

constexpr std::size_t line = 128;
/// What a job with a tracer keeps; later events are dropped.
constexpr std::uint32_t event_limit = 1U << 20U;
/// A look at the roster takes a group about that long.
constexpr std::int64_t nanoseconds_per_poll = 10;

std::size_t lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

}  // namespace

JobMemory::JobMemory(const std::shared_ptr<SharedMemory>& memory, const Order& order,
                     std::uint32_t state_size, std::uint32_t max_groups,
                     const LaunchOptions& options) {
  const std::size_t stride = lines(state_size);
  const std::size_t boxes = lines(max_groups * sizeof(Box));
  const std::size_t ids = lines((max_groups + 63) / 64 * sizeof(std::uint64_t));
  const std::size_t arguments = lines(order.arguments.size());
  block_ = Block{memory, sizeof(Words) + boxes + ids + arguments + (3 + max_groups) * stride};
  auto* const words = new (block_.data()) Words{};
  std::byte* at = block_.data() + sizeof(Words);
  const auto take = [&at](std::size_t bytes) { return std::exchange(at, at + bytes); };
  words->boxes = new (take(boxes)) Box[max_groups]{};
  words->free_ids = new (take(ids)) std::atomic<std::uint64_t>[(max_groups + 63) / 64] {};
  words->arguments = take(arguments);
  words->deposit = take(2 * stride);
  words->kept = take(stride);
  words->box_states = take(max_groups * stride);
  std::copy(order.arguments.begin(), order.arguments.end(), words->arguments);

  const KernelInfo& kernel = order.info();
  words->traits = (kernel.kill_order == KillOrder::any ? kill_any : 0U) |
                  (kernel.survivors == Survivors::may_all_leave ? may_all_leave : 0U) |
                  (options.resizable ? 0U : fixed);
  words->state_size = state_size;
  words->state_stride = static_cast<std::uint32_t>(stride);
  words->max_groups = max_groups;
  words->offer_polls = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      options.offer_wait.count() / nanoseconds_per_poll, 0, 1'000'000'000));
  if (options.tracer != nullptr) {
    events_ = Block{memory, event_limit * sizeof(Event)};
    words->events = reinterpret_cast<Event*>(events_.data());
    words->event_limit = event_limit;
  }
}

void JobMemory::prepare(std::uint32_t quorum, bool restarted) {
  Words& job = words();
  constexpr auto relaxed = std::memory_order_relaxed;  // an order to a worker carries it all
  for (std::uint32_t i = 0; i < job.max_groups; ++i)
    job.boxes[i].seat.store(static_cast<std::uint32_t>(protocol::Seat::empty), relaxed);
  for (std::uint32_t word = 0; word < (job.max_groups + 63) / 64; ++word) {
    std::uint64_t free = 0;  // the first `quorum` ids go by check-in
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      const std::uint32_t id = word * 64 + bit;
      if (id >= quorum && id < job.max_groups) free |= std::uint64_t{1} << bit;
    }
    job.free_ids[word].store(free, relaxed);
  }
  job.quorum = quorum;
  job.restarted = restarted ? 1 : 0;
  job.flags.store(0, relaxed);
  job.waiting.store(0, relaxed);
  job.closed.store(0, relaxed);
  job.serial.fetch_add(1, relaxed);
  job.fork_lock.store(0, relaxed);
  job.departing.store(0, relaxed);
  job.deposit_gen.store(~0U, relaxed);
  job.kept_flag.store(0, relaxed);
  job.roster.store(Roster::gather, relaxed);
}

void JobMemory::replay(Tracer& tracer) {
  const Words& job = words();
  const std::uint32_t recorded =
      std::min(job.event_count.load(std::memory_order_acquire), job.event_limit);
  for (; replayed_ < recorded; ++replayed_) {
    const Event& event = job.events[replayed_];
    // The device has no clock that the host knows: the events come in their order, at this time.
    tracer.record({.nanoseconds = cpu::now(),
                   .what = static_cast<Trace>(event.what),
                   .group = event.group,
                   .active = event.active,
                   .value = event.value,
                   .unit = event.unit});
  }
}

}  // namespace cohort::opencl
