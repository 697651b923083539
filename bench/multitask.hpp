// Scenarios "multitask" and "preemption": sections 5.4 and 5.5 of the paper. Apps run alone and
// next to tasks of three classes on five shares of the groups. Each round measures every
// configuration once. Invariant: a result depends only on its configuration, and a finished sample
// set is never measured twice.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

/// The name of the samples' file within a folder of results.
[[nodiscard]] std::string multitask_file(std::string_view engine, bool fixed_duration);

}  // namespace cohort::bench
