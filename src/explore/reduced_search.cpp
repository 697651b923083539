// Exhaustive search with dynamic partial-order reduction: source sets and sleep sets (Abdulla,
// Aronsson, Jonsson and Sagonas, POPL 2014). Of the schedules that differ only in the order of
// independent steps, one is run.
// Invariant: for any two steps of a run that race and could have come in the other order, a run
// with the other order has been or will be made.
//
// Awaits need care, because a waiting thread is enabled only while its condition holds. A step that
// may have made the condition true cannot be swapped with the await, but an earlier step may have
// made it false.
#include <bit>

#include "explore/strategy.hpp"

namespace cohort::explore {
namespace {

class ReducedSearch final : public Strategy {
 public:
  void begin() override {
    at_ = 0;
    events_.clear();
    words_.clear();
    clocks_ = {};
    counts_ = {};
    waits_since_ = {};
    waiting_ = 0;
    redundant_ = false;
    last_pick_ = none;
  }

  std::uint32_t pick(Actors enabled, std::uint32_t last, const Outlook& outlook) override {
    note_waits(outlook);
    if (redundant_) return usual_pick(enabled, last);
    Actors asleep = 0;
    if (last_pick_ != none) {
      const Node& before = path_[last_pick_];
      const Actors still = (before.sleep | before.done) & ~(1U << before.taken);
      for (Actors rest = still; rest != 0; rest &= rest - 1) {
        const auto each = static_cast<std::uint32_t>(std::countr_zero(rest));
        if ((enabled >> each & 1U) == 0) continue;
        const Footprint& its = (waiting_ >> each & 1U) != 0 ? looked_[each] : outlook.next[each];
        if (!its.depends_on(events_.back().touched)) asleep |= 1U << each;
      }
    }
    if (at_ == path_.size()) {
      const Actors open = enabled & ~asleep;
      if (open == 0) {  // every continuation has been tried already
        races_of_waiting(outlook.alive & ~enabled);
        redundant_ = true;
        return usual_pick(enabled, last);
      }
      const std::uint32_t first = usual_pick(open, last);
      path_.push_back({.enabled = enabled,
                       .sleep = asleep,
                       .backtrack = 1U << first,
                       .done = 0,
                       .taken = first,
                       .options = 0});
    }
    last_pick_ = static_cast<std::uint32_t>(at_);
    return path_[at_++].taken;
  }

  std::uint32_t choose(std::uint32_t options) override {
    if (redundant_) return 0;
    if (at_ == path_.size()) {
      path_.push_back(
          {.enabled = 0, .sleep = 0, .backtrack = 0, .done = 0, .taken = 0, .options = options});
    }
    return path_[at_++].taken;
  }

  void stepped(std::uint32_t actor, const Footprint& touches) override {
    if (redundant_) return;
    Footprint touched = touches;
    if ((waiting_ >> actor & 1U) != 0) merge(touched, looked_[actor]);
    Event event{.actor = actor,
                .number = ++counts_[actor],
                .node = last_pick_,
                .touched = touched,
                .clock = clocks_[actor]};
    const bool awaited = (waiting_ >> actor & 1U) != 0;
    if (awaited) {
      races_of_await(actor, touched);
    } else {
      for (std::uint32_t i = 0; i < touched.count; ++i)
        races_of(actor, touched.touches[i], touched);
    }
    waiting_ &= ~(1U << actor);

    for (std::uint32_t i = 0; i < touched.count; ++i) {
      const auto& touch = touched.touches[i];
      Word& word = word_at(touch.slot);
      event.clock.join(word.written);
      if (touch.writes) event.clock.join(word.read);
    }
    event.clock.at[actor] = event.number;
    const auto index = static_cast<std::uint32_t>(events_.size());
    for (std::uint32_t i = 0; i < touched.count; ++i) {
      const auto& touch = touched.touches[i];
      Word& word = word_at(touch.slot);
      if (touch.writes) {
        word.written = event.clock;
        word.writer = index;
        word.read = {};
        word.readers.fill(none);
      } else {
        word.read.join(event.clock);
        word.readers[actor] = index;
      }
    }
    clocks_[actor] = event.clock;
    events_.push_back(event);
  }

