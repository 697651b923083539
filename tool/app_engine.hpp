// The apps on an engine that is chosen by name, and matrix products as tasks next to them.
// Invariant: nothing else in the tool knows for which engines which apps are built.
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

/// Why apps cannot run on such an engine; empty if they can.
[[nodiscard]] std::string apps_lacking(const EngineKind& kind);

class AppEngine {
 public:
  /// `dialect`: runs the kernels that cohortc compiles; with opencl it always does. Throws
  /// Error{bad_options} where there are none, and what AnyEngine throws.
  explicit AppEngine(const EngineSpec& spec, bool dialect = false);

  [[nodiscard]] const AnyEngine& engine() const { return engine_; }
  [[nodiscard]] std::uint32_t capacity() const { return engine_.capacity(); }
  [[nodiscard]] bool dialect() const { return dialect_; }
  [[nodiscard]] bool paper_barriers() const;
  /// Threads of a group, and how many groups of `local_size` suit an app, where nothing is said.
  [[nodiscard]] std::uint32_t default_local_size() const;
  [[nodiscard]] std::uint32_t default_groups(const apps::Ready& app,
                                             std::uint32_t local_size) const;

  /// Makes an app's kernel ready. Throws Error{bad_options} for one that there is not.
  void load(std::string_view app);
  /// An app that can run here. Throws Error{bad_options} for what it does not know.
  [[nodiscard]] apps::Ready prepare(std::string_view app, const std::string& input,
                                    const std::vector<std::string>& settings);
  /// One run. Throws Error{bad_options} for what cannot be done here.
  apps::AppRun run(const apps::Ready& app, const apps::RunOptions& options);

  /// A product of matrices of that side as a task, to be served again and again; made before what
  /// it is to run next to.
  [[nodiscard]] std::function<Load::Served()> product(std::uint32_t side,
                                                      const TaskOptions& options);
  /// The side of one that takes `work` while nothing else runs here.
  [[nodiscard]] std::uint32_t side_for(std::chrono::nanoseconds work, const TaskOptions& options);

 private:
  /// A kernel of compiler/apps.
  const ProgramKernel& kernel(std::string_view app);

  AnyEngine engine_;
  bool dialect_;
  bool whole_;  // it may use all units
  std::map<std::string, ProgramKernel, std::less<>> kernels_;
};

}  // namespace cohort::tool
