// Tapes as the host reads them, once the run is over.
#pragma once

#include <span>

#include "cohort/platform/cuda_tape.cuh"

namespace cohort::cuda {

/// When the events of a run were, by the device's timer.
struct TapeTimes {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
};
[[nodiscard]] TapeTimes times_of(std::span<const TapeHead> heads,
                                 std::span<const TapeEvent> events);

/// Tells a tracer everything, lane by lane, `ahead` nanoseconds later than the device's timer has
/// it. A group passes a barrier when the last one arrives there: nobody writes that down.
void play(std::span<const TapeHead> heads, std::span<const TapeEvent> events, std::int64_t ahead,
          Tracer& tracer);

}  // namespace cohort::cuda