  void woke(std::uint32_t actor, std::uint32_t by) override { clocks_[actor].join(clocks_[by]); }

  void end(const Outlook& outlook) override {
    note_waits(outlook);
    if (!redundant_) races_of_waiting(outlook.alive);
  }

  bool next() override {
    while (!path_.empty()) {
      Node& node = path_.back();
      if (node.options != 0) {
        if (node.taken + 1 < node.options) {
          ++node.taken;
          return true;
        }
      } else {
        node.done |= 1U << node.taken;
        const Actors open = node.backtrack & ~node.done & ~node.sleep;
        if (open != 0) {
          node.taken = static_cast<std::uint32_t>(std::countr_zero(open));
          return true;
        }
      }
      path_.pop_back();
    }
    return false;
  }

  [[nodiscard]] bool redundant() const override { return redundant_; }
  [[nodiscard]] bool watches() const override { return true; }

 private:
  static constexpr std::uint32_t none = ~0U;

  /// A choice that was made. `options` is 0 if the choice was among threads.
  struct Node {
    Actors enabled;
    Actors sleep;      // threads whose next steps here would lead to nothing new
    Actors backtrack;  // threads to be tried here
    Actors done;
    std::uint32_t taken;
    std::uint32_t options;
  };

  struct Event {
    std::uint32_t actor;
    std::uint32_t number;  // number of this event among its thread's events
    std::uint32_t node;    // the choice that picked this event
    Footprint touched;
    Clock clock;
  };

  struct Word {
    Clock written;
    Clock read;  // clock of the reads since `written`
    std::uint32_t writer = none;
    std::array<std::uint32_t, max_actors> readers;

    Word() { readers.fill(none); }
  };

  Word& word_at(std::uint32_t slot) {
    if (slot >= words_.size()) words_.resize(slot + 1);
    return words_[slot];
  }

  /// Records since when each waiting thread has been in its await.
  void note_waits(const Outlook& outlook) {
    const auto now = static_cast<std::uint32_t>(events_.size());
    for (Actors fresh = outlook.waiting & ~waiting_; fresh != 0; fresh &= fresh - 1) {
      const auto each = static_cast<std::size_t>(std::countr_zero(fresh));
      waits_since_[each] = now;
      looked_[each].count = 0;
    }
    waiting_ |= outlook.waiting;
    for (Actors rest = outlook.waiting; rest != 0; rest &= rest - 1) {
      const auto each = static_cast<std::size_t>(std::countr_zero(rest));
      merge(looked_[each], outlook.next[each]);
    }
  }

  /// Adds to a footprint. A condition need not read all its words each time, and what it read while
  /// it was false matters too.
  static void merge(Footprint& into, const Footprint& from) {
    for (std::uint32_t i = 0; i < from.count; ++i) {
      into.add(from.touches[i].slot, from.touches[i].writes);
    }
  }

  [[nodiscard]] bool before(const Event& event, const Clock& clock) const {
    return clock.covers(event.actor, event.number);
  }

  /// Handles the races of the step about to be recorded.
  void races_of(std::uint32_t actor, const Footprint::Touch& touch, const Footprint& touched) {
    const Word& word = word_at(touch.slot);
    bool read_since = false;
    if (touch.writes) {
      for (std::uint32_t i = 0; i < max_actors; ++i) {
        if (word.readers[i] == none) continue;
        read_since = true;
        if (i != actor) race(word.readers[i], actor, touched);
      }
    }
    if (!read_since && word.writer != none) race(word.writer, actor, touched);
  }

  void race(std::uint32_t index, std::uint32_t actor, const Footprint& touched) {
    const Event& event = events_[index];
    if (event.actor == actor || before(event, clocks_[actor])) return;
    reverse(index, actor, touched);
  }

