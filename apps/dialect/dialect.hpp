// The paper's seven applications as kernels of the dialect (compiler/apps), on each engine that
// this build has. Inputs and verifiers are those of the applications in C++.
#pragma once

#include <span>

#include "apps/registry.hpp"
#include "cohort/program.hpp"

namespace cohort::apps {

/// One app of the dialect, on an engine.
template <class Engine>
struct DialectApp {
  std::string_view name;
  std::string_view file;  ///< and kernel
  /// Throws Error{bad_options} for a spec or an option it cannot use.
  Outcome (*run)(Engine& engine, ProgramKernel kernel, Request& request);
};

template <class Engine>
[[nodiscard]] std::span<const DialectApp<Engine>> dialect_apps();
template <>
std::span<const DialectApp<cpu::Engine>> dialect_apps();
template <>
std::span<const DialectApp<cuda::Engine>> dialect_apps();
template <>
std::span<const DialectApp<opencl::Engine>> dialect_apps();

/// The kernel of a file in compiler/apps, for an engine by name. Throws as Program::from_file does.
[[nodiscard]] ProgramKernel dialect_kernel(std::string_view file, const std::string& engine);

}  // namespace cohort::apps
