// Chooses the number of units for a task that can run on any number of them. This is the hybrid of
// gathering groups and suspending jobs that the paper proposes (section 5.5). The policy is pure:
// measurements go in, a choice comes out.
// Invariant: once all choices that may keep the limit have been tried, the cheapest of them is
// taken, except for rare new trials.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort::scheduler {

/// The measured cost of one task, in nanoseconds.
struct TaskCost {
  std::uint32_t groups = 1;
  double gather = 0;  ///< time from the submit until the task had its units
  double run = 0;     ///< time from then until the task was done
  double regrow = 0;  ///< time from then until the jobs had their units again
  /// Progress of the jobs during `run` and `regrow`, relative to their progress in the same time
  /// without tasks. Empty if it cannot be measured.
  std::optional<double> speed = {};
};

/// The numbers of units from which to choose, in ascending order: one, a quarter, a half, all but
/// one for each of `jobs`, and all. Omits numbers above `most`.
[[nodiscard]] std::vector<std::uint32_t> preemption_choices(std::uint32_t capacity,
                                                            std::uint32_t jobs, std::uint32_t most);

/// Learns the cost of one kind of task next to the same jobs, and chooses the units of the next
/// one.
///
/// The cost of a choice is the time that the jobs lose: (run + regrow) x (1 - speed). Until the
/// speed has been measured well, it is assumed to be the fraction of the units that the jobs keep.
/// A suspended job has speed 0, but it regrows at once, whereas gathered groups come back at the
/// job's next resizing points. So the best choice depends on both terms.
class PreemptionPolicy {
 public:
  void learn(const TaskCost& cost);
  /// Returns one of `choices`, which are ascending and at most `capacity`: the cheapest one that
  /// ends within `limit` nanoseconds. If there is none, returns the one that ends soonest. At first
  /// each choice is tried `trials` times.
  [[nodiscard]] std::uint32_t choose(std::span<const std::uint32_t> choices, std::uint32_t capacity,
                                     std::optional<double> limit) const;

  /// The time that the jobs lose by a task on `groups` units. Empty if no such task has been
  /// measured.
  [[nodiscard]] std::optional<double> loss(std::uint32_t groups, std::uint32_t capacity) const;

  /// How many tasks of a choice are needed before its measurements are believed.
  static constexpr std::uint32_t trials = 3;
  /// A choice that has not been taken for this many tasks is tried again, if its cost was close to
  /// the best.
  static constexpr std::uint64_t stale = 64;

 private:
  /// Smoothed measurements of the tasks with one number of units.
  struct Known {
    std::uint32_t groups = 0;
    std::uint32_t tasks = 0;
    /// Number of the task (counted per kind) for which this choice was last taken.
    std::uint64_t last = 0;
    double gather = 0;
    double run = 0;
    double regrow = 0;
    double speed = 0;   ///< mean of the measured speeds
    double speeds = 0;  ///< number of measured speeds, at most 64
  };

  [[nodiscard]] const Known* find(std::uint32_t groups) const;
  [[nodiscard]] static double latency(const Known& known) { return known.gather + known.run; }
  [[nodiscard]] static double loss(const Known& known, std::uint32_t capacity);
  [[nodiscard]] bool worth_trying(std::uint32_t groups, std::uint32_t capacity,
                                  std::optional<double> limit, std::optional<double> best) const;

  std::vector<Known> known_;
  std::uint64_t tasks_ = 0;
};

}  // namespace cohort::scheduler
