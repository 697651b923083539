// The tool's commands. Each registers itself with the parser and sets `chosen` to its action.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace cohort::cli {

class Interrupt;

/// Exit statuses; 128 + n after signal n.
enum Exit : int { fine = 0, failed = 1, bad_input = 2 };

/// The action of the chosen command. Returns the exit status.
using Action = std::function<int()>;

/// Name and summary of each bench scenario.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> benchmarks();

void add_list(CLI::App& tool, Action& chosen);
void add_run(CLI::App& tool, Action& chosen, Interrupt& interrupt);
void add_bench(CLI::App& tool, Action& chosen, Interrupt& interrupt);
void add_report(CLI::App& tool, Action& chosen);
void add_documents(CLI::App& tool, Action& chosen);
void add_check(CLI::App& tool, Action& chosen);
void add_opencl(CLI::App& tool, Action& chosen);
/// The file in a job's folder by which `cohort resize` asks for a number of ranks.
inline constexpr const char* resize_request = "ranks";
void add_resize(CLI::App& tool, Action& chosen);
void add_launch(CLI::App& tool, Action& chosen, Interrupt& interrupt);
/// `words` are the arguments after `--`. They are kept from the parser, which would change some of
/// them, such as '[a]'.
void add_lease(CLI::App& tool, Action& chosen, Interrupt& interrupt,
               const std::vector<std::string>& words);
void add_mps(CLI::App& tool, Action& chosen, Interrupt& interrupt);
void add_throttle(CLI::App& tool, Action& chosen);
void add_top(CLI::App& tool, Action& chosen, Interrupt& interrupt);
void add_demo(CLI::App& tool, Action& chosen, Interrupt& interrupt);

}  // namespace cohort::cli
