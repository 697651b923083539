// Jobs on several ranks of one process: each rank is a thread with an engine of its own.
#include "explore/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "apps/ranks/run.hpp"
#include "cohort/cpu.hpp"
#include "conformance/scale.hpp"
#include "graph/random.hpp"

namespace cohort::test {
namespace {

namespace fs = std::filesystem;
using cpu::Platform;
using Hub = protocol::Hub<Platform>;
using Network = protocol::HubNetwork<Platform>;

/// Runs `body` on each rank, including ranks that join, until the job has ended. `body` returns
/// whether this rank has left a job that continues.
void on_ranks(std::uint32_t ranks, std::uint32_t seats,
              const std::function<bool(Network&, std::uint32_t seat)>& body) {
  Hub hub{seats, ranks};
  const auto live = [&](std::uint32_t seat) {
    if (seat >= ranks && !hub.await_call(seat)) return;
    for (;;) {
      Network network{hub, seat};
      if (!body(network, seat)) break;
      if (!hub.await_call(seat)) return;
    }
    hub.close();
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t seat = 0; seat < seats; ++seat) threads.emplace_back(live, seat);
}

TEST(Ranks, KeepEveryShardAndMessageThroughAThousandResizes) {
  constexpr std::uint32_t seats = 5;
  constexpr std::uint32_t shards = 24;
  const auto turns = static_cast<std::uint32_t>(scaled(4000, 200));
  ShardRules rules{shards, [](const std::string& why) { ADD_FAILURE() << why; }};
  std::vector<RankRequests> requests(seats);
  std::map<std::uint32_t, std::uint64_t> results;
  std::atomic<std::uint32_t> resizes{0};
  std::mutex mutex;
  on_ranks(2, seats, [&](Network& network, std::uint32_t seat) {
    MixWork work{rules, seat, turns};
    Random dice{seat};
    std::uint32_t ranks = network.ranks();
    if (network.joined()) ++resizes;
    // Rank 0 sometimes asks for another size; other ranks sometimes leave.
    work.die = [&] {
      if (network.rank() == 0) {
        resizes += network.ranks() != ranks ? 1 : 0;
        ranks = network.ranks();
        if (dice.below(2) == 0) requests[seat].resize(1 + dice.below(seats));
      }
    };
    RankRequests mine;
    RankRequests& asked = network.rank() == 0 ? requests[seat] : mine;
    if (network.joined() && dice.below(3) == 0) asked.leave();
    protocol::Rank<Platform, Network, MixWork, MemoryStore> rank{network, work, asked, nullptr,
                                                                 shards};
    if (!network.joined()) {
      for (std::uint32_t shard = 0; shard < shards; ++shard) {
        if (rank.has(shard)) work.make(shard);
      }
    }
    const RankEnd end = rank.run();
    if (end == RankEnd::left) return true;
    EXPECT_EQ(end, RankEnd::finished);
    const std::lock_guard lock{mutex};
    results.insert(work.values().begin(), work.values().end());
    return false;
  });
  const auto expected = mixed_alone(shards, turns);
  for (std::uint32_t shard = 0; shard < shards; ++shard) EXPECT_EQ(results[shard], expected[shard]);
  EXPECT_GE(resizes, turns / 4);
}

using apps::RankedOutcome;
using apps::RankedRun;

/// The outcome on the first rank.
RankedOutcome run_app(std::uint32_t ranks, std::uint32_t groups, const RankedRun& run) {
  RankedOutcome outcome;
  on_ranks(ranks, ranks, [&](Network& network, std::uint32_t /*seat*/) {
    cpu::Engine engine{{.capacity = groups}};
    const RankedOutcome its = apps::run_on_ranks(network, engine, run);
    if (network.rank() == 0) outcome = its;
    return false;
  });
  return outcome;
}

struct Case {
  const char* app;
  const char* input;
};

class RankedApps : public testing::TestWithParam<Case> {};

TEST_P(RankedApps, AgreeWithTheSequentialResultOnAnyNumberOfRanks) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U}) {
    const RankedOutcome outcome = run_app(ranks, 1 + ranks % 2,
                                          {.app = GetParam().app,
                                           .input = GetParam().input,
                                           .options = {.shards = 24},
                                           .verify = true});
    EXPECT_EQ(outcome.report.end, RankEnd::finished);
    EXPECT_EQ(outcome.verified, true) << ranks << " ranks: " << outcome.difference;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RankedApps,
    testing::Values(Case{"bfs", "grid:70x50"}, Case{"bfs", "rmat:11"}, Case{"bfs", "road:3000"},
                    Case{"bfs", "star:500"}, Case{"bfs", "path:9"}, Case{"cc", "grid:70x50"},
                    Case{"cc", "rmat:11"}, Case{"cc", "empty:10"}, Case{"cc", "road:3000"},
                    Case{"l-sssp", "rmat:10"}, Case{"l-sssp", "road:3000"},
                    Case{"l-sssp", "grid:40x40"}, Case{"pagerank", "rmat:10"},
                    Case{"pagerank", "grid:40x40"}, Case{"pagerank", "star:500"}),
    [](const auto& each) {
      std::string name = std::string{each.param.app} + "_" + each.param.input;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

/// An empty folder for this test.
fs::path fresh_folder() {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  fs::path folder = fs::path{testing::TempDir()} / (std::to_string(::getpid()) + test->name());
  fs::remove_all(folder);
  return folder;
}

TEST(Ranks, ASuspendedJobGoesOnOnAnotherNumberOfRanks) {
  for (const char* app : {"bfs", "l-sssp", "pagerank"}) {
    const fs::path folder = fresh_folder();
    RankedRun run;
    run.app = app;
    run.input = "grid:20x20";
    run.options.shards = 8;
    run.options.checkpoint = folder;
    run.verify = true;
    // Each start advances the job by one superstep.
    run.control = [](RankRequests* requests) {
      if (requests != nullptr) requests->suspend();
    };
    std::uint32_t suspended = 0;
    RankedOutcome outcome;
    for (std::uint32_t start = 0; start < 200; ++start) {
      outcome = run_app(1 + start % 4, 1, run);
      if (outcome.report.end == RankEnd::finished) break;
      ASSERT_EQ(outcome.report.end, RankEnd::suspended);
      ASSERT_TRUE(fs::exists(folder / "manifest"));
      ++suspended;
    }
    EXPECT_GE(suspended, 5U) << app;
    EXPECT_EQ(outcome.verified, true) << app << ": " << outcome.difference;
    EXPECT_TRUE(fs::is_empty(folder)) << "a finished job leaves no checkpoint";
    fs::remove_all(folder);
  }
}

TEST(Ranks, AJobGrowsAndShrinksWhileItRuns) {
  for (const char* app :
       {"bfs", "l-sssp", "pagerank"}) {  // cc needs only one superstep on one rank
    constexpr std::uint32_t seats = 4;
    RankedOutcome outcome;
    std::atomic<std::uint32_t> joined{0};
    std::atomic<std::uint32_t> left{0};
    on_ranks(1, seats, [&](Network& network, std::uint32_t seat) {
      cpu::Engine engine{{.capacity = 1}};
      std::jthread scheduler;
      RankedRun run{.app = app, .input = "road:4000", .options = {.shards = 12}, .verify = true};
      run.control = [&](RankRequests* requests) {
        scheduler = {};  // no request after the end
        if (requests == nullptr) return;
        if (seat == 0) requests->resize(3);
        if (seat == 1) requests->leave();
        if (seat != 0) return;
        scheduler = std::jthread{[requests](const std::stop_token& stop) {
          for (std::uint32_t i = 0; !stop.stop_requested(); ++i) {
            requests->resize(1 + i % seats);
            std::this_thread::yield();
          }
        }};
      };
      if (network.joined()) ++joined;
      const RankedOutcome its = apps::run_on_ranks(network, engine, run);
      if (its.report.end == RankEnd::left) {
        ++left;
        return true;
      }
      if (seat == 0) outcome = its;
      return false;
    });
    EXPECT_EQ(outcome.verified, true) << app << ": " << outcome.difference;
    EXPECT_GE(joined, 2U) << app;
    EXPECT_GE(left, 1U) << app;
  }
}

TEST(ShardFiles, AreRefusedWhenDamagedOrOfAnotherJob) {
  const fs::path folder = fresh_folder();
  const ShardFiles files{folder, "one job"};
  EXPECT_FALSE(files.published());
  files.write(3, 7, Bytes(100, std::byte{5}));
  files.publish({.superstep = 3, .shards = 8, .state = Bytes(4)});
  EXPECT_EQ(files.read(3, 7), Bytes(100, std::byte{5}));
  EXPECT_EQ(files.published()->shards, 8U);

  const auto code_of = [](const auto& call) {
    try {
      call();
      return std::string{"nothing"};
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file);
      return std::string{error.what()};
    }
  };
  using testing::HasSubstr;
  EXPECT_THAT(code_of([&] { (void)ShardFiles(folder, "another").read(3, 7); }),
              HasSubstr("of the job 'one job', not 'another'"));
  EXPECT_THAT(code_of([&] { (void)files.read(4, 7); }), HasSubstr("cannot be opened"));
  fs::resize_file(folder / "shard-3.7", 60);
  EXPECT_THAT(code_of([&] { (void)files.read(3, 7); }), HasSubstr("damaged: wrong checksum"));
  files.prune(4);
  EXPECT_FALSE(fs::exists(folder / "shard-3.7"));
  files.clear();
  EXPECT_FALSE(files.published());
  fs::remove_all(folder);
}

/// Fails on the rank that has the last shard.
struct Failing {
  struct Part {
    std::uint32_t number = 0;
    template <class Visit>
    void fields(Visit& visit) {
      visit(number);
    }
  };
  using Message = std::uint32_t;
  Shards<Part> parts = {};
  Inbox<Message> in = {};
  Outbox<Message> out = {};

  template <class Group>
  Next step(Group& /*group*/, Nothing& /*state*/) const {
    if (parts.here(parts.count() - 1)) throw std::runtime_error{"the last shard is bad"};
    return Next::exchange;
  }
};

TEST(Ranks, AFailureOnOneRankEndsTheJobOnAll) {
  std::mutex mutex;
  std::multiset<std::string> errors;
  on_ranks(3, 3, [&](Network& network, std::uint32_t /*seat*/) {
    cpu::Engine engine{{.capacity = 1}};
    RankJob<Network, cpu::Engine, Failing> job{network, engine, Failing{}, {.shards = 3}};
    try {
      job.run([](const protocol::Owners&) { return std::vector<Failing::Part>(1); });
    } catch (const std::exception& error) {
      const std::lock_guard lock{mutex};
      errors.insert(error.what());
    }
    return false;
  });
  EXPECT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors.count("the last shard is bad"), 1U);
  EXPECT_EQ(errors.count("another rank has failed; its message says why"), 2U);
}

TEST(Ranks, RefuseWhatCannotRun) {
  Hub hub{1, 1};
  Network network{hub, 0};
  cpu::Engine engine{{.capacity = 1}};
  const auto says = [&](RankedRun run) -> std::string {
    try {
      apps::run_on_ranks(network, engine, std::move(run));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  using testing::HasSubstr;
  EXPECT_THAT(says({.app = "mis", .input = "grid:3x3"}),
              HasSubstr("use bfs, cc, l-sssp and pagerank"));
  EXPECT_THAT(says({.app = "bfs", .input = "grid:3x3", .options = {.shards = 0}}),
              HasSubstr("shards = 0"));
  EXPECT_THAT(says({.app = "bfs", .input = "grid:3x3", .settings = apps::Settings{{"source=9"}}}),
              HasSubstr("no node 9"));
  EXPECT_THAT(says({.app = "cc", .input = "grid:3x3", .settings = apps::Settings{{"delta=9"}}}),
              HasSubstr("delta"));
  EXPECT_THAT(
      says({.app = "cc", .input = "grid:3x3", .options = {.every = std::chrono::seconds{1}}}),
      HasSubstr("checkpoint"));
}

}  // namespace
}  // namespace cohort::test
