// How many units a task gets that can run on any number of them: the hybrid of gathering groups and
// suspending jobs that the paper proposes (section 5.5). Pure: measurements in, a choice out.
// Invariant: once all choices that may keep the limit have been tried, the cheapest one of them is
// taken, except for rare new trials.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cohort::scheduler {

/// What one task took, in nanoseconds.
struct TaskCost {
  std::uint32_t groups = 1;
  double gather = 0;  ///< from the submit until it had its units
  double run = 0;     ///< from then until it was done
  double regrow = 0;  ///< from then until the jobs had their units again
  /// Progress of the jobs during `run` and `regrow`, as a part of what they do in the same time
  /// without tasks. Empty if it cannot be measured.
  std::optional<double> speed = {};
};

/// The numbers of units to choose from, ascending: one, a quarter, a half, all but one for each of
/// `jobs`, and all, as far as they are at most `most`.
[[nodiscard]] std::vector<std::uint32_t> preemption_choices(std::uint32_t capacity,
                                                            std::uint32_t jobs, std::uint32_t most);

/// Learns what tasks of one kind cost next to the same jobs, and chooses the units of the next one.
///
/// The cost of a choice is the time the jobs lose: (run + regrow) x (1 - speed). A speed that has
/// not been measured well is taken to be the part of the units that the jobs keep. Suspended jobs
/// have none, but they regrow at once, whereas groups that were gathered come back at the jobs'
/// next resizing points. So the best choice depends on both.
class PreemptionPolicy {
 public:
  void learn(const TaskCost& cost);
  /// One of `choices`, which are ascending and at most `capacity`. The cheapest one that ends
  /// within `limit` nanoseconds; if there is none, the one that ends soonest. At first each is
  /// tried `trials` times.
  [[nodiscard]] std::uint32_t choose(std::span<const std::uint32_t> choices, std::uint32_t capacity,
                                     std::optional<double> limit) const;

  /// Time that the jobs lose by a task on `groups` units. Empty if none has been measured.
  [[nodiscard]] std::optional<double> loss(std::uint32_t groups, std::uint32_t capacity) const;

  /// Tasks of each choice before its measurements are believed.
  static constexpr std::uint32_t trials = 3;
  /// A choice that has not been taken for that many tasks is tried again if it was close.
  static constexpr std::uint64_t stale = 64;

 private:
  /// Smoothed measurements of the tasks with one number of units.
  struct Known {
    std::uint32_t groups = 0;
    std::uint32_t tasks = 0;
    std::uint64_t last = 0;  ///< when it was last taken, in tasks of the kind
    double gather = 0;
    double run = 0;
    double regrow = 0;
    double speed = 0;   ///< mean of the measured ones
    double speeds = 0;  ///< how many they are
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
