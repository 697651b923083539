// An app under the explorer. Instantiated by the sources that CMake generates from apps.def.
#pragma once

#include "apps/explored.hpp"
#include "apps/instance.hpp"
#include "cohort/explore.hpp"

namespace cohort::apps {

namespace detail {

/// A cancelled job has no result to verify.
template <class App>
explore::Result check(const explore::Options& options) {
  RunOptions how;
  how.launch.local_size = options.local_size;
  return explore::check_program(
      [&](explore::Engine& engine) -> std::string {
        // A new app for each schedule, without memory of another engine.
        const App app = App::tiny();
        const auto result = app.run(engine, how);
        if (result.report.status != Status::finished) return "";
        return app.difference(result).value_or("");
      },
      options);
}

}  // namespace detail

template <class App>
Explored Explorable<App>::entry() {
  return {.name = App::name, .input = App::tiny().input(), .check = &detail::check<App>};
}

}  // namespace cohort::apps
