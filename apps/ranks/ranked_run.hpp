// How an app runs on several ranks, and what comes of it.
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

/// The outcome on one rank; what is optional is on rank 0 of a finished job.
struct RankedOutcome {
  RankReport report;
  std::string input;  ///< "1000 nodes, 4000 edges"
  Numbers result;
  std::optional<bool> verified;
  std::string difference;
  double imbalance = 1;  ///< edges of the rank with most, over the average
};

/// The apps that there are, for messages.
inline constexpr std::string_view ranked_apps = "bfs, cc, l-sssp and pagerank";

}  // namespace cohort::apps
