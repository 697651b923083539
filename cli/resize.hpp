// `--resize`: changes the number of groups while an app runs.
#pragma once

#include <functional>
#include <string>

#include "cohort/job.hpp"

namespace cohort::cli {

/// The driver for `text`, which is `none` or `random:SEED`. Throws Error{bad_options} otherwise.
[[nodiscard]] std::function<Report(const Job&)> resizer(const std::string& text,
                                                        std::uint32_t max_groups);

}  // namespace cohort::cli
