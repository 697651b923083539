// The paper's pairs with the paper's algorithm and with ours, to be measured in more than one way.
// Invariant: an input is loaded once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/run.hpp"
#include "bench/pairs.hpp"
#include "graph/csr.hpp"

namespace cohort::cpu {
class Engine;
}
#ifdef COHORT_WITH_CUDA_APPS
namespace cohort::cuda {
class Engine;
}
namespace cohort::apps {
class PlainEngine;
}
#endif

namespace cohort::bench {

/// An engine of those that the apps are built for.
using AnyEngine =
    std::variant<std::reference_wrapper<cpu::Engine>
#ifdef COHORT_WITH_CUDA_APPS
                 ,
                 std::reference_wrapper<cuda::Engine>, std::reference_wrapper<apps::PlainEngine>
#endif
                 >;

/// Verifications to be done when nothing is measured any more: they take all CPUs.
class Checks {
 public:
  /// Whose results follow, for the message about a wrong one.
  void of(std::string whose) { whose_ = std::move(whose); }
  /// `check` tells what is wrong, if anything.
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
  /// One run; what comes out is verified if there are `checks`. Throws when it does not finish.
  /// GPUs have our algorithms only.
  std::function<Report(AnyEngine, const apps::RunOptions&, Checks* checks)> start;
  std::shared_ptr<const Csr> graph = {};  ///< of graph apps; symmetric
  Node source = 0;

  Report run(AnyEngine engine, const apps::RunOptions& options, Checks* checks = nullptr) const {
    return start(engine, options, checks);
  }
  /// "bfs (paper) on rmat:22".
  [[nodiscard]] std::string name() const {
    return pair.app + " (" + algorithm + ") on " + pair.input;
  }
};

/// Two for each pair. Those that differ in the length of steps only are left out, unless wanted.
[[nodiscard]] std::vector<Variant> variants_of(const std::vector<Pair>& pairs,
                                               bool chunked = false);

}  // namespace cohort::bench
