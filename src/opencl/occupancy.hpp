// Measures how many work-groups a device runs at a time, by letting them check in.
#pragma once

#include "opencl/device.hpp"
#include "opencl/layout.hpp"
#include "opencl/memory.hpp"

namespace cohort::opencl {

/// If no further group starts for this long, none will.
inline constexpr std::chrono::milliseconds quiet_census{100};

/// Waits until `count` is `groups`, or until no further group has started for `quiet`. Waits for
/// the first group at most for `patience`. Returns the number of groups.
[[nodiscard]] std::uint32_t count_groups(const Word& count, std::uint32_t groups,
                                         std::chrono::milliseconds patience,
                                         std::chrono::milliseconds quiet);

/// Returns how many of `groups` work-groups run at the same time. Throws Error{device_lost} if none
/// starts in time.
[[nodiscard]] std::uint32_t occupancy(const cl::Context& context, const Chosen& device,
                                      std::uint32_t groups,
                                      const std::shared_ptr<SharedMemory>& memory,
                                      std::chrono::milliseconds patience);

}  // namespace cohort::opencl
