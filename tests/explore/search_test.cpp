// Tests of the searches themselves. On small random programs of atomic words, partial-order
// reduction must not lose an outcome. A stored failing schedule must fail again when replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "cohort/explore/world.hpp"
#include "conformance/scale.hpp"
#include "explore/soak.hpp"

namespace cohort::explore {
namespace {

/// One instruction of a program.
struct Instruction {
  enum Kind { load, store, add, swap, await, await_both, timed } kind;
  std::uint32_t word;
  std::uint32_t value;
};

/// A program of three threads over three words. Its outcome is the list of values read.
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
  for (std::uint32_t seed = 300; seed < 300 + test::scaled(120, 10); ++seed) {
    const Found expected = search(seed, {.search = Search::exhaustive, .preemptions = 1000});
    const Found found = search(seed, {.search = Search::exhaustive});
    ASSERT_EQ(found.outcomes, expected.outcomes) << "program " << seed;
    all += expected.runs;
    reduced += found.runs;
  }
  EXPECT_LT(reduced * 3, all);
}

/// Passes a message with relaxed accesses. A third thread's addition continues the release sequence
/// of the flag.
struct Message {
  bool fence_before_write;
  bool fence_after_read;
  bool plain_store_between;  // replaces the addition, and ends the release sequence
  Atomic<std::uint32_t> data{0};
  Atomic<std::uint32_t> flag{0};
  bool old_seen = false;

  void write() {
    data.store(1, Order::relaxed);
    if (fence_before_write) FencedPlatform::fence();
    flag.store(1, Order::relaxed);
  }
  void pass_on() {
    if (flag.load(Order::relaxed) != 1) return;
    if (plain_store_between) {
      flag.store(2, Order::relaxed);
    } else {
      flag.fetch_add(1, Order::relaxed);
    }
  }
  void read() {
    const bool there = flag.load(Order::relaxed) == 2;
    if (fence_after_read) FencedPlatform::fence();
    old_seen = there && data.load(Order::relaxed) == 0;
  }
};

/// Whether some schedule reads the new flag and then an old message.
bool can_be_old(bool fence_before_write, bool fence_after_read, bool plain_store_between = false) {
  World world{{.search = Search::exhaustive, .preemptions = 20, .weak_memory = true}};
  do {
    Message message{fence_before_write, fence_after_read, plain_store_between};
    world.begin();
    const auto spawn = [&](std::uint32_t i, void (*body)(void*)) {
      world.spawn(i, "thread", body, &message);
    };
    spawn(0, [](void* its) { static_cast<Message*>(its)->write(); });
    spawn(1, [](void* its) { static_cast<Message*>(its)->pass_on(); });
    spawn(2, [](void* its) { static_cast<Message*>(its)->read(); });
    world.go();
    if (message.old_seen) return true;
  } while (world.next());
  return false;
}

TEST(Fences, OrderWhatIsRelaxedAroundThem) {
  EXPECT_FALSE(can_be_old(true, true));
  EXPECT_TRUE(can_be_old(false, true));
  EXPECT_TRUE(can_be_old(true, false));
  EXPECT_TRUE(can_be_old(true, true, true)) << "a plain store carries nothing on";
}

/// A kernel that reads before the barrier that should order the read.
struct Hasty : test::Scene {
  template <class Group>
  void run(Group& group, State /*state*/) const {
    witness.write(group, 0);
    if (group.group_id() == 1) witness.see(group, 0, 0);
    group.global_barrier();
  }
};

TEST(Soak, StoresWhatFailsAndReplaysIt) {
  const std::vector<test::Scenario> all{
      {"hasty", 2, 2, 1, 1, &test::nothing, &test::explore_kernel<Hasty>},
      {"barrier", 2, 2, 1, 1, &test::nothing, &test::explore_kernel<test::Barriers<test::here>>}};
  const std::filesystem::path folder =
      std::filesystem::path{testing::TempDir()} / ("soak" + std::to_string(::getpid()));
  std::ostringstream said;
  EXPECT_GT(test::soak(all, 0.2, folder, said), 0U);
  EXPECT_THAT(said.str(), testing::HasSubstr("hasty: "));
  EXPECT_THAT(said.str(), testing::Not(testing::HasSubstr("barrier: ")));
  ASSERT_TRUE(std::filesystem::exists(folder));
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    const Result again = test::replay(all, file.path());
    EXPECT_FALSE(again.ok) << file.path();
    std::stringstream stored;
    stored << std::ifstream{file.path()}.rdbuf();
    EXPECT_THAT(stored.str(), testing::HasSubstr(again.failure));
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cohort::explore
