// Manual pages, from a program's own help: there is nothing else to keep up to date.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace cohort::cli {

/// In the format of man(7). `rest`: sections after the options, in that format too.
[[nodiscard]] std::string manual_page(const CLI::App& program, const std::string& rest);

}  // namespace cohort::cli
