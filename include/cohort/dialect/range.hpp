// A range of work-items in up to three dimensions: as the host specifies it, and as a kernel
// without resizing points sees it. Its work-groups are numbered, and groups take them one after
// another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cohort {

/// Work-items as in clEnqueueNDRangeKernel: `global` in total, in work-groups of `local`. Unused
/// dimensions are 1.
struct NDRange {
  std::array<std::uint32_t, 3> global{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
};

namespace detail {

/// The range as a kernel reads it.
struct Range {
  std::uint64_t* next = nullptr;  ///< number of the next work-group to take; null: no range
  std::uint32_t groups[3] = {1, 1, 1};
  std::uint32_t local[3] = {1, 1, 1};
  std::uint32_t dimensions = 1;
};

}  // namespace detail
}  // namespace cohort
