// The outer protocol under chosen schedules. Ranks are fibres. The schedule chooses the order in
// which parcels arrive, the moments of requests, failing spawns, and deaths.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cohort/explore/options.hpp"

namespace cohort::test {

/// A request by the host, which may come at any moment of the run.
struct Ask {
  enum What : std::uint8_t { leave, resize, save, suspend } what;
  std::uint32_t value = 0;  // for a leave: the seat; for a resize: the number of ranks
};

/// The operation that fails on seat 1, or on the rank that publishes.
enum class Fails : std::uint8_t { nothing, compute, write, publish };

/// Counts of events in a run, or the maxima of the counts over all runs.
struct RanksSeen {
  std::uint32_t left = 0;
  std::uint32_t joined = 0;
  std::uint32_t spawns = 0;  // number of attempted spawns
  std::uint32_t saves = 0;
  std::uint32_t suspended = 0;  // number of ranks that ended suspended
  std::uint32_t failed = 0;     // number of ranks that ended with an error

  friend bool operator==(const RanksSeen&, const RanksSeen&) = default;
};

struct RanksStory {
  const char* name;
  std::uint32_t ranks;  // number of ranks at the start
  std::uint32_t seats;
  std::uint32_t turns = 3;
  std::vector<Ask> asks = {};
  bool spawns_fail = false;  // whether a spawn may fail
  bool dies = false;  // all ranks may die once, before any change of the store or any superstep
  std::uint32_t again_on = 1;  // number of ranks after a death or a suspend
  bool stores = true;
  Fails fails = Fails::nothing;
  RanksSeen most = {};  // filled in by explore_ranks: maxima over all schedules
};

std::ostream& operator<<(std::ostream& out, const RanksStory& story);
const std::vector<RanksStory>& ranks_stories();
/// Checks the placement of shards in small cases. Returns what is wrong, or nothing.
std::string check_placement();
/// Runs all schedules, or `limit` of them.
explore::Result explore_ranks(const RanksStory& story, std::uint64_t limit = 0);

}  // namespace cohort::test
