// The number of an app's groups per SM.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cohort/job.hpp"
#include "cohort/kernel.hpp"

namespace cohort::apps {

/// How many groups of `local_size` make up `threads` on an SM, within the limit on groups for `sms`
/// SMs.
constexpr std::uint32_t groups_on_sm(std::uint32_t threads, std::uint32_t local_size,
                                     std::uint32_t sms) {
  const std::uint32_t in_warps = (local_size + 31) / 32 * 32;  // an SM allocates whole warps
  return std::clamp(threads / in_warps, 1U, std::max(max_groups_limit / sms, 1U));
}
static_assert(groups_on_sm(1024, 256, 132) == 4 && groups_on_sm(256, 1024, 132) == 1);
static_assert(groups_on_sm(1024, 100, 132) == 8 && groups_on_sm(1024, 1, 132) == 31);

}  // namespace cohort::apps
