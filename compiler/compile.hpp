// Compiles one source file by all passes: parse, collect, rules, uniformity, liveness,
// transmission, output. Invariant: there is output only if no pass has reported an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/mode.hpp"

namespace cohort::compiler {

enum class Output { none, cpu, cuda, opencl, plain };

struct CompileOptions {
  std::string file;                      ///< name for messages and for relative includes
  std::optional<std::string> text = {};  ///< the source; read from `file` if absent
  Output output = Output::cpu;
  Transmit transmit = Transmit::annotated;
  std::vector<std::string> defines = {};
  std::vector<std::string> include_paths = {};
  std::string standard = "CL3.0";  ///< CL1.0 to CL3.0
  /// as passed to clBuildProgram, in Clang's spelling
  std::vector<std::string> build_options = {};
  bool remarks = false;  ///< report what each point transmits
  bool verify =
      false;  ///< compare the diagnostics with the `expected-error` comments in the source
  bool colour = false;
};

/// One line of the paper's table 1.
struct KernelStats {
  std::string name;
  unsigned resizing_barriers = 0;
  unsigned barriers = 0;  ///< all barriers, including resizing ones
  unsigned kills = 0;
  unsigned forks = 0;
  unsigned transmits = 0;  ///< variables declared `transmit`
  unsigned lines = 0;      ///< lines of the file that contain code
};

struct CompileResult {
  bool fine = false;  ///< no errors; with `verify`, exactly the expected ones
  std::string output;
  std::string description;
  std::string diagnostics;  ///< in Clang's format
  std::vector<KernelStats> stats;
};

[[nodiscard]] CompileResult compile(const CompileOptions& options);

}  // namespace cohort::compiler
