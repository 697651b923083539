// The outer protocol under chosen schedules: ranks are fibres; the order in which parcels arrive,
// the moments of requests, failing spawns and deaths are choices.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cohort/explore/options.hpp"

namespace cohort::test {

/// A request, made at any moment of the run.
struct Ask {
  enum What : std::uint8_t { leave, resize, save, suspend } what;
  std::uint32_t value = 0;  // the seat that leaves, or the number of ranks
};

/// What fails on seat 1, or on the rank that publishes.
enum class Fails : std::uint8_t { nothing, compute, write, publish };

/// What happened in a run, or the most over all runs.
struct RanksSeen {
  std::uint32_t left = 0;
  std::uint32_t joined = 0;
  std::uint32_t spawns = 0;  // tried
  std::uint32_t saves = 0;
  std::uint32_t suspended = 0;  // ranks
  std::uint32_t failed = 0;     // ranks

  friend bool operator==(const RanksSeen&, const RanksSeen&) = default;
};

struct RanksStory {
  const char* name;
  std::uint32_t ranks;  // at the start
  std::uint32_t seats;
  std::uint32_t turns = 3;
  std::vector<Ask> asks = {};
  bool spawns_fail = false;    // a spawn may
  bool dies = false;           // all ranks may die, once, at any change of the store and superstep
  std::uint32_t again_on = 1;  // ranks after a death or a suspend
  bool stores = true;
  Fails fails = Fails::nothing;
  RanksSeen most = {};  // over all schedules
};

std::ostream& operator<<(std::ostream& out, const RanksStory& story);
const std::vector<RanksStory>& ranks_stories();
/// What is wrong with the placement of shards in small cases, or nothing.
std::string check_placement();
/// Runs all schedules, or `limit` of them.
explore::Result explore_ranks(const RanksStory& story, std::uint64_t limit = 0);

}  // namespace cohort::test
