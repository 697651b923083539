// Replaces operator new, to record the size of requests and to make one fail.
#pragma once

#include <atomic>
#include <cstddef>

namespace cohort::test {

/// The largest request so far, in bytes. Set it to 0 before the code to be observed.
extern std::atomic<std::size_t> largest_allocation;

/// The number of allocations by this thread until one throws, once. If negative, none throws.
extern thread_local int allocations_left;

}  // namespace cohort::test
