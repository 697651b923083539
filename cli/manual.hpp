// Generates manual pages from a program's --help, so that they are never out of date.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace cohort::cli {

/// The page in man(7) format. `rest`: further sections that are already in that format.
[[nodiscard]] std::string manual_page(const CLI::App& program, const std::string& rest);

}  // namespace cohort::cli
