// The options and the result of an exploration.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace cohort::explore {

/// How schedules are chosen.
enum class Search : std::uint8_t {
  random,  ///< by a seed: any thread may be next at any access
  pct,     ///< by a seed: random priorities, changed at `depth` - 1 random accesses (Burckhardt et
           ///< al., ASPLOS 2010). Good at finding bugs that need few, but specific, switches
  exhaustive,  ///< all schedules that differ (dynamic partial-order reduction); with `preemptions`,
               ///< all that interrupt a thread at most that often
};

/// When a waiting thread checks its condition again.
enum class Waiting : std::uint8_t {
  polled,    ///< when a word that it reads has changed, as on a GPU
  notified,  ///< when it has been notified, as on a CPU: finds lost wake-ups
};

/// How groups come to the job.
enum class Start : std::uint8_t {
  sent,       ///< the engine sends units as it needs them; the first ones check in
  by_itself,  ///< the first ones check in, the others come at any time: a smaller search
  gathered,   ///< the same, but the first ones have already checked in
};

class Host;

/// What to explore. Everything has a default.
struct Options {
  Search search = Search::random;
  std::uint64_t seed = 1;
  /// Schedules to try. An exhaustive search ends earlier once it has tried all. 0: no limit.
  std::uint64_t schedules = 1000;
  /// Exhaustive search: how often a thread may be interrupted in a schedule. Default: no limit.
  std::optional<std::uint32_t> preemptions = {};
  std::uint32_t depth = 3;  ///< PCT: the number of orderings a bug needs

  /// Number of units, and so of groups that are active at the same time.
  std::uint32_t capacity = 3;
  std::uint32_t local_size = 1;                    ///< threads per group
  std::optional<std::uint32_t> max_groups = {};    ///< default: the capacity
  std::optional<std::uint32_t> start_groups = {};  ///< default: chosen by the schedule
  std::uint32_t visits = 3;                        ///< how often a unit may enter the job

  /// The actions of the scheduler: `host(h)` calls h.set_target and so on, each at a moment chosen
  /// by the schedule. Default: `changes` targets and `suspends` suspends, chosen by the schedule.
  std::function<void(Host&)> host = {};
  std::uint32_t changes = 3;
  std::uint32_t suspends = 0;

  /// Whether atomic loads may return older values, as far as coherence and happens-before allow.
  /// Not possible in an exhaustive search without `preemptions`.
  bool weak_memory = false;
  Waiting waiting = Waiting::polled;
  Start start = Start::sent;
  /// Whether the first group waits for the others of the check-in only for a time chosen by the
  /// schedule. A group that comes later joins if it can.
  bool start_deadline = false;
  /// Whether a surplus group waits in its offer for a time chosen by the schedule.
  bool offer_wait = true;
  /// A schedule with more accesses than this is reported as without progress.
  std::uint32_t max_steps = 20000;
  /// Whether to shorten a failing schedule before it is reported.
  bool shrink = true;
  /// If set, runs only this schedule. The format is the one printed in a report.
  std::string replay = {};
  /// Whether timelines show the protocol's own words and the units on which groups run.
  bool verbose = false;
};

/// The result of an exploration.
struct Result {
  bool ok = true;
  std::uint64_t schedules = 0;  ///< number of schedules that were run, including the failing one
  std::uint64_t steps = 0;      ///< number of accesses in all schedules
  bool complete = false;        ///< whether an exhaustive search has tried every schedule
  std::string failure;          ///< what went wrong, as a sentence; empty if nothing did
  std::uint64_t seed = 0;       ///< seed of the failing schedule
  std::string replay;           ///< the failing schedule, shortened
  std::string timeline;         ///< the events of the failing schedule

  explicit operator bool() const { return ok; }
  /// The whole report.
  [[nodiscard]] std::string text() const;
  friend std::ostream& operator<<(std::ostream& out, const Result& result);
};

}  // namespace cohort::explore
