// The paper's seven applications as kernels of the dialect (compiler/apps), on each engine that
// this build has. Inputs and verifiers are those of the applications in C++.
#pragma once

#include <map>
#include <span>

#include "apps/choices.hpp"
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

/// A file of compiler/apps, for an engine by name. Throws as Program::from_file does.
[[nodiscard]] Program dialect_program(std::string_view file, const std::string& engine);
/// Its kernel of the same name.
[[nodiscard]] ProgramKernel dialect_kernel(std::string_view file, const std::string& engine);

/// The apps of the dialect on an engine, compiled when they are asked for.
template <class Engine>
class DialectApps {
 public:
  explicit DialectApps(std::string engine_name) : engine_name_(std::move(engine_name)) {}

  /// The kernel of an app. Throws Error{bad_options} when there is no such app.
  const ProgramKernel& prepare(std::string_view name) {
    const DialectApp<Engine>& app = of(name);
    auto found = kernels_.find(app.name);
    if (found == kernels_.end())
      found = kernels_.emplace(app.name, dialect_kernel(app.file, engine_name_)).first;
    return found->second;
  }
  Outcome run(Engine& engine, std::string_view name, Request& request) {
    return of(name).run(engine, prepare(name), request);
  }

 private:
  static const DialectApp<Engine>& of(std::string_view name) {
    return choose("app of the dialect", name, dialect_apps<Engine>());
  }

  std::string engine_name_;
  std::map<std::string_view, ProgramKernel> kernels_;
};

}  // namespace cohort::apps
