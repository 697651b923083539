// An app under the explorer. For the sources that CMake writes from apps.def, which instantiate it.
#pragma once

#include "apps/explored.hpp"
#include "apps/instance.hpp"
#include "cohort/explore.hpp"

namespace cohort::apps {

namespace detail {

/// A job that was cancelled has no result to judge.
template <class App>
explore::Result check(const explore::Options& options) {
  RunOptions how;
  how.launch.local_size = options.local_size;
  return explore::check_program(
      [&](explore::Engine& engine) -> std::string {
        const App app = App::tiny();  // with no memory of another engine
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
