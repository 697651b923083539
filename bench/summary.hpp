// Summarises the samples of "multitask" and "preemption", for tables and figures.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cohort/kernel.hpp"

namespace cohort::bench {

/// A resizing barrier by its name in samples.
struct NamedBarrier {
  std::string_view name;
  ResizingBarrier kind;
};
inline constexpr NamedBarrier one_pass{"one-pass", ResizingBarrier::one_pass};
inline constexpr std::array all_barriers{NamedBarrier{"plain", ResizingBarrier::plain},
                                         NamedBarrier{"query", ResizingBarrier::query}, one_pass};

/// Medians of each configuration, and over the pairs, from the lines of a store. Works on an
/// unfinished run.
[[nodiscard]] nlohmann::ordered_json summarise_multitask(
    const nlohmann::ordered_json& header, const std::vector<nlohmann::ordered_json>& samples);

/// Print the paper's figure 6 and table 3 from such a summary.
void print_performance(const nlohmann::ordered_json& summary);
void print_preemption(const nlohmann::ordered_json& summary);
/// Prints how the engine's choice compares with each fixed one.
void print_hybrid(const nlohmann::ordered_json& summary);

}  // namespace cohort::bench
