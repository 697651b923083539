// Replaces operator new, to see who asks for how much at once.
#pragma once

#include <atomic>
#include <cstddef>

namespace cohort::test {

/// In bytes; set it to 0 before what is to be watched.
extern std::atomic<std::size_t> largest_allocation;

}  // namespace cohort::test
