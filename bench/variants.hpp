// The paper's pairs, each with the paper's algorithm and with ours. Invariant: an input is loaded
// once.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/registry.hpp"
#include "bench/pairs.hpp"

namespace cohort::bench {

/// Verifications that wait until all measurements are done, because they use all CPUs.
class Checks {
 public:
  /// Names the run to which the next checks belong, for error messages.
  void of(std::string whose) { whose_ = std::move(whose); }
  /// `check` returns a difference, if there is one.
  void add(std::function<std::optional<std::string>()> check) {
    all_.push_back({whose_, std::move(check)});
  }
  /// Runs all checks, and returns their number. Throws std::runtime_error for a difference.
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
  std::string algorithm;  ///< "paper", or the name of our algorithm
  apps::Ready app;

  /// Runs it once. Adds the result's verification to `checks`, if that is not null. Throws if the
  /// run does not finish. On GPUs there are only our algorithms.
  template <class Engine>
  Report run(Engine& engine, apps::RunOptions options, Checks* checks = nullptr) const {
    options.results = checks != nullptr;
    apps::AppRun run = apps::run_app(app, engine, options);
    if (checks != nullptr && run.difference) checks->add(std::move(run.difference));
    return finished(run);
  }
  /// The report of a run. Throws if the run has not finished.
  [[nodiscard]] Report finished(const apps::AppRun& run) const {
    if (run.report.status == Status::finished) return run.report;
    throw std::runtime_error{pair.name() + " is " + to_string(run.report.status)};
  }
  /// The name of the variant, e.g. "bfs (paper) on rmat:22".
  [[nodiscard]] std::string name() const {
    return pair.app + " (" + algorithm + ") on " + pair.input;
  }
};

/// The variants of each pair: first the paper's algorithm, if the app has it, then the app's own.
/// Chunked pairs only if `chunked`.
[[nodiscard]] std::vector<Variant> variants_of(const std::vector<Pair>& pairs,
                                               bool chunked = false);

}  // namespace cohort::bench
