// The paper's 11 pairs of an app and an input (section 5.1), as this build and this machine can run
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::bench {

/// A pair that can run.
struct Workload {
  std::string app;
  std::string input;                  ///< a spec
  std::string title;                  ///< the paper's name for the input
  std::vector<std::string> settings;  ///< the app's own options
  bool barriers = false;  ///< it has resizing barriers, so their kinds make a difference
  std::string note;       ///< why this is not the paper's input
  bool chunked = false;   ///< the outlier, mended: steps are cut into chunks

  /// "bfs rmat".
  [[nodiscard]] std::string name() const { return app + " " + title + (chunked ? " chunked" : ""); }
};

/// What there is, and in words what there is not.
struct Workloads {
  std::vector<Workload> runnable;
  std::vector<std::string> missing;
};

/// `quick`: small inputs of the same kind. Only those whose name() contains `only`.
[[nodiscard]] Workloads paper_workloads(bool quick, std::string_view only);

}  // namespace cohort::bench
