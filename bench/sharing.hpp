// Arithmetic for a machine that a job and tasks share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace cohort::bench {

/// Progress over time: pairs of time and steps, in the order of time.
using ProgressLine = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Steps per unit of time between `from` and `to`, interpolated. Time outside the line does not
/// count. 0 if the line covers no part of it.
[[nodiscard]] double rate(const ProgressLine& line, std::uint64_t from, std::uint64_t to);

/// The slowdown of a job that lends `share` of its machine for `busy` of every `period` and loses
/// nothing else.
[[nodiscard]] double ideal_slowdown(double share, double busy, double period);

}  // namespace cohort::bench
