// Who gets how many units: a pure function, the same for every engine.
// Invariant: the shares never add up to more than the capacity, and no unit is left idle that a job
// could use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::scheduler {

/// What one job asks for, in launch order.
struct Claim {
  std::uint32_t max_groups = 1;  ///< the most it can use
  std::uint32_t weight = 1;      ///< its part beside others
  bool rigid = false;            ///< exactly max_groups or nothing
  bool running = false;          ///< has groups already, so it keeps at least one
};

/// Units for each claim; 0 postpones the job. Running jobs keep one unit each; jobs that have not
/// started follow in launch order while one unit each is left; the rest is shared by weight.
[[nodiscard]] std::vector<std::uint32_t> share_out(std::uint32_t capacity,
                                                   std::span<const Claim> claims);

}  // namespace cohort::scheduler
