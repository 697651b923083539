// The tool's manual page and shell completion, from its own help: there is nothing else to keep up
// to date.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace cohort::cli {

/// In the format of man(7).
[[nodiscard]] std::string manual_page(const CLI::App& tool);
/// A script for bash.
[[nodiscard]] std::string bash_completion(const CLI::App& tool);

}  // namespace cohort::cli
