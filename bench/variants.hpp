// The paper's pairs, with the paper's algorithm and with ours. Invariant: an input is loaded once.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/registry.hpp"
#include "bench/pairs.hpp"

namespace cohort::bench {

/// Verifications deferred until nothing is measured any more: they take all CPUs.
class Checks {
 public:
  /// Names the run whose checks follow, for error messages.
  void of(std::string whose) { whose_ = std::move(whose); }
  /// `check` returns a difference, if any.
  void add(std::function<std::optional<std::string>()> check) {
    all_.push_back({whose_, std::move(check)});
  }
  /// Does all of them, and returns how many there were. Throws std::runtime_error for a difference.
  std::size_t run();

 private:
  std::string whose_ = "a run";
  struct Check {
    std::string whose;
    std::function<std::optional<std::string>()> difference;
  };
  std::vector<Check> all_;
};

/// A pair with one of its algorithms, ready to run.
struct Variant {
  Pair pair;
  std::string algorithm;  ///< "paper", or the name of ours
  apps::Ready app;

  /// Runs it once, and adds its verification to `checks`, if any. Throws when it does not finish.
  /// GPUs have our algorithms only.
  template <class Engine>
  Report run(Engine& engine, apps::RunOptions options, Checks* checks = nullptr) const {
    options.results = checks != nullptr;
    apps::AppRun run = apps::run_app(app, engine, options);
    if (checks != nullptr && run.difference) checks->add(std::move(run.difference));
    return finished(run);
  }
  /// The report of a run. Throws when it is not finished.
  [[nodiscard]] Report finished(const apps::AppRun& run) const {
    if (run.report.status == Status::finished) return run.report;
    throw std::runtime_error{pair.name() + " is " + to_string(run.report.status)};
  }
  /// "bfs (paper) on rmat:22".
  [[nodiscard]] std::string name() const {
    return pair.app + " (" + algorithm + ") on " + pair.input;
  }
};

/// For each pair the app's own algorithm, after the paper's if the app has that too. Chunked pairs
/// only if `chunked`.
[[nodiscard]] std::vector<Variant> variants_of(const std::vector<Pair>& pairs,
                                               bool chunked = false);

}  // namespace cohort::bench
