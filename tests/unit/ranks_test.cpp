// Jobs on several ranks of one process: each rank is a thread with an engine of its own.
#include "explore/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
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

/// A network that inspects the parcels that a rank sends.
class ReadNetwork {
 public:
  explicit ReadNetwork(Network& network) : network_(network) {}

  [[nodiscard]] std::uint32_t rank() const { return network_.rank(); }
  [[nodiscard]] std::uint32_t ranks() const { return network_.ranks(); }
  [[nodiscard]] bool joined() const { return network_.joined(); }
  protocol::Ballot vote(const protocol::Ballot& mine) { return network_.vote(mine); }
  template <protocol::TakesParcel Arrival>
  void exchange(std::vector<Bytes> parcels, Arrival&& arrival) {
    for (std::uint32_t to = 0; to < parcels.size(); ++to) {
      if (to != rank()) read(parcels[to]);
    }
    network_.exchange(std::move(parcels), std::forward<Arrival>(arrival));
  }
  std::uint32_t grow(std::uint32_t more) { return network_.grow(more); }
  void shrink(const std::vector<std::uint8_t>& stays) { network_.shrink(stays); }

  std::function<void(const Bytes& parcel)> read = [](const Bytes&) {};

 private:
  Network& network_;
};

constexpr std::uint8_t messages = 2;  // kinds of items
constexpr std::uint8_t messages_to_all = 3;

/// The items of a parcel of the outer protocol, as bytes.
void for_items(const Bytes& parcel, const std::function<void(std::uint8_t, const Bytes&)>& see) {
  for (ParcelReader reader{parcel}; !reader.done();) {
    const auto item = reader.value<std::uint8_t>();
    if (item != messages_to_all) (void)reader.value<std::uint32_t>();  // skips the shard's number
    see(item, reader.list<std::byte>());
  }
}

/// Runs an app. Returns the outcome on the first rank. Checks that no parcel has two messages for
/// one node.
RankedOutcome run_app(std::uint32_t ranks, std::uint32_t groups, const RankedRun& run) {
  RankedOutcome outcome;
  on_ranks(ranks, ranks, [&](Network& network, std::uint32_t /*seat*/) {
    cpu::Engine engine{{.capacity = groups}};
    ReadNetwork reads{network};
    RankedRun mine = run;
    const std::size_t size = run.app == "pagerank" ? sizeof(apps::RankedPages::Message)
                             : run.app == "l-sssp" ? sizeof(apps::Relax<apps::PathRule>::Message)
                                                   : sizeof(std::uint64_t);
    mine.made = [&] {
      reads.read = [&](const Bytes& parcel) {
        std::set<std::uint64_t> nodes;
        for_items(parcel, [&](std::uint8_t item, const Bytes& bytes) {
          if (item != messages) return;
          for (std::size_t at = 0; at < bytes.size(); at += size) {
            std::uint64_t node = 0;  // for bfs: a word of the bitmap, and the bit of one node in it
            std::memcpy(&node, bytes.data() + at, run.app == "bfs" ? 8 : 4);
            EXPECT_TRUE(nodes.insert(node).second) << "two messages for a node of another rank";
          }
        });
      };
    };
    mine.control = [&](RankRequests* requests) {
      if (requests == nullptr) reads.read = [](const Bytes&) {};
      run.control(requests);
    };
    const RankedOutcome its = apps::run_on_ranks(reads, engine, mine);
    if (network.rank() == 0) outcome = its;
    return false;
  });
  return outcome;
}

TEST(Ranks, ResizesMoveHardlyMoreBytesThanTheShardsThatMustMove) {
  constexpr std::uint32_t shards = 24;
  constexpr std::size_t shard_size = 4096;
  /// Work whose shards have a given size, and which sends no messages. Rank 0 requests one number
  /// of ranks after another.
  class Blocks : public MixWork {
   public:
    using MixWork::MixWork;
    static bool sends() { return false; }
    static Bytes messages(std::uint32_t /*shard*/) { return {}; }
    static Bytes messages_to_all() { return {}; }
    void compute(Ballot& ballot) {
      die();
      ballot.more = ++turn_ < 6 ? 1 : 0;
    }
    static Bytes pack(std::uint32_t /*shard*/) { return Bytes(shard_size); }
    void unpack(std::uint32_t shard, const Bytes& /*bytes*/) { make(shard); }
    Bytes state() const { return Bytes(1, std::byte{turn_}); }
    void set_state(const Bytes& bytes) { turn_ = std::to_integer<std::uint8_t>(bytes[0]); }

   private:
    std::uint8_t turn_ = 0;
  };
  ShardRules rules{shards, [](const std::string& why) { ADD_FAILURE() << why; }};
  std::atomic<std::size_t> bytes{0};
  on_ranks(1, 3, [&](Network& network, std::uint32_t seat) {
    ReadNetwork reads{network};
    reads.read = [&](const Bytes& parcel) { bytes += parcel.size(); };
    Blocks work{rules, seat, 6};
    RankRequests requests;
    std::uint32_t turn = 0;
    work.die = [&] {
      constexpr std::array<std::uint32_t, 6> wanted{2, 3, 2, 1, 1, 1};
      if (network.rank() == 0) requests.resize(wanted.at(turn++));
    };
    protocol::Rank<Platform, ReadNetwork, Blocks, MemoryStore> rank{reads, work, requests, nullptr,
                                                                    shards};
    if (!network.joined()) {
      for (std::uint32_t shard = 0; shard < shards; ++shard) work.make(shard);
    }
    return rank.run() == RankEnd::left;
  });
  // The moved shards: 12 from 1 to 2 ranks, 8 to the third rank, 8 back from the third, 12 back to
  // rank 0.
  constexpr std::size_t least = (12 + 8 + 8 + 12) * shard_size;
  EXPECT_EQ(rules.moves(), 40U);
  EXPECT_GE(bytes, least);
  EXPECT_LE(static_cast<double>(bytes), 1.1 * least);
}

