// From a source file to a shared object in the cache: cohortc writes C++, the system's compiler (or
// nvcc) compiles it. Invariant: a file in the cache is complete, and its name is a hash of all it
// was made from.
#pragma once

#include <filesystem>
#include <string>

#include "cohort/program.hpp"

namespace cohort::program {

/// A program as machine code.
struct Built {
  std::filesystem::path file;  ///< a shared object
  std::string warnings;        ///< what cohortc printed
};

/// The shared object for `source`, compiled now unless it is in the cache. Throws as
/// Program::from_file does.
[[nodiscard]] Built build(const std::filesystem::path& source, const ProgramOptions& options);

/// A program for an engine that compiles OpenCL C itself.
struct Translated {
  std::string code;
  std::string description;  ///< as JSON
  std::string warnings;     ///< what cohortc printed
};

/// What cohortc writes for the OpenCL engine. Throws as Program::from_file does.
[[nodiscard]] Translated translate_for_opencl(const std::filesystem::path& source,
                                              const ProgramOptions& options);

}  // namespace cohort::program
