// What groups on a GPU write down for a tracer: a tape for each lane, which is an SM, or a place on
// one where groups share SMs. Invariant: one block at a time holds a lane's tape; the stays on it
// are the first ones, the arrivals the last ones.
#pragma once

#include <cstdint>

#include "cohort/trace.hpp"

namespace cohort::cuda {

/// An event as it lies on a tape. Ids and M have 13 bits, as in the roster.
struct alignas(16) TapeEvent {
  std::uint64_t time = 0;  ///< nanoseconds of the device's timer
  std::uint32_t value = 0;
  std::uint32_t word = 0;  ///< what, group, active
};

/// Events that a tape has room for: comings and goings, and arrivals at barriers or offers.
inline constexpr std::uint32_t tape_stays = 256;
inline constexpr std::uint32_t tape_arrivals = 1024;  ///< a power of two

/// The state of a tape while nobody holds it.
struct TapeHead {
  std::uint32_t held = 0;
  std::uint32_t stays = 0;  ///< so far, also those there was no room for
  std::uint32_t arrivals = 0;
};

/// All tapes of a run, in device memory; none without a tracer.
struct Tapes {
  TapeHead* heads = nullptr;
  TapeEvent* stays = nullptr;     ///< tape_stays of each lane
  TapeEvent* arrivals = nullptr;  ///< tape_arrivals of each lane
  std::uint32_t lanes = 0;
};

/// The tape that this block holds, in its shared memory.
struct Tape {
  TapeHead* head = nullptr;  ///< null: nothing is traced
  TapeEvent* stays_at = nullptr;
  TapeEvent* arrivals_at = nullptr;
  const std::uint32_t* gen = nullptr;  ///< of the group's barrier
  std::uint32_t stays = 0;
  std::uint32_t arrivals = 0;
  std::uint32_t group = 0;

#ifdef __CUDACC__
  /// Takes the first free tape from `lane` on: there are as many as blocks can be alive.
  __device__ void open(const Tapes& tapes, std::uint32_t lane, const std::uint32_t& its_gen) {
    for (lane %= tapes.lanes; atomicCAS(&tapes.heads[lane].held, 0U, 1U) != 0;) {
      lane = lane + 1 == tapes.lanes ? 0 : lane + 1;
    }
    __threadfence();  // pairs with the one in close(): what its last holder wrote
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
    __threadfence_system();  // pairs with open(), and with the host that hears of our end
    atomicExch(&head->held, 0U);
    head = nullptr;
  }

  /// By the leader.
  __device__ void note(Trace what, std::uint32_t active, std::uint32_t value) {
    if (stays < tape_stays) stays_at[stays] = event(what, active, value);
    ++stays;
  }
  /// By the last thread of the block, while the leader is in the barrier or its offer, or goes on.
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
