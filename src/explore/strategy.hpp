// Interface of a search strategy. It chooses the next thread at each access, and the next value at
// each choice. Invariant: with the same options, a strategy makes the same choices.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cohort/explore/options.hpp"
#include "explore/clock.hpp"

namespace cohort::explore {

/// A set of threads.
using Actors = std::uint32_t;

/// The words that a step reads and writes. Steps of different threads depend on each other if both
/// touch the same word and at least one of them writes it.
struct Footprint {
  struct Touch {
    std::uint32_t slot = 0;
    bool writes = false;
  };
  static constexpr std::uint32_t room = 16;

  std::array<Touch, room> touches;
  std::uint32_t count = 0;

  void add(std::uint32_t slot, bool writes) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (touches[i].slot == slot) {
        touches[i].writes |= writes;
        return;
      }
    }
    if (count < room) touches[count++] = {slot, writes};
  }
  [[nodiscard]] bool depends_on(const Footprint& other) const {
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t j = 0; j < other.count; ++j) {
        if (touches[i].slot == other.touches[j].slot &&
            (touches[i].writes || other.touches[j].writes)) {
          return true;
        }
      }
    }
    return false;
  }
};

/// What a strategy can see: the next step of every thread.
struct Outlook {
  std::array<Footprint, max_actors> next;  ///< next step of each thread that has not ended
  Actors waiting = 0;                      ///< threads in an await
  Actors alive = 0;                        ///< threads that have not ended
};

class Strategy {
 public:
  static constexpr std::uint32_t nobody = max_actors;

  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  virtual void begin() = 0;
  /// Chooses the next thread from `enabled`. `last` is the thread that ran before, and may be among
  /// them.
  virtual std::uint32_t pick(Actors enabled, std::uint32_t last, const Outlook& outlook) = 0;
  virtual std::uint32_t choose(std::uint32_t options) = 0;
  /// Called when `actor` has taken the step for which it was picked.
  virtual void stepped(std::uint32_t /*actor*/, const Footprint& /*touched*/) {}
  /// Called when `actor` can continue because of an action of `by` that touched no word.
  virtual void woke(std::uint32_t /*actor*/, std::uint32_t /*by*/) {}
  /// Called when the run is over. A thread that is still alive waits for ever.
  virtual void end(const Outlook& /*outlook*/) {}
  /// Whether there is another run to make.
  virtual bool next() = 0;

  [[nodiscard]] virtual std::uint64_t seed() const { return 0; }
  [[nodiscard]] virtual bool redundant() const { return false; }
  /// Whether `stepped` has to be called.
  [[nodiscard]] virtual bool watches() const { return false; }
};

/// The usual choice: the thread that ran before, else the first one.
[[nodiscard]] std::uint32_t usual_pick(Actors enabled, std::uint32_t last);

[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const Options& options);
[[nodiscard]] std::unique_ptr<Strategy> make_follower(std::vector<std::uint8_t> choices);
[[nodiscard]] std::unique_ptr<Strategy> make_reduced_search();

}  // namespace cohort::explore
