// Shell completion, from the tool's own help.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace cohort::cli {

/// A script for `shell`: bash, zsh or fish. Throws Error{bad_options} for another.
[[nodiscard]] std::string completion(const CLI::App& tool, const std::string& shell);

}  // namespace cohort::cli
