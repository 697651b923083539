// Replaces operator new, to see the size of requests and to let one fail.
#pragma once

#include <atomic>
#include <cstddef>

namespace cohort::test {

/// The largest request, in bytes. Set it to 0 before what is to be watched.
extern std::atomic<std::size_t> largest_allocation;

/// How many allocations of this thread until one throws, once; negative: none does.
extern thread_local int allocations_left;

}  // namespace cohort::test
