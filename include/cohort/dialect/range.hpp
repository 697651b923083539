// A range of work-items in up to three dimensions, in the host's form and in the form for a kernel
// without resizing points. The range's work-groups are numbered, and groups take them one after
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
  /// Number of the next work-group to take; null if there is no range.
  std::uint64_t* next = nullptr;
  std::uint32_t groups[3] = {1, 1, 1};
  std::uint32_t local[3] = {1, 1, 1};
  std::uint32_t dimensions = 1;
};

}  // namespace detail
}  // namespace cohort