TEST(Ranks, DifferentCommandsAreRefusedOnAllRanks) {
  std::atomic<std::uint32_t> refused{0};
  on_ranks(3, 3, [&](Network& network, std::uint32_t seat) {
    cpu::Engine engine{{.capacity = 1}};
    ReadNetwork reads{network};
    try {
      apps::run_on_ranks(reads, engine, {.app = seat == 2 ? "cc" : "bfs", .input = "grid:3x3"});
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("different commands"));
      ++refused;
    }
    return false;
  });
  EXPECT_EQ(refused, 3U);
}

TEST(Ranks, AFileThatOneRankCannotReadEndsTheJobOnAll) {
  std::mutex mutex;
  std::multiset<std::string> errors;
  on_ranks(3, 3, [&](Network& network, std::uint32_t /*seat*/) {
    cpu::Engine engine{{.capacity = 1}};
    ReadNetwork reads{network};
    try {
      apps::run_on_ranks(reads, engine, {.app = "bfs", .input = "/nowhere.mtx"});
    } catch (const Error& error) {
      const std::lock_guard lock{mutex};
      errors.insert(error.what());
    }
    return false;
  });
  EXPECT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors.count("another rank has failed; its message says why"), 2U);
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

TEST(Ranks, AgreeOnGraphsWhoseEdgesGoOneWay) {
  const fs::path folder = fresh_folder();
  fs::create_directories(folder);
  const std::string list = folder / "graph.el";
  std::ofstream{list} << "0 1\n1 2\n2 0\n3 4\n4 5\n1 5\n";
  const std::string weighted = folder / "graph.gr";
  std::ofstream{weighted} << "p sp 6 6\na 1 2 7\na 2 3 1\na 3 1 5\na 4 5 2\na 5 6 9\na 2 6 300\n";
  for (const std::string& file : {list, weighted}) {
    for (const char* app : {"bfs", "cc", "l-sssp", "pagerank"}) {
      for (const std::uint32_t ranks : {1U, 2U, 3U}) {
        const RankedOutcome outcome = run_app(
            ranks, 1, {.app = app, .input = file, .options = {.shards = 4}, .verify = true});
        EXPECT_EQ(outcome.verified, true) << app << ": " << outcome.difference;
      }
    }
  }
  fs::remove_all(folder);
}

TEST(Placement, DealsOutHeavyShardsThatAreNeighbours) {
  using protocol::balanced_owners;
  EXPECT_EQ(balanced_owners({5, 5, 5, 4}, 2), protocol::first_owners(4, 2));
  EXPECT_EQ(balanced_owners({9, 8, 7, 6, 1, 1, 1}, 3), (protocol::Owners{0, 1, 2, 2, 1, 0, 0}));
  EXPECT_EQ(balanced_owners({0, 0, 0}, 2), protocol::first_owners(3, 2));
}

TEST(Ranks, HubsThatAreNeighboursAreOnDifferentRanks) {
  const fs::path folder = fresh_folder();
  fs::create_directories(folder);
  const std::string file = folder / "hubs.el";
  {
    std::ofstream out{file};
    for (int node = 0; node < 400; ++node) {  // the first quarter has most of the edges
      for (int i = 0; i < (node < 100 ? 20 : 2); ++i)
        out << node << ' ' << (node + 7 * i + 1) % 400 << '\n';
    }
  }
  const RankedOutcome outcome =
      run_app(4, 1, {.app = "bfs", .input = file, .options = {.shards = 32}, .verify = true});
  EXPECT_EQ(outcome.verified, true) << outcome.difference;
  EXPECT_LT(outcome.imbalance, 1.1);  // 3.1 if neighbours shared a rank
  fs::remove_all(folder);
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
  for (const Case& job :  // cc needs only one superstep on one rank
       {Case{"bfs", "road:4000"}, Case{"bfs", "rmat:11"}, Case{"l-sssp", "road:4000"},
        Case{"pagerank", "road:4000"}}) {
    constexpr std::uint32_t seats = 4;
    RankedOutcome outcome;
    std::atomic<std::uint32_t> joined{0};
    std::atomic<std::uint32_t> left{0};
    on_ranks(1, seats, [&](Network& network, std::uint32_t seat) {
      cpu::Engine engine{{.capacity = 1}};
      std::jthread scheduler;
      RankedRun run{.app = job.app, .input = job.input, .options = {.shards = 12}, .verify = true};
      run.control = [&](RankRequests* requests) {
        scheduler = {};  // so that no request comes after the end
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
    EXPECT_EQ(outcome.verified, true) << job.app << ": " << outcome.difference;
    EXPECT_GE(joined, 2U) << job.app;
    EXPECT_GE(left, 1U) << job.app;
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
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(code_of([&] { (void)files.published(); }), HasSubstr("everybody can write to it"));
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::remove);
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
