// The options and the outcome of an app's run on several ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "apps/registry.hpp"
#include "apps/settings.hpp"
#include "cohort/ranks.hpp"

namespace cohort::apps {

/// How to run an app on several ranks.
struct RankedRun {
  std::string app;
  std::string input;
  Settings settings = {};
  RankOptions options = {};
  bool verify = false;
  /// Called when the shards have been made.
  std::function<void()> made = [] {};
  /// Called with the job's requests before it runs, and with null after it.
  std::function<void(RankRequests*)> control = [](RankRequests*) {};
};

/// The outcome on one rank. Only rank 0 of a finished job has the optional members.
struct RankedOutcome {
  RankReport report;
  std::string input;  ///< a description, e.g. "1000 nodes, 4000 edges"
  Numbers result;
  std::optional<bool> verified;
  std::string difference;
  double imbalance = 1;  ///< most edges of a rank, divided by the average
};

/// The names of the available apps, for messages.
inline constexpr std::string_view ranked_apps = "bfs, cc, l-sssp and pagerank";

}  // namespace cohort::apps
