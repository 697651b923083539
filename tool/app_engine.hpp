// Apps on an engine chosen by name, with matrix products as tasks next to them. Invariant: no other
// part of the tool knows which apps are built for which engine.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apps/registry.hpp"
#include "cohort/any_engine.hpp"
#include "cohort/program.hpp"
#include "tool/load.hpp"

namespace cohort::tool {

/// The reason why apps cannot run on such an engine; empty if they can.
[[nodiscard]] std::string apps_lacking(const EngineKind& kind);

class AppEngine {
 public:
  /// `dialect`: run the kernels compiled by cohortc, as the opencl engine always does. Throws
  /// Error{bad_options} if this build has none, and the errors of AnyEngine.
  explicit AppEngine(const EngineSpec& spec, bool dialect = false);

  [[nodiscard]] const AnyEngine& engine() const { return engine_; }
  [[nodiscard]] std::uint32_t capacity() const { return engine_.capacity(); }
  [[nodiscard]] bool dialect() const { return dialect_; }
  /// Whether the engine's apps have the paper's barriers.
  [[nodiscard]] bool paper_barriers() const;
  /// The default threads per group, and the default number of groups of `local_size` for an app.
  [[nodiscard]] std::uint32_t default_local_size() const;
  [[nodiscard]] std::uint32_t default_groups(const apps::Ready& app,
                                             std::uint32_t local_size) const;

  /// Loads an app's kernel. Throws Error{bad_options} for an unknown app.
  void load(std::string_view app);
  /// An app with its input, ready to run. Throws Error{bad_options} for a bad input or setting.
  [[nodiscard]] apps::Ready prepare(std::string_view app, const std::string& input,
                                    const std::vector<std::string>& settings);
  /// Runs the app once. Throws Error{bad_options} for options that the engine does not support.
  apps::AppRun run(const apps::Ready& app, const apps::RunOptions& options);

  /// Returns a function that runs a product of `side` x `side` matrices as a task at each call.
  /// Create it before launching the job next to which it runs.
  [[nodiscard]] std::function<Load::Served()> product(std::uint32_t side,
                                                      const TaskOptions& options);
  /// Side length of a product that takes `work` on the idle engine.
  [[nodiscard]] std::uint32_t side_for(std::chrono::nanoseconds work, const TaskOptions& options);

 private:
  /// A kernel of compiler/apps.
  const ProgramKernel& kernel(std::string_view app,
                              ResizingBarrier barrier = ResizingBarrier::one_pass);

  AnyEngine engine_;
  bool dialect_;
  bool whole_;  // no capacity was given, so all units may be used
  std::map<std::pair<std::string, ResizingBarrier>, ProgramKernel> kernels_;
};

}  // namespace cohort::tool
