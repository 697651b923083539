// Running this program again with another environment: some libraries read theirs only when they
// are loaded.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cohort::bench {

/// Runs this program with `arguments` and the environment variable `name` set to `value`, or as it
/// is without one. Returns what it printed. Throws std::runtime_error if it fails.
[[nodiscard]] std::string run_again(const std::vector<std::string>& arguments,
                                    const std::string& name,
                                    const std::optional<std::string>& value);

/// Whether this program, run with `arguments`, ends in time; it is killed otherwise.
[[nodiscard]] bool ends_within(const std::vector<std::string>& arguments,
                               std::chrono::milliseconds limit);

}  // namespace cohort::bench
