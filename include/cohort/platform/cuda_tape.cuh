// Events that groups on a GPU record for a tracer, on one tape per lane. A lane is an SM, or a
// place on an SM if groups share SMs. Invariant: one block at a time holds a lane's tape. A full
// tape keeps the first stays and the last arrivals.
#pragma once

#include <cstdint>

#include "cohort/trace.hpp"

namespace cohort::cuda {

/// An event on a tape. Ids and M have 13 bits, as in the roster.
struct alignas(16) TapeEvent {
  std::uint64_t time = 0;  ///< nanoseconds of the device's timer
  std::uint32_t value = 0;
  std::uint32_t word = 0;  ///< the event's kind, group and M
};

/// Capacity of a tape: for arrivals and departures of groups, and for arrivals at barriers or
/// offers.
inline constexpr std::uint32_t tape_stays = 256;
inline constexpr std::uint32_t tape_arrivals = 1024;  ///< a power of two

/// The state of a tape while no block holds it.
struct TapeHead {
  std::uint32_t held = 0;
  std::uint32_t stays = 0;  ///< number of events so far, including those that did not fit
  std::uint32_t arrivals = 0;
};

/// All tapes of a run, in device memory. Empty without a tracer.
struct Tapes {
  TapeHead* heads = nullptr;
  TapeEvent* stays = nullptr;     ///< tape_stays per lane
  TapeEvent* arrivals = nullptr;  ///< tape_arrivals per lane
  std::uint32_t lanes = 0;
};

/// The tape that this block holds, in its shared memory.
struct Tape {
  TapeHead* head = nullptr;  ///< null if nothing is traced
  TapeEvent* stays_at = nullptr;
  TapeEvent* arrivals_at = nullptr;
  const std::uint32_t* gen = nullptr;  ///< the group's barrier generation
  std::uint32_t stays = 0;
  std::uint32_t arrivals = 0;
  std::uint32_t group = 0;

#ifdef __CUDACC__
  /// Takes the first free tape from `lane` on. There are as many tapes as blocks that can be alive
  /// at the same time.
  __device__ void open(const Tapes& tapes, std::uint32_t lane, const std::uint32_t& its_gen) {
    for (lane %= tapes.lanes; atomicCAS(&tapes.heads[lane].held, 0U, 1U) != 0;) {
      lane = lane + 1 == tapes.lanes ? 0 : lane + 1;
    }
    __threadfence();  // pairs with the fence in close(), after the previous holder's writes
    head = &tapes.heads[lane];
    stays_at = tapes.stays + std::size_t{lane} * tape_stays;
    arrivals_at = tapes.arrivals + std::size_t{lane} * tape_arrivals;
    gen = &its_gen;
    stays = static_cast<volatile TapeHead*>(head)->stays;
    arrivals = static_cast<volatile TapeHead*>(head)->arrivals;
  }
  __device__ void close() {
    head->stays = stays;
    head->arrivals = arrivals;
    __threadfence_system();  // pairs with open(), and with the host when it learns that this block
                             // has ended
    atomicExch(&head->held, 0U);
    head = nullptr;
  }

  /// Called by the leader.
  __device__ void note(Trace what, std::uint32_t active, std::uint32_t value) {
    if (stays < tape_stays) stays_at[stays] = event(what, active, value);
    ++stays;
  }
  /// Called by the last thread of the block, while the leader is in the barrier or its offer, or
  /// continues.
  __device__ void arrive_if_open(Trace at) {
    if (head == nullptr) return;
    arrivals_at[arrivals++ % tape_arrivals] =
        event(at, 0, *static_cast<const volatile std::uint32_t*>(gen));
  }

 private:
  [[nodiscard]] __device__ TapeEvent event(Trace what, std::uint32_t active,
                                           std::uint32_t value) const {
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return {now, value, static_cast<std::uint32_t>(what) << 26U | group << 13U | active};
  }
#endif
};

}  // namespace cohort::cuda
