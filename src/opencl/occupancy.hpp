// How many work-groups a device runs at a time, measured by letting them check in.
#pragma once

#include "opencl/device.hpp"
#include "opencl/memory.hpp"

namespace cohort::opencl {

/// The number of the `groups` work-groups that run at a time. Throws Error{device_lost} if none
/// starts in time.
[[nodiscard]] std::uint32_t occupancy(const cl::Context& context, const Chosen& device,
                                      std::uint32_t groups,
                                      const std::shared_ptr<SharedMemory>& memory,
                                      std::chrono::milliseconds patience);

}  // namespace cohort::opencl
