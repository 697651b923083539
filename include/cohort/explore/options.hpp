// How to explore, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace cohort::explore {

/// How schedules are chosen.
enum class Search : std::uint8_t {
  random,      ///< by a seed: any thread may be next at any access
  pct,         ///< by a seed: random priorities, changed at `depth` - 1 random accesses (Burckhardt
               ///< et al., ASPLOS 2010): good at bugs that need few particular switches
  exhaustive,  ///< all schedules that differ (dynamic partial-order reduction), or with
               ///< `preemptions` all that interrupt a thread at most so often
};

/// When a thread that waits looks again.
enum class Waiting : std::uint8_t {
  polled,    ///< when a word it looks at has changed, as on a GPU
  notified,  ///< when it has been notified, as on a CPU: finds wake-ups that are lost
};

/// How groups come to the job.
enum class Start : std::uint8_t {
  sent,       ///< the engine sends units as it needs them; the first ones check in
  by_itself,  ///< the first ones check in, the others come when they like: less to search through
  gathered,   ///< the same, and the first ones have checked in already
};

class Host;

/// What to explore. Everything has a default.
struct Options {
  Search search = Search::random;
  std::uint64_t seed = 1;
  /// Schedules to try; an exhaustive search ends earlier if it has seen all. 0: no limit.
  std::uint64_t schedules = 1000;
  /// Exhaustive search: how often a thread may be interrupted in a schedule. Default: any number.
  std::optional<std::uint32_t> preemptions = {};
  std::uint32_t depth = 3;  ///< of PCT: how many orderings a bug needs

  std::uint32_t capacity = 3;                      ///< units, that is groups active at a time
  std::uint32_t local_size = 1;                    ///< threads in a group
  std::optional<std::uint32_t> max_groups = {};    ///< default: the capacity
  std::optional<std::uint32_t> start_groups = {};  ///< default: chosen by the schedule
  std::uint32_t visits = 3;                        ///< how often a unit may come to the job

  /// What the scheduler does: `host(h)` calls h.set_target and the like, each at a moment that the
  /// schedule chooses. Default: `changes` targets and `suspends` suspends, chosen by the schedule.
  std::function<void(Host&)> host = {};
  std::uint32_t changes = 3;
  std::uint32_t suspends = 0;

  /// Atomic loads may return older values, as far as coherence and happens-before allow. Not in an
  /// exhaustive search without `preemptions`.
  bool weak_memory = false;
  Waiting waiting = Waiting::polled;
  Start start = Start::sent;
  /// The first group waits for the others of the check-in only for a time that the schedule
  /// chooses; who is late joins, if there is something to join.
  bool start_deadline = false;
  /// A surplus group waits in its offer, for a time that the schedule chooses.
  bool offer_wait = true;
  /// In step kernels the State must be the same in all groups at the end of a step.
  bool uniform_state = true;
  /// A schedule with more accesses than this makes no progress.
  std::uint32_t max_steps = 20000;
  /// Make a failing schedule shorter before it is reported.
  bool shrink = true;
  /// Run this one schedule, as a failure reported it.
  std::string replay = {};
  /// Timelines also show the protocol's own words and the units that groups run on.
  bool verbose = false;
};

/// What an exploration found.
struct Result {
  bool ok = true;
  std::uint64_t schedules = 0;  ///< run, the failing one included
  std::uint64_t steps = 0;      ///< accesses, over all of them
  bool complete = false;        ///< an exhaustive search has seen everything
  std::string failure;          ///< what went wrong, in a sentence
  std::uint64_t seed = 0;       ///< of the failing schedule
  std::string replay;           ///< the failing schedule, made short
  std::string timeline;         ///< what happened in it

  explicit operator bool() const { return ok; }
  /// The whole report.
  [[nodiscard]] std::string text() const;
  friend std::ostream& operator<<(std::ostream& out, const Result& result);
};

}  // namespace cohort::explore
