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

/// How far the host's clock is ahead of the device's timer. `heard`: when the host heard that a
/// group was out, by its clock, in that order. It hears of each a little later, so the one that it
/// heard of soonest tells.
[[nodiscard]] std::int64_t ahead_of(const Recording& recording,
                                    const std::vector<std::uint64_t>& heard);

/// Tells a tracer everything in the order of time, `ahead` nanoseconds later than the device's
/// timer has it. A group passes a barrier when the last one arrives there: nobody writes that down.
void play(const Recording& recording, std::int64_t ahead, Tracer& tracer);

}  // namespace cohort::cuda
