// Search strategies: random walks, PCT, depth-first search with bounded preemptions, and following
// a given list of choices.
#include <algorithm>
#include <bit>
#include <random>

#include "cohort/explore/world.hpp"
#include "explore/strategy.hpp"

namespace cohort::explore {

std::uint32_t usual_pick(Actors enabled, std::uint32_t last) {
  if (last < max_actors && (enabled >> last & 1U) != 0) return last;
  return static_cast<std::uint32_t>(std::countr_zero(enabled));
}

namespace {

/// A random number generator. It is small and fast, because a run makes thousands of choices.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) { roll(); }

  std::uint64_t roll() {  // splitmix64: Steele, Lea and Flood, OOPSLA 2014
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((roll() >> 32U) * bound >> 32U);
  }

 private:
  std::uint64_t state_;
};

std::uint32_t nth(Actors set, std::uint32_t n) {
  while (n-- > 0) set &= set - 1;
  return static_cast<std::uint32_t>(std::countr_zero(set));
}

/// Chooses the next thread at random. The probability of a switch differs from run to run, because
/// some bugs need many switches and others few.
class RandomWalk final : public Strategy {
 public:
  explicit RandomWalk(std::uint64_t seed) : seed_(seed) {}

  void begin() override {
    dice_ = Dice{seed_};
    stay_ = std::array{0U, 1U, 3U, 8U}[dice_.below(4)];
  }
  std::uint32_t pick(Actors enabled, std::uint32_t last, const Outlook& /*outlook*/) override {
    if (last < max_actors && (enabled >> last & 1U) != 0 && dice_.below(stay_ + 1) != 0) {
      return last;
    }
    return nth(enabled, dice_.below(static_cast<std::uint32_t>(std::popcount(enabled))));
  }
  std::uint32_t choose(std::uint32_t options) override { return dice_.below(options); }
  bool next() override {
    ++seed_;
    return true;
  }
  [[nodiscard]] std::uint64_t seed() const override { return seed_; }

 private:
  std::uint64_t seed_;
  Dice dice_{0};
  std::uint32_t stay_ = 0;
};

class Pct final : public Strategy {
 public:
  Pct(std::uint64_t seed, std::uint32_t depth) : seed_(seed), depth_(std::max(depth, 1U)) {}

  void begin() override {
    dice_ = Dice{seed_};
    for (std::uint32_t i = 0; i < max_actors; ++i) {
      priority_[i] = depth_ + i;
      std::swap(priority_[i], priority_[dice_.below(i + 1)]);
    }
    changes_.clear();
    for (std::uint32_t i = 1; i < depth_; ++i) changes_.push_back(dice_.below(length_) + 1);
    length_so_far_ = 0;
  }
  std::uint32_t pick(Actors enabled, std::uint32_t last, const Outlook& /*outlook*/) override {
    ++length_so_far_;
    for (std::uint32_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i] == length_so_far_ && last < max_actors) priority_[last] = i;
    }
    std::uint32_t best = nth(enabled, 0);
    for (Actors rest = enabled; rest != 0; rest &= rest - 1) {
      const auto each = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (priority_[each] > priority_[best]) best = each;
    }
    // Lower the priority from time to time: otherwise a thread for which a spinning thread waits
    // might never run.
    if (length_so_far_ % 1024 == 0) priority_[best] = 0;
    return best;
  }
  std::uint32_t choose(std::uint32_t options) override { return dice_.below(options); }
  bool next() override {
    length_ = std::clamp(std::max(length_, length_so_far_), 1U, 4096U);
    ++seed_;
    return true;
  }
  [[nodiscard]] std::uint64_t seed() const override { return seed_; }

 private:
  std::uint64_t seed_;
  std::uint32_t depth_;
  Dice dice_{0};
  std::array<std::uint32_t, max_actors> priority_{};
  std::vector<std::uint32_t> changes_;
  std::uint32_t length_ = 128;
  std::uint32_t length_so_far_ = 0;
};

/// All schedules that interrupt a thread at most `preemptions` times (Musuvathi and Qadeer, PLDI
/// 2007).
class BoundedSearch final : public Strategy {
 public:
  explicit BoundedSearch(std::uint32_t preemptions) : preemptions_(preemptions) {}

  void begin() override {
    at_ = 0;
    spent_ = 0;
  }
  std::uint32_t pick(Actors enabled, std::uint32_t last, const Outlook& /*outlook*/) override {
    const bool goes_on = last < max_actors && (enabled >> last & 1U) != 0;
    if (at_ == path_.size()) {
      const std::uint32_t first = usual_pick(enabled, last);
      Actors left = enabled & ~(1U << first);
      if (goes_on && spent_ == preemptions_) left = 0;
      path_.push_back({.left = left, .taken = first});
    }
    const std::uint32_t picked = path_[at_++].taken;
    if (goes_on && picked != last) ++spent_;
    return picked;
  }
  std::uint32_t choose(std::uint32_t options) override {
    if (at_ == path_.size()) path_.push_back({.left = ((1U << options) - 1U) & ~1U, .taken = 0});
    return path_[at_++].taken;
  }
  bool next() override {
    while (!path_.empty() && path_.back().left == 0) path_.pop_back();
    if (path_.empty()) return false;
    Branch& branch = path_.back();
    branch.taken = nth(branch.left, 0);
    branch.left &= branch.left - 1;
    return true;
  }

 private:
  struct Branch {
    std::uint32_t left;  // choices not yet taken
    std::uint32_t taken;
  };
  std::uint32_t preemptions_;
  std::uint32_t spent_ = 0;
  std::size_t at_ = 0;
  std::vector<Branch> path_;
};

/// Follows a list of choices. Makes the usual choice if the listed one is impossible, or if the
/// list has ended.
class Follower final : public Strategy {
 public:
  explicit Follower(std::vector<std::uint8_t> choices) : choices_(std::move(choices)) {}

  void begin() override { at_ = 0; }
  std::uint32_t pick(Actors enabled, std::uint32_t last, const Outlook& /*outlook*/) override {
    // A choice among one thread is not in the list.
    if (std::popcount(enabled) == 1) return nth(enabled, 0);
    const std::uint8_t wish = at_ < choices_.size() ? choices_[at_] : World::usual;
    ++at_;
    if (wish < max_actors && (enabled >> wish & 1U) != 0) return wish;
    return usual_pick(enabled, last);
  }
  std::uint32_t choose(std::uint32_t options) override {
    const std::uint8_t wish = at_ < choices_.size() ? choices_[at_] : World::usual;
    ++at_;
    return wish < options ? wish : 0;
  }
  bool next() override { return false; }

 private:
  std::vector<std::uint8_t> choices_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_strategy(const Options& options) {
  switch (options.search) {
    case Search::random: break;
    case Search::pct: return std::make_unique<Pct>(options.seed, options.depth);
    case Search::exhaustive:
      if (options.preemptions) return std::make_unique<BoundedSearch>(*options.preemptions);
      return make_reduced_search();
  }
  return std::make_unique<RandomWalk>(options.seed);
}

std::unique_ptr<Strategy> make_follower(std::vector<std::uint8_t> choices) {
  return std::make_unique<Follower>(std::move(choices));
}

}  // namespace cohort::explore
