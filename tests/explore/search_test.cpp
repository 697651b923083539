// The searches themselves, on small random programs of atomic words: reduction must not lose an
// outcome, and what is found must be found again.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>

#include "cohort/explore/world.hpp"

namespace cohort::explore {
namespace {

/// One instruction of a program.
struct Instruction {
  enum Kind { load, store, add, swap, await, await_both, timed } kind;
  std::uint32_t word;
  std::uint32_t value;
};

/// Three threads over three words. What each has read is the outcome.
class Program {
 public:
  static constexpr std::uint32_t threads = 3;

  explicit Program(std::uint32_t seed) {
    std::minstd_rand engine{seed + 1};
    const auto dice = [&engine] { return static_cast<std::uint32_t>(engine() >> 8U); };
    for (auto& thread : code_) {
      const std::uint32_t length = 1 + dice() % 4;
      for (std::uint32_t i = 0; i < length; ++i) {
        thread.push_back({static_cast<Instruction::Kind>(dice() % 7), dice() % 3, dice() % 3});
      }
    }
  }

  struct Thread {
    Program* program;
    std::uint32_t index;
  };

  std::string run(World& world) {
    world.begin();
    for (auto& word : words_) word.reset(0);
    seen_.fill({});
    for (std::uint32_t i = 0; i < threads; ++i) {
      self_[i] = {this, i};
      world.spawn(
          i, "thread",
          [](void* thread) {
            static_cast<Thread*>(thread)->program->execute(static_cast<Thread*>(thread)->index);
          },
          &self_[i]);
    }
    world.go();
    std::string outcome;
    for (const auto& seen : seen_) outcome += seen + "|";
    for (const auto& word : words_) outcome += std::to_string(word.peek()) + " ";
    return outcome;
  }

 private:
  void execute(std::uint32_t index) {
    std::string& seen = seen_[index];
    for (const Instruction& each : code_[index]) {
      Atomic<std::uint32_t>& word = words_[each.word];
      Atomic<std::uint32_t>& other = words_[(each.word + 1) % 3];
      switch (each.kind) {
        case Instruction::load: seen += std::to_string(word.load(Order::acquire)); break;
        case Instruction::store: word.store(each.value, Order::release); break;
        case Instruction::add: seen += std::to_string(word.fetch_add(1, Order::acq_rel)); break;
        case Instruction::swap: {
          std::uint32_t expected = each.value;
          seen += word.compare_exchange(expected, 2 - each.value, Order::acq_rel) ? "y" : "n";
          break;
        }
        case Instruction::await:
          Platform::await(event_, [&] { return word.load(Order::acquire) == each.value; });
          seen += "w";
          break;
        case Instruction::await_both:
          Platform::await(event_, [&] {
            return word.load(Order::acquire) == each.value || other.load(Order::acquire) == 2;
          });
          seen += std::to_string(word.peek());
          break;
        case Instruction::timed:
          seen += Platform::await_for(event_, 1,
                                      [&] { return word.load(Order::acquire) == each.value; })
                      ? "t"
                      : "f";
          break;
      }
    }
    seen += ".";
  }

  std::array<std::vector<Instruction>, threads> code_;
  std::array<Atomic<std::uint32_t>, 3> words_{};
  std::array<std::string, threads> seen_;
  std::array<Thread, threads> self_{};
  Event event_;
};

struct Found {
  std::set<std::string> outcomes;
  std::uint64_t runs = 0;
};

Found search(std::uint32_t program_seed, const Options& options) {
  Found found;
  Program program{program_seed};
  World world{options};
  do {
    const std::string outcome = program.run(world);
    if (!world.redundant()) found.outcomes.insert(outcome);
  } while (++found.runs < 2000000 && world.next());
  return found;
}

TEST(ReducedSearch, FindsEveryOutcomeThatThereIs) {
  std::uint64_t all = 0;
  std::uint64_t reduced = 0;
  for (std::uint32_t seed = 300; seed < 420; ++seed) {
    const Found expected = search(seed, {.search = Search::exhaustive, .preemptions = 1000});
    const Found found = search(seed, {.search = Search::exhaustive});
    ASSERT_EQ(found.outcomes, expected.outcomes) << "program " << seed;
    all += expected.runs;
    reduced += found.runs;
  }
  EXPECT_LT(reduced * 3, all);
}

}  // namespace
}  // namespace cohort::explore
