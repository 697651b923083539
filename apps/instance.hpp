// The registry's entry of an app, and its runs on an engine. Instantiated by the sources that CMake
// generates from apps.def.
#pragma once

#include "apps/registry.hpp"

namespace cohort::apps {

namespace detail {

template <class T>
NodeValues node_values(const std::vector<T>& values) {
  constexpr std::string_view element = std::is_same_v<T, double> ? "float64"
                                       : sizeof(T) == 8          ? "uint64"
                                                                 : "uint32";
  return {element, std::as_bytes(std::span{values})};
}

/// Keeps the app and its result alive for numbers() and difference().
template <class App>
AppRun erased(const App& app, typename App::Result result, bool results) {
  AppRun run{.report = result.report, .values = {}, .numbers = {}, .difference = {}};
  if (run.report.status != Status::finished || !results) return run;
  const auto kept =
      std::make_shared<const std::pair<App, typename App::Result>>(app, std::move(result));
  if constexpr (requires { App::by_node(kept->second); })
    run.values = [kept] { return node_values(App::by_node(kept->second)); };
  run.numbers = [kept] { return kept->first.numbers(kept->second); };
  run.difference = [kept] { return kept->first.difference(kept->second); };
  return run;
}

template <class App>
Ready prepare(const std::string& input, Settings settings) {
  const auto app = std::make_shared<const App>(App::from(input, settings));
  std::uint64_t edges = 0;
  if constexpr (requires { app->graph->csr(); }) edges = app->graph->csr().num_edges();
  return {&Registered<App>::info, app, app->input(), app->threads_per_sm(), edges};
}

template <class App>
constexpr std::optional<std::string_view> dialect_options() {
  if constexpr (requires { App::dialect_options; }) return App::dialect_options;
  return {};
}

}  // namespace detail

template <class App>
const AppInfo Registered<App>::info{.name = App::name,
                                    .summary = App::summary,
                                    .options = App::options,
                                    .algorithm = App::algorithm,
                                    .paper = App::paper,
                                    .examples = App::examples,
                                    .dialect_options = detail::dialect_options<App>(),
                                    .prepare = &detail::prepare<App>};

template <class App, class Engine>
typename App::Result solve(Engine& engine, const App& app, const RunOptions& options) {
  return app.run(engine, options);
}

template <class App, class Engine>
AppRun Instance<App, Engine>::run(const void* app, Engine& engine, const RunOptions& options) {
  const App& its = *static_cast<const App*>(app);
  return detail::erased(its, its.run(engine, options), options.results);
}

}  // namespace cohort::apps
