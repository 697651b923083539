// The paper's pairs of app and input, to be measured in more than one way.
// Invariant: an input is loaded once, when it is first needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/run.hpp"
#include "graph/csr.hpp"

namespace cohort::cpu {
class Engine;
}

namespace cohort::bench {

/// How the groups of an app work together.
enum class Style { barriers, stealing };

/// An app with an algorithm, on an input.
struct Pair {
  std::string app;
  std::string algorithm;  ///< "paper", or the name of another
  std::string input;
  Style style;
  /// One run. Throws when the job does not finish.
  std::function<Report(cpu::Engine&, const apps::RunOptions&)> run;
  std::shared_ptr<const Csr> graph = {};  ///< of graph apps
  Node source = 0;
};

/// All of them; with small inputs to see that it works. Real graphs are taken from $COHORT_DATA;
/// where they are not there, generated ones of the same kind stand in.
[[nodiscard]] std::vector<Pair> paper_pairs(bool small);

}  // namespace cohort::bench
