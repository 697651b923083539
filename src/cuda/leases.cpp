// Leases: SMs held for a stream.
#include "cuda/grids.hpp"

namespace cohort::cuda {

/// Frees the slots of leases whose end their stream has passed.
void Grids::free_slots() {
  for (std::uint32_t i = 0; i < demand_slots; ++i) {
    if (slots_[i] == Slot::closing && seen(lease_ends_[i]) == slot_serial_[i]) {
      slots_[i] = Slot::free;
    }
  }
}

/// Returns a slot that is not used, or one whose lease ends in the same stream and thus before the
/// new lease.
std::uint32_t Grids::free_slot(cudaStream_t stream) const {
  for (std::uint32_t i = 0; i < demand_slots; ++i) {
    if (slots_[i] == Slot::free) return i;
  }
  for (std::uint32_t i = 0; i < demand_slots; ++i) {
    if (slots_[i] == Slot::closing && slot_stream_[i] == stream) return i;
  }
  throw Error{Errc::bad_options,
              "lease: " + std::to_string(demand_slots) + " leases are open; give one back first"};
}

std::uint32_t Grids::open_lease(cudaStream_t stream, std::uint32_t sms) {
  const engine::Dispatcher::Locked locked{dispatcher_, "lease"};
  const OnDevice here{device_};
  dispatcher_.check_alive("lease");
  if (sms == 0 || sms > sms_) {
    throw Error{Errc::bad_options,
                "lease: sms = " + std::to_string(sms) + "; it can be 1 to " + std::to_string(sms_)};
  }
  std::uint32_t floor = 0;
  for (const auto& job : dispatcher_.jobs()) {
    if (job->status != Status::running) continue;
    floor += job->resizable() ? 1 : dispatcher_.claim(*job).max_groups;
  }
  if (sms + floor > dispatcher_.units()) {
    throw Error{Errc::bad_options, "lease: " + std::to_string(sms) + " of " +
                                       std::to_string(dispatcher_.units()) +
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
  agent_.call();
  return slot;
}

void Grids::close_lease(std::uint32_t slot, cudaStream_t stream) noexcept {
  try {
    const engine::Dispatcher::Locked locked{dispatcher_, "lease"};
    const OnDevice here{device_};
    slot_range_[slot].reset();
    if (demands_ == nullptr || dispatcher_.lost())
      return;  // the engine was destroyed before its lease
    const auto withdraw = [&](cudaStream_t with) {
      const bool first = stream_write(with, &demands_->slot[slot], 0) == cudaSuccess;
      return stream_write(with, &leased_[slot], 0) == cudaSuccess && first;
    };
    const bool captured = slots_[slot] == Slot::captured;
    const std::uint32_t serial = ++slot_serial_[slot];
    // A stream that fails must not keep the SMs: the control stream withdraws the demand.
    cudaStream_t const with = withdraw(stream) ? stream : control_;
    if (with == control_) withdraw(control_);
    if (captured && with == stream) return;  // a graph may replay it: the slot is never reused
    static_cast<void>(stream_write(with, &lease_ends_[slot], serial));
    slots_[slot] = Slot::closing;
  } catch (...) {  // NOLINT(bugprone-empty-catch): the mutex, which does not fail
  }
}

Lease::Lease(std::shared_ptr<Grids> grids, std::uint32_t slot, cudaStream_t stream) noexcept
    : grids_(std::move(grids)), slot_(slot), stream_(stream) {}

Lease::Lease(Lease&& other) noexcept
    : grids_(std::move(other.grids_)), slot_(other.slot_), stream_(other.stream_) {}

Lease& Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    give_back();
    grids_ = std::move(other.grids_);
    slot_ = other.slot_;
    stream_ = other.stream_;
  }
  return *this;
}

Lease::~Lease() { give_back(); }

void Lease::give_back() noexcept {
  if (grids_ == nullptr) return;
  grids_->close_lease(slot_, stream_);
  grids_.reset();
}

}  // namespace cohort::cuda
