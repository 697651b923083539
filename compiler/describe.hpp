// What the host side needs to know of a compiled file, as JSON: parameters, the State and its
// layout, points, traits.
#pragma once

#include <string>

#include "compiler/program.hpp"

namespace cohort::compiler {

[[nodiscard]] std::string describe(const Program& program, Transmit mode);

}  // namespace cohort::compiler
