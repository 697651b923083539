// The paper's 11 pairs of an app and an input (section 5.1), in the forms that this build and this
// machine can run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cohort/any_engine.hpp"

namespace cohort::bench {

/// How the groups of an app cooperate.
enum class Style { barriers, stealing };

/// A pair that can run here.
struct Pair {
  std::string app;
  std::string input;                  ///< the spec of the input
  std::string title;                  ///< the paper's name for the input
  std::vector<std::string> settings;  ///< the app's own options, for the paper's algorithm
  Style style = Style::barriers;
  std::string note;      ///< why this input differs from the paper's
  bool chunked = false;  ///< with the outlier's remedy: steps are cut into chunks
  /// Replaces `input` on CPUs, if a run would take many seconds there.
  std::string on_cpus = {};

  /// The name of the pair, e.g. "bfs rmat".
  [[nodiscard]] std::string name() const { return app + " " + title + (chunked ? " chunked" : ""); }
};

/// Pairs that can run, and messages about inputs that are missing.
struct Pairs {
  std::vector<Pair> runnable;
  std::vector<std::string> missing;
};

/// The paper's pairs whose name() contains `only`. `quick`: with small inputs of the same kind.
/// Throws Error{bad_options} if there is none.
[[nodiscard]] Pairs paper_pairs(bool quick, std::string_view only);
/// The pairs that an engine can run, in the form in which it runs them.
[[nodiscard]] Pairs pairs_on(const AnyEngine& engine, bool quick, std::string_view only);
/// A pair as it runs on engines of that kind; nothing if they cannot run it.
[[nodiscard]] std::optional<Pair> adapted(Pair pair, const EngineKind& kind);
/// Throws Error{bad_options} because no pair's name contains `only`.
[[noreturn]] void no_such_pair(std::string_view only);

}  // namespace cohort::bench
