// Appendix A of the paper as an executable oracle: decides whether a trace obeys the rules of
// cooperative kernels. Invariant: a run that the rules allow is never rejected; docs/protocol.md
// lists what is rejected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/trace.hpp"
#include "cohort/trace_log.hpp"

namespace cohort {

/// The properties of a job's launch and kernel on which the rules depend.
struct TraceRules {
  std::uint32_t max_groups = 1;  ///< N, the maximum number of groups
  KillOrder kill_order = KillOrder::highest_first;
  Survivors survivors = Survivors::keep_one;
  /// Groups at the first start, if known.
  std::optional<std::uint32_t> start_groups = {};
};

/// The rules for a kernel with these traits.
[[nodiscard]] constexpr TraceRules rules_of(const Traits& traits, std::uint32_t max_groups) {
  return {.max_groups = max_groups,
          .kill_order = traits.kill_order,
          .survivors = traits.survivors,
          .start_groups = {}};
}

/// How a resizing barrier changed the set of groups: groups 0 to before - 1 enter, groups 0 to
/// after - 1 continue.
struct Resizing {
  std::uint32_t before = 0;  ///< M when all groups had arrived
  std::uint32_t after = 0;   ///< M when the groups continue
  /// Groups that joined inside the barrier; the highest may have left already.
  std::uint32_t forked = 0;

  friend constexpr bool operator==(const Resizing&, const Resizing&) = default;
  friend constexpr bool operator<(const Resizing& a, const Resizing& b) {
    return std::tie(a.before, a.after, a.forked) < std::tie(b.before, b.after, b.forked);
  }
};

/// All changes that the resizing barrier of section 3.1 can make to `before` groups of at most
/// `max_groups`. That barrier is a sequence: barrier, fork by group 0, barrier, an offer by each
/// other group in any order, barrier. Found by trying all possibilities; sorted.
[[nodiscard]] std::vector<Resizing> modelled_outcomes(std::uint32_t before,
                                                      std::uint32_t max_groups);

/// Whether the modelled barrier can make this change. Decides without trying all possibilities.
[[nodiscard]] constexpr bool modelled_allows(Resizing resizing, std::uint32_t max_groups) {
  return resizing.before >= 1 && resizing.forked <= max_groups &&
         resizing.before <= max_groups - resizing.forked && resizing.after >= 1 &&
         resizing.after <= resizing.before + resizing.forked;
}

/// Judges a job's events one by one. Their order must be consistent with the order of the
/// protocol's steps, as recorded by a scheduler that runs one group at a time: `arrive` and
/// `resize` come right before their step, all other events right after it. Several runs of a job
/// (suspend, resume) follow each other in one trace. Allocates only in its constructor and for the
/// sentence about a broken rule.
class TraceChecker {
 public:
  explicit TraceChecker(const TraceRules& rules);

  /// Judges the next event. Returns a sentence about the first rule that it breaks, or nothing if
  /// the event is legal. After a broken rule, further results mean little.
  std::optional<std::string> see(const TraceEvent& event);
  /// Checks that no group is missing. Call it after the last event.
  [[nodiscard]] std::optional<std::string> end() const;
  /// Like end(), and checks that the trace matches the final status of the job.
  [[nodiscard]] std::optional<std::string> end(Status status) const;

  /// Starts over, for another job with the same rules.
  void reset();

  /// M after the events so far.
  [[nodiscard]] std::uint32_t active() const noexcept { return active_; }
  /// The generation at which groups currently arrive.
  [[nodiscard]] std::uint32_t generation() const noexcept { return gen_; }
  /// The number of events judged so far.
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  /// The state of the group with an id.
  enum class Phase : std::uint8_t {
    absent,     // no group has the id
    running,    // in the kernel
    waiting,    // in the barrier of generation `gen`
    leaving,    // removed by a resizing barrier, and has not noticed yet
    parting,    // has noticed its removal, and waits for its turn
    finished,   // returned; still counts in M
    abandoned,  // out because of a fault; still counts in M
  };
  /// The event that a group has to record before any other.
  enum class Due : std::uint8_t { nothing, start, join };
  struct Holder {
    Phase phase = Phase::absent;
    Due due = Due::nothing;
    std::uint32_t gen = 0;  // number of barriers passed
  };
  using Refusal = std::optional<std::string>;

  Refusal start(const TraceEvent& event);
  Refusal join(const TraceEvent& event);
  Refusal kill(const TraceEvent& event);
  Refusal fork(const TraceEvent& event);
  Refusal arrive(const TraceEvent& event);
  Refusal resize(const TraceEvent& event);
  Refusal pass(const TraceEvent& event);
  Refusal shed(const TraceEvent& event);
  Refusal finish(const TraceEvent& event);
  Refusal fault(const TraceEvent& event);

  [[nodiscard]] bool is(const TraceEvent& event, Phase phase) const {
    const Holder& holder = holders_[event.group];
    return holder.phase == phase && holder.due == Due::nothing;
  }
  [[nodiscard]] bool all_arrived() const { return arrived_ == active_; }
  [[nodiscard]] std::string refuse(const TraceEvent& event, const std::string& why) const;
  /// A sentence about the state of the event's group, in which this event cannot happen.
  [[nodiscard]] std::string out_of_place(const TraceEvent& event) const;
  [[nodiscard]] std::string too_early(const TraceEvent& event) const;
  /// Checks whether the last group was allowed to leave.
  Refusal empty(const TraceEvent& event);
  void begin_run();
  void admit(std::uint32_t id, Phase phase, Due due);
  void release();

  TraceRules rules_;
  std::vector<Holder> holders_;  // indexed by id
  std::uint64_t events_ = 0;
  std::uint32_t runs_ = 0;
  std::uint32_t started_ = 0;  // M at the start of this run; 0: not yet known
  std::uint32_t active_ = 0;   // the current M
  std::uint32_t settled_ = 0;  // M as of the last release
  std::uint32_t gen_ = 0;      // the generation at which groups arrive
  std::uint32_t arrived_ = 0;  // number of groups that have arrived at it
  std::uint32_t forked_ = 0;   // number of arrived groups that were forked inside the barrier
  std::uint32_t inside_ = 0;   // number of groups that have not ended
  // Number of groups that a barrier has removed and that have not ended.
  std::uint32_t leaving_ = 0;
  std::uint32_t finished_ = 0;  // number of groups that have returned
  // Number of groups forked under KillOrder::any whose ids are not known yet.
  std::uint32_t unnamed_ = 0;
  bool faulted_ = false;
  bool emptied_ = false;  // the last group has left: further events belong to another run
  bool kept_ = false;     // the job's state was kept at that time
};

/// Judges the log of a real run, in which groups ran at the same time. A group's action is logged a
/// moment before or after it happens, so the log need not be in the order of the protocol's steps.
/// This function first reconstructs that order from three sources: the order of each group's own
/// events, the order between groups that the log implies, and the values of M in the events.
/// Returns nothing if the run is legal, otherwise a sentence about the first illegal event.
[[nodiscard]] std::optional<std::string> check_trace(std::span<const LoggedEvent> log,
                                                     const TraceRules& rules,
                                                     std::optional<Status> status = {});

}  // namespace cohort
