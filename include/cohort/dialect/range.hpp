// A range of work-items in up to three dimensions: what the host asks for, and what kernels without
// resizing points see of it. Its work-groups are numbered, and groups take them one after another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cohort {

/// Work-items as clEnqueueNDRangeKernel takes them: `global` in all, in work-groups of `local`.
/// Dimensions that are not used have 1.
struct NDRange {
  std::array<std::uint32_t, 3> global{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
};

namespace detail {

/// The same, as a kernel reads it.
struct Range {
  std::uint64_t* next = nullptr;  ///< number of the work-group that is taken next; null: no range
  std::uint32_t groups[3] = {1, 1, 1};
  std::uint32_t local[3] = {1, 1, 1};
  std::uint32_t dimensions = 1;
};

}  // namespace detail
}  // namespace cohort
