// The scheduler of a resident job, where it is on the device.
#pragma once

#include <cuda_runtime_api.h>

#include "cohort/platform/cuda_groups.cuh"

namespace cohort::cuda {

/// Starts the warp that hands tasks to the blocks of a run; it ends with the run.
cudaError_t launch_scheduler(const detail::Desk& desk, cudaStream_t stream);

}  // namespace cohort::cuda
