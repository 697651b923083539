// Shell completion, from the tool's own help: scripts ask the tool for the words that may follow.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace cohort::cli {

/// A script for `shell`: bash, zsh or fish. Throws Error{bad_options} for another.
[[nodiscard]] std::string completion_script(const std::string& shell);

/// The words that may take the place of the last of `words`, which may be empty, after the others:
/// one per line, with a description behind a tab. None: a file name or free text.
[[nodiscard]] std::string completions(const CLI::App& tool, std::vector<std::string> words);

}  // namespace cohort::cli
