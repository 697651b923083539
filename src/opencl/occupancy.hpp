// How many work-groups a device runs at a time, found out by letting them check in.
#pragma once

#include "opencl/device.hpp"
#include "opencl/memory.hpp"

namespace cohort::opencl {

/// Of `groups`. Throws Error{device_lost} if none starts within the time.
[[nodiscard]] std::uint32_t occupancy(const cl::Context& context, const Chosen& device,
                                      std::uint32_t groups,
                                      const std::shared_ptr<SharedMemory>& memory,
                                      std::chrono::milliseconds patience);

}  // namespace cohort::opencl
