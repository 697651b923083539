// Scenarios "multitask" and "preemption": sections 5.4 and 5.5 of the paper. Apps run alone and
// next to tasks of three classes on five shares of the groups. Each round measures one
// configuration after another. Invariant: the result depends on the configuration alone, and a
// finished sample set is never measured twice.
#pragma once

#include "bench/scenario.hpp"

namespace cohort::bench {

/// The file in a results' folder that holds the samples.
[[nodiscard]] std::string multitask_file(std::string_view engine, bool fixed_duration);

}  // namespace cohort::bench
