// The outputs: C++ for our engines, OpenCL C for the OpenCL engine, and a plain OpenCL kernel
// without cooperation.
#pragma once

#include <string>

#include "compiler/program.hpp"

namespace cohort::compiler {

enum class Engine { cpu, cuda };

/// A C++ file with one kernel struct per kernel and the functions that Program loads.
[[nodiscard]] std::string emit_cpp(const Program& program, Engine engine, Transmit mode,
                                   const std::string& description);

/// OpenCL C whose primitives are calls of functions that the OpenCL engine supplies.
[[nodiscard]] std::string emit_opencl(const Program& program);

/// A regular OpenCL kernel: kill and fork are ignored, which the model allows, and global barriers
/// are spelled out.
[[nodiscard]] std::string emit_plain(const Program& program);

}  // namespace cohort::compiler
