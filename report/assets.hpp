// The files of the report's page, embedded in the program.
#pragma once

#include <string_view>

namespace cohort::report {

[[nodiscard]] std::string_view page();
[[nodiscard]] std::string_view style();
[[nodiscard]] std::string_view script();
/// Empty if the program was built without D3.
[[nodiscard]] std::string_view d3();

}  // namespace cohort::report
