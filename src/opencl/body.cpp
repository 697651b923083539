#include "opencl/body.hpp"

#include <algorithm>
#include <utility>

#include "cohort/platform/cpu.hpp"

namespace cohort::opencl {
namespace {

constexpr std::size_t line = 128;
/// The number of events kept for a job with a tracer; later events are dropped.
constexpr std::uint32_t event_limit = 1U << 20U;
/// Approximate time of one poll of the roster by a group. protocol.cl uses the same value.
constexpr std::int64_t nanoseconds_per_poll = 10;

std::size_t lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

std::uint32_t trait_of(ResizingBarrier barrier) {
  switch (barrier) {
    case ResizingBarrier::query: return query_barrier;
    case ResizingBarrier::plain: return plain_barrier;
    case ResizingBarrier::modelled: return modelled_barrier;
    case ResizingBarrier::one_pass: break;
  }
  return 0;
}

}  // namespace

JobMemory::JobMemory(const std::shared_ptr<SharedMemory>& memory, const BoundKernel& bound,
                     std::uint32_t state_size, std::uint32_t max_groups,
                     const LaunchOptions& options) {
  const std::size_t stride = lines(state_size);
  const std::size_t boxes = lines(max_groups * sizeof(Box));
  const std::size_t ids = lines((max_groups + 63) / 64 * sizeof(std::uint64_t));
  const std::size_t arguments = lines(bound.arguments.size());
  block_ = Block{memory, sizeof(Words) + boxes + ids + arguments + (3 + max_groups) * stride};
  auto* const words = new (block_.data()) Words{};
  std::byte* at = block_.data() + sizeof(Words);
  const auto take = [&at](std::size_t bytes) { return std::exchange(at, at + bytes); };
  words->boxes = new (take(boxes)) Box[max_groups]{};
  words->free_ids = new (take(ids)) std::atomic<std::uint64_t>[(max_groups + 63) / 64] {};
  words->arguments = take(arguments);
  words->deposit = take(2 * stride);
  words->kept_state = take(stride);
  words->box_states = take(max_groups * stride);
  std::copy(bound.arguments.begin(), bound.arguments.end(), words->arguments);

  const KernelInfo& kernel = bound.info();
  words->traits = (kernel.kill_order == KillOrder::any ? kill_any : 0U) |
                  (kernel.survivors == Survivors::may_all_leave ? may_all_leave : 0U) |
                  trait_of(kernel.barrier) | (options.resizable ? 0U : fixed);
  words->state_size = state_size;
  words->state_stride = static_cast<std::uint32_t>(stride);
  words->max_groups = max_groups;
  words->offer_polls = static_cast<std::uint64_t>(
      std::max<std::int64_t>(options.offer_wait.count() / nanoseconds_per_poll, 0));
  if (options.tracer != nullptr) {
    events_ = Block{memory, event_limit * sizeof(Event)};
    words->events = reinterpret_cast<Event*>(events_.data());
    words->event_limit = event_limit;
  }
}

void JobMemory::replay(Tracer& tracer) {
  const Words& job = words();
  const std::uint32_t all = job.event_count.load(std::memory_order_acquire);
  for (; replayed_ < std::min(all, job.event_limit); ++replayed_) {
    const Event& event = job.events[replayed_];
    // The device has no clock that the host knows, so all events get this time. Their order is
    // right.
    tracer.record({.nanoseconds = cpu::now(),
                   .what = static_cast<Trace>(event.what),
                   .group = event.group,
                   .active = event.active,
                   .value = event.value,
                   .unit = event.unit});
  }
  if (all > replayed_) tracer.dropped(all - std::exchange(replayed_, all));
}

WorkgroupBody::WorkgroupBody(BoundKernel kernel, std::uint32_t groups, const LaunchOptions& options)
    : cohort::detail::JobBody(groups),
      bound(std::move(kernel)),
      shape(bound.shape.value_or(
          bound.info().required_shape.value_or(Shape{options.local_size.value_or(1), 1, 1}))) {
  suspendable = options.resizable && bound.info().suspendable;
  may_all_leave = bound.info().survivors == Survivors::may_all_leave;
}

std::string WorkgroupBody::why_not_suspendable() const {
  return "suspend: kernel " + bound.info().name +
         " needs variables after an offer_kill that are not transmitted; `cohortc --remarks` names "
         "them";
}

std::optional<cohort::detail::CheckpointParts> WorkgroupBody::checkpoint_parts() {
  throw Error{Errc::bad_state,
              "checkpoint: a kernel of the dialect does not say how large its buffers are; write "
              "a kernel in C++ for that"};
}

}  // namespace cohort::opencl
