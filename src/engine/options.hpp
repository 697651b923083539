// Checks of launch and submit options, the same on every engine.
#pragma once

#include <cstdint>
#include <string>

#include "cohort/job.hpp"
#include "cohort/task.hpp"

namespace cohort {

/// Throws Error{bad_options} unless `value` is between `least` and `most`.
void check_range(const std::string& name, std::uint32_t value, std::uint32_t least,
                 std::uint32_t most);

/// Throws Error{bad_options} unless an engine can have that many units.
void check_capacity(std::uint32_t units, std::uint32_t most);

/// Returns the job's max_groups on an engine of that capacity. Throws Error{bad_options} if the
/// options are invalid.
[[nodiscard]] std::uint32_t checked(const LaunchOptions& options, std::uint32_t capacity,
                                    const Traits& traits = {});

/// Returns the task's number of groups. Throws Error{bad_options} if the options are invalid.
[[nodiscard]] std::uint32_t checked(const TaskOptions& options, std::uint32_t capacity);

}  // namespace cohort