  /// Handles the races of an await that is over, or that can never be over. For each word that it
  /// reads, the await might also have come before earlier writes of that word.
  void races_of_await(std::uint32_t actor, const Footprint& touched) {
    for (std::uint32_t i = 0; i < touched.count; ++i) {
      for (auto index = static_cast<std::uint32_t>(events_.size()); index-- > 0;) {
        const Event& event = events_[index];
        if (event.actor == actor || !writes(event, touched.touches[i].slot)) continue;
        if (before(event, clocks_[actor])) break;
        const bool stood_there = waits_since_[actor] <= index;
        const bool could = (path_[event.node].enabled >> actor & 1U) != 0;
        reverse(index, actor, touched, stood_there && !could);
        // Only then could the await have continued at that point.
        if (stood_there && could) break;
      }
    }
  }

  /// Handles the races of threads that wait, at this point or for ever. Such a thread might have
  /// continued if it had checked its condition before another thread's step.
  void races_of_waiting(Actors who) {
    for (Actors rest = waiting_ & who; rest != 0; rest &= rest - 1) {
      const auto each = static_cast<std::uint32_t>(std::countr_zero(rest));
      races_of_await(each, looked_[each]);
    }
  }

  static bool writes(const Event& event, std::uint32_t slot) {
    for (std::uint32_t i = 0; i < event.touched.count; ++i) {
      if (event.touched.touches[i].slot == slot) return event.touched.touches[i].writes;
    }
    return false;
  }

  /// Ensures a run in which the pending step of `actor` comes before event `index`. For this, a
  /// thread that can begin a sequence leading there must be tried. `stuck`: `actor` waited in vain
  /// at that point, so another step has to come first.
  void reverse(std::uint32_t index, std::uint32_t actor, const Footprint& touched,
               bool stuck = false) {
    const Event& event = events_[index];
    Node& node = path_[event.node];
    Actors initials = 0;
    Actors seen = 0;
    const auto count = static_cast<std::uint32_t>(events_.size());
    later_.clear();
    for (std::uint32_t i = index + 1; i < count; ++i) {
      const Event& other = events_[i];
      if (before(event, other.clock)) continue;
      if ((seen >> other.actor & 1U) == 0) {
        seen |= 1U << other.actor;
        bool first = true;
        for (const std::uint32_t j : later_) first = first && !before(events_[j], other.clock);
        if (first) initials |= 1U << other.actor;
      }
      later_.push_back(i);
    }
    if (stuck) {
      bool helped = false;
      for (const std::uint32_t j : later_) {
        helped = helped || events_[j].touched.depends_on(touched);
      }
      if (!helped) return;
    } else if ((seen >> actor & 1U) == 0) {
      bool first = true;
      for (const std::uint32_t j : later_) {
        first =
            first && !before(events_[j], clocks_[actor]) && !events_[j].touched.depends_on(touched);
      }
      if (first) initials |= 1U << actor;
    }
    if ((initials & (node.backtrack | node.sleep)) != 0) return;
    const Actors possible = initials & node.enabled;
    if (possible == 0) return;
    node.backtrack |= (possible >> actor & 1U) != 0 ? 1U << actor : possible & (~possible + 1U);
  }

  std::vector<Node> path_;
  std::size_t at_ = 0;
  std::uint32_t last_pick_ = none;
  bool redundant_ = false;

  std::vector<Event> events_;
  std::vector<Word> words_;
  std::array<Clock, max_actors> clocks_{};
  std::array<std::uint32_t, max_actors> counts_{};
  std::array<std::uint32_t, max_actors> waits_since_{};
  std::array<Footprint, max_actors> looked_{};
  Actors waiting_ = 0;
  std::vector<std::uint32_t> later_;
};

}  // namespace

std::unique_ptr<Strategy> make_reduced_search() { return std::make_unique<ReducedSearch>(); }

}  // namespace cohort::explore
