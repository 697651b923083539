// Tapes as the host reads them, once the run is over.
#pragma once

#include <vector>

#include "cohort/platform/cuda_tape.cuh"

namespace cohort::cuda {

/// What was on the tapes of a run.
struct Recording {
  std::vector<TapeHead> heads;
  std::vector<TapeEvent> stays;     ///< tape_stays of each lane
  std::vector<TapeEvent> arrivals;  ///< tape_arrivals of each lane; none if nobody has arrived
};

/// When the events were, by the device's timer.
struct TapeTimes {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
};
[[nodiscard]] TapeTimes times_of(const Recording& recording);

/// Tells a tracer everything in the order of time, `ahead` nanoseconds later than the device's
/// timer has it. A group passes a barrier when the last one arrives there: nobody writes that down.
void play(const Recording& recording, std::int64_t ahead, Tracer& tracer);

}  // namespace cohort::cuda
