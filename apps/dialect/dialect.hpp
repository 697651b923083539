// The paper's seven applications as kernels of the dialect (compiler/apps), on the OpenCL engine:
// the host sides. Inputs and verifiers are those of the applications in C++.
#pragma once

#include <array>
#include <span>

#include "apps/registry.hpp"
#include "cohort/opencl.hpp"

namespace cohort::apps {

/// One app of the dialect.
struct DialectApp {
  std::string_view name;
  std::string_view file;  ///< and kernel
  /// Throws Error{bad_options} for a spec or an option it cannot use.
  Outcome (*run)(opencl::Engine& engine, ProgramKernel kernel, Request& request);
};

[[nodiscard]] std::span<const DialectApp> dialect_apps();

/// A file of compiler/apps. Throws as Program::from_file does.
[[nodiscard]] Program dialect_program(std::string_view file);
/// Its kernel of the same name.
[[nodiscard]] ProgramKernel dialect_kernel(std::string_view file);

namespace detail {

Outcome dialect_bfs(opencl::Engine& engine, ProgramKernel kernel, Request& request);
Outcome dialect_color(opencl::Engine& engine, ProgramKernel kernel, Request& request);
Outcome dialect_mis(opencl::Engine& engine, ProgramKernel kernel, Request& request);
Outcome dialect_p_sssp(opencl::Engine& engine, ProgramKernel kernel, Request& request);
Outcome dialect_l_sssp(opencl::Engine& engine, ProgramKernel kernel, Request& request);
Outcome dialect_octree(opencl::Engine& engine, ProgramKernel kernel, Request& request);
Outcome dialect_game(opencl::Engine& engine, ProgramKernel kernel, Request& request);

/// Launches a kernel whose arguments are set, and sees the job through.
Report see_through(opencl::Engine& engine, const ProgramKernel& kernel, const RunOptions& options);

}  // namespace detail
}  // namespace cohort::apps
