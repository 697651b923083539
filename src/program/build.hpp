// Builds a shared object in the cache from a source file: cohortc writes C++, and the system's
// compiler or nvcc compiles it. Invariant: a file in the cache is complete, and its name is a hash
// of all its inputs.
#pragma once

#include <filesystem>
#include <string>

#include "cohort/program.hpp"

namespace cohort::program {

/// A program compiled to machine code.
struct Built {
  std::filesystem::path file;  ///< a shared object
  std::string warnings;        ///< cohortc's warnings
};

/// The shared object for `source`, compiled unless it is in the cache already. Throws the same
/// errors as Program::from_file.
[[nodiscard]] Built build(const std::filesystem::path& source, const ProgramOptions& options);

/// The translation of a program, for an engine that compiles OpenCL C itself.
struct Translated {
  std::string code;
  std::string description;  ///< as JSON
  std::string warnings;     ///< cohortc's warnings
};

/// Output of cohortc for the OpenCL engine. Throws the same errors as Program::from_file.
[[nodiscard]] Translated translate_for_opencl(const std::filesystem::path& source,
                                              const ProgramOptions& options);

}  // namespace cohort::program
