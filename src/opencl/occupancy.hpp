// Measures how many work-groups a device runs at a time, by letting them check in.
#pragma once

#include "opencl/device.hpp"
#include "opencl/memory.hpp"

namespace cohort::opencl {

/// Returns how many of `groups` work-groups run at the same time. Throws Error{device_lost} if none
/// starts in time.
[[nodiscard]] std::uint32_t occupancy(const cl::Context& context, const Chosen& device,
                                      std::uint32_t groups,
                                      const std::shared_ptr<SharedMemory>& memory,
                                      std::chrono::milliseconds patience);

}  // namespace cohort::opencl
