// The output formats: C++ for the CPU and CUDA engines, OpenCL C for the OpenCL engine, and a plain
// OpenCL kernel without cooperation.
#pragma once

#include <string>

#include "compiler/program.hpp"

namespace cohort::compiler {

enum class Engine { cpu, cuda };

/// A C++ file with one struct per kernel and the functions that Program loads.
[[nodiscard]] std::string emit_cpp(const Program& program, Engine engine, Transmit mode,
                                   const std::string& description);

/// OpenCL C. Its primitives are calls of functions that the OpenCL engine supplies.
[[nodiscard]] std::string emit_opencl(const Program& program);

/// An ordinary OpenCL kernel. offer_kill and request_fork do nothing, which the model allows. The
/// output contains its own global barrier.
[[nodiscard]] std::string emit_plain(const Program& program);

}  // namespace cohort::compiler
