// Lengths of paths.
#pragma once

#include <cstdint>

namespace cohort::apps {

/// An edge is at most 2^32 - 1 long and a shortest path has less than 2^32 edges, so that no sum
/// reaches `infinite`.
using Distance = std::uint64_t;
inline constexpr Distance infinite = ~Distance{0};

}  // namespace cohort::apps
