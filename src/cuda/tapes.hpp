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

/// How far the host's clock is ahead of the device's timer. `heard`: the times at which the host
/// learned that a group was out, in order. It learns of each a little late, so the group with the
/// shortest delay determines the result.
[[nodiscard]] std::int64_t ahead_of(const Recording& recording,
                                    const std::vector<std::uint64_t>& heard);

/// Passes all events to a tracer in order of time. The times are the device's plus `ahead`
/// nanoseconds. Tapes do not record when groups pass a barrier: a group passes when the last one
/// arrives.
void play(const Recording& recording, std::int64_t ahead, Tracer& tracer);

}  // namespace cohort::cuda
