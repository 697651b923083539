// The apps' kernels of the dialect (compiler/apps), on each engine of this build. They share
// inputs, result numbers and verifiers with the kernels in C++.
#pragma once

#include "apps/registry.hpp"
#include "cohort/program.hpp"

namespace cohort::apps {

/// Loads a file of compiler/apps for the engine with that name. Throws the same errors as
/// Program::from_file.
[[nodiscard]] Program dialect_program(std::string_view file, const std::string& engine,
                                      ResizingBarrier barrier = ResizingBarrier::one_pass);
/// The kernel that is named like the file.
[[nodiscard]] ProgramKernel dialect_kernel(std::string_view file, const std::string& engine,
                                           ResizingBarrier barrier = ResizingBarrier::one_pass);
/// The dialect kernel of an app. Throws Error{bad_options} if it has none.
[[nodiscard]] ProgramKernel dialect_kernel(const AppInfo& app, const std::string& engine,
                                           ResizingBarrier barrier = ResizingBarrier::one_pass);

/// Prepares a run of an app's dialect kernel: loads its input. Throws Error{bad_options} for an
/// option that this kernel does not have.
[[nodiscard]] Ready prepare_dialect(const AppInfo& app, const std::string& input,
                                    const Settings& settings);

/// The dialect kernel of an app on one engine. See Instance.
template <class App, class Engine>
struct DialectInstance {
  static AppRun run(const void* app, Engine& engine, const ProgramKernel& kernel,
                    const RunOptions& options);
};

/// One run of an app's dialect kernel.
template <class Engine>
AppRun run_dialect(const Ready& ready, Engine& engine, const ProgramKernel& kernel,
                   const RunOptions& options) {
  static constexpr std::array instances{
#define COHORT_APP(app) &DialectInstance<app::App, Engine>::run,
#include "apps/apps.def"
#undef COHORT_APP
  };
  return instances[place_in_list(*ready.info)](ready.app.get(), engine, kernel, options);
}

}  // namespace cohort::apps
