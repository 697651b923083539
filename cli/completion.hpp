// Shell completion from the tool's own help: the scripts ask the tool which words may follow.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace cohort::cli {

/// A script for `shell`: bash, zsh or fish. Throws Error{bad_options} for any other shell.
[[nodiscard]] std::string completion_script(const std::string& shell);

/// Words that can complete the last of `words`, which may be empty: one per line, with a
/// description after a tab. Empty if a file name or free text is expected.
[[nodiscard]] std::string completions(const CLI::App& tool, std::vector<std::string> words);

}  // namespace cohort::cli
