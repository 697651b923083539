// The paper's pairs with the paper's algorithm and with ours, to be measured in more than one way.
// Invariant: an input is loaded once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/run.hpp"
#include "bench/pairs.hpp"
#include "graph/csr.hpp"

namespace cohort::cpu {
class Engine;
}

namespace cohort::bench {

/// A pair with one of its algorithms, ready to run.
struct Variant {
  Pair pair;
  std::string algorithm;  ///< "paper", or the name of ours
  /// One run. Throws when the job does not finish.
  std::function<Report(cpu::Engine&, const apps::RunOptions&)> run;
  std::shared_ptr<const Csr> graph = {};  ///< of graph apps; symmetric
  Node source = 0;

  /// "bfs (paper) on rmat:22".
  [[nodiscard]] std::string name() const {
    return pair.app + " (" + algorithm + ") on " + pair.input;
  }
};

/// Two for each pair, except those that differ in the length of steps only.
[[nodiscard]] std::vector<Variant> variants_of(const std::vector<Pair>& pairs);

}  // namespace cohort::bench
