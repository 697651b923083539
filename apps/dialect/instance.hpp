// Runs the dialect kernel of an app. Instantiated by the sources that CMake generates from
// apps.def.
#pragma once

#include "apps/dialect/dialect.hpp"
#include "apps/instance.hpp"

namespace cohort::apps {

template <class App, class Engine>
AppRun DialectInstance<App, Engine>::run(const void* app, Engine& engine,
                                         const ProgramKernel& kernel, const RunOptions& options) {
  if constexpr (requires { App::dialect_options; }) {
    const App& its = *static_cast<const App*>(app);
    return detail::erased(its, its.run_dialect(engine, kernel, options), options.results);
  }
  throw Error{Errc::bad_options, std::string{App::name} + " has no kernel of the dialect"};
}

}  // namespace cohort::apps
