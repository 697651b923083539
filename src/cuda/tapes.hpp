// Tapes as the host reads them after the run.
#pragma once

#include <vector>

#include "cohort/platform/cuda_tape.cuh"

namespace cohort::cuda {

/// The contents of the tapes of a run.
struct Recording {
  std::vector<TapeHead> heads;
  std::vector<TapeEvent> stays;     ///< tape_stays per lane
  std::vector<TapeEvent> arrivals;  ///< tape_arrivals per lane; empty if no group has arrived
};

/// How far the host's clock is ahead of the device's timer. `heard`: the host's times, in order, at
/// which it heard that a group was out. It hears of each a little late, so the group that it heard
/// of with the shortest delay determines the result.
[[nodiscard]] std::int64_t ahead_of(const Recording& recording,
                                    const std::vector<std::uint64_t>& heard);

/// Passes all events to a tracer in order of time, `ahead` nanoseconds later than by the device's
/// timer. A group passes a barrier when the last one arrives there; passing is not recorded on the
/// tapes.
void play(const Recording& recording, std::int64_t ahead, Tracer& tracer);

}  // namespace cohort::cuda
