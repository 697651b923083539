#include "explore/ranks_scenarios.hpp"

#include <ostream>

#include "cohort/explore/world.hpp"
#include "explore/ranks.hpp"

namespace cohort::test {
namespace {

using explore::Platform;
using explore::World;
using Hub = protocol::Hub<Platform>;
using Network = protocol::HubNetwork<Platform>;
using Requests = protocol::Requests<Platform>;
using Rank = protocol::Rank<Platform, Network, MixWork, MemoryStore>;

constexpr std::uint32_t shards = 3;

/// Thrown to end the processes of all ranks.
struct Death {};

/// One run of a story: a job on several ranks, with the events that the story allows.
class RanksRun {
 public:
  RanksRun(World& world, const RanksStory& story)
      : world_(world),
        story_(story),
        rules_(shards, [&world](std::string why) { world.fail(std::move(why)); }),
        requests_(story.seats) {
    store_.die = [this] { may_die(); };
    store_.full = [&](bool publishes) {
      return story.fails == (publishes ? Fails::publish : Fails::write) &&
             (publishes || world.running() == 1);
    };
    begin_life(story.ranks);
  }

  RanksSeen seen;

  void run() {
    for (std::uint32_t seat = 0; seat < story_.seats; ++seat) {
      seats_.push_back({this, seat});
      world_.spawn(
          seat, "rank",
          [](void* at) { static_cast<At*>(at)->run->live(static_cast<At*>(at)->seat); },
          &seats_.back());
    }
    world_.spawn(
        story_.seats, "host", [](void* self) { static_cast<RanksRun*>(self)->host(); }, this);
    world_.go();
    seen.saves = store_.publishes();
    if (!world_.failure().empty() || seen.failed != 0) return;
    const auto expected = mixed_alone(shards, story_.turns);
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      if (results_.contains(shard) && results_[shard] == expected[shard]) continue;
      world_.fail("shard " + std::to_string(shard) + " has a wrong result, or none");
    }
    if (seen.left + seen.joined == 0 && seen.suspended == 0 && !died_ && rules_.moves() > 0)
      world_.fail("a shard has moved for no reason");
    const bool saved = seen.saves > 0 || requests_[0].ballot(true).save != 0;
    if (std::string_view{story_.name} == "save once" && !saved) world_.fail("a request is lost");
    const std::size_t files = store_.published() ? shards : 0;
    if (!died_ && store_.size() != files) world_.fail("old files are left in the store");
  }

 private:
  struct At {
    RanksRun* run;
    std::uint32_t seat;
  };

  void begin_life(std::uint32_t ranks) {
    hub_ = &hubs_.emplace_back(story_.seats, ranks);
    hub_->backwards = [] { return explore::detail::choose(2) == 1; };
    hub_->spawn = [this](std::uint32_t) {
      ++seen.spawns;
      return !story_.spawns_fail || explore::detail::choose(2) == 0;
    };
  }

  void host() {
    for (const Ask& ask : story_.asks) {
      switch (ask.what) {
        case Ask::leave: requests_[ask.value].leave(); break;
        case Ask::resize: requests_[0].resize(ask.value); break;
        case Ask::save: requests_[0].save(); break;
        case Ask::suspend: requests_[ask.value].suspend(); break;
      }
    }
  }

  void live(std::uint32_t seat) {
    bool again = false;
    try {
      again = live_once(seat, false);
    } catch (const Death&) {
      hub_->close(true);
      again = true;
    } catch (const protocol::RankLost&) {
      again = true;
    }
    if (!again && !died_) return;
    // The last rank to end starts the next life.
    if (ended_.fetch_add(1, Order::acq_rel) + 1 == story_.seats) {
      rules_.restart(store_.published() ? static_cast<std::uint32_t>(store_.published()->superstep)
                                        : 0);
      begin_life(story_.again_on);
      next_life_.store(1, Order::release);
    }
    Platform::await(life_, [&] { return next_life_.load(Order::acquire) != 0; });
    live_once(seat, true);
  }

  /// Returns whether another life follows.
  bool live_once(std::uint32_t seat, bool restored) {
    Hub& hub = *hub_;
    if (seat >= hub.first && !hub.await_call(seat)) return suspended_;
    for (bool again = restored;; again = true) {
      Requests fresh;
      const RankEnd end = run_rank(hub, seat, again ? fresh : requests_[seat], restored);
      if (end == RankEnd::left) {
        if (!hub.await_call(seat)) return suspended_;
        continue;
      }
      return end == RankEnd::suspended;
    }
  }

  RankEnd run_rank(Hub& hub, std::uint32_t seat, Requests& requests, bool restored) {
    Network network{hub, seat};
    MixWork work{rules_, seat, story_.turns};
    bool fails = false;
    work.die = [&] {
      fails = story_.fails == Fails::compute && seat == 1;
      if (fails) throw Error{Errc::bad_state, "seat 1 cannot compute"};
      may_die();
    };
    seen.joined += network.joined() ? 1 : 0;
    Rank rank{network, work, requests, story_.stores ? &store_ : nullptr, shards};
    if (restored && !network.joined() && store_.published()) {
      rank.restore(*store_.published());
      work.restored();
    } else if (!network.joined()) {
      for (std::uint32_t shard = 0; shard < shards; ++shard) {
        if (rank.has(shard)) work.make(shard);
      }
    }
    const RankEnd end = rank.run();
    if (end == RankEnd::finished) {
      for (const auto& [shard, value] : work.values()) results_[shard] = value;
    }
    if (end == RankEnd::left && !work.values().empty()) world_.fail("a rank left with a shard");
    if (fails != (rank.fault() != nullptr) && story_.fails == Fails::compute)
      world_.fail("the fault of a rank is not known there");
    seen.left += end == RankEnd::left ? 1 : 0;
    seen.suspended += end == RankEnd::suspended ? 1 : 0;
    seen.failed += end == RankEnd::failed ? 1 : 0;
    if (end != RankEnd::left && network.rank() == 0) {
      suspended_ = end == RankEnd::suspended;
      hub.close();
    }
    return end;
  }

  void may_die() {
    if (!story_.dies || died_ || explore::detail::choose(2) == 0) return;
    died_ = true;
    throw Death{};
  }

  World& world_;
  const RanksStory& story_;
  ShardRules rules_;
  MemoryStore store_;
  std::deque<Hub> hubs_;  // one hub per life
  Hub* hub_ = nullptr;
  std::deque<At> seats_;
  std::vector<Requests> requests_;
  std::map<std::uint32_t, std::uint64_t> results_;
  bool died_ = false;
  bool suspended_ = false;
  explore::Atomic<std::uint32_t> ended_{0};
  explore::Atomic<std::uint32_t> next_life_{0};
  explore::Event life_;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const RanksStory& story) { return out << story.name; }

const std::vector<RanksStory>& ranks_stories() {
  static const std::vector<RanksStory> stories{
      {.name = "one rank", .ranks = 1, .seats = 1},
      {.name = "two ranks", .ranks = 2, .seats = 2},
      {.name = "three ranks", .ranks = 3, .seats = 3},
      {.name = "leave two", .ranks = 2, .seats = 2, .asks = {{Ask::leave, 1}}, .most = {.left = 1}},
      {.name = "leave three",
       .ranks = 3,
       .seats = 3,
       .turns = 2,
       .asks = {{Ask::leave, 1}, {Ask::leave, 2}},
       .most = {.left = 2}},
      {.name = "grow",
       .ranks = 1,
       .seats = 3,
       .asks = {{Ask::resize, 3}},
       .spawns_fail = true,
       .most = {.joined = 2, .spawns = 2}},
      {.name = "grow and shrink",
       .ranks = 2,
       .seats = 3,
       .asks = {{Ask::resize, 3}, {Ask::resize, 1}},
       .most = {.left = 2, .joined = 1, .spawns = 1}},
      {.name = "leave and grow",
       .ranks = 2,
       .seats = 3,
       .asks = {{Ask::leave, 1}, {Ask::resize, 2}},
       .spawns_fail = true,
       .most = {.left = 1, .joined = 1, .spawns = 1}},
      // Calls the seat of the first leaver again, possibly before the old rank has read its last
      // parcels. These have the same places as the first parcels for the seat's next rank.
      {.name = "a seat is called again",
       .ranks = 3,
       .seats = 3,
       .asks = {{Ask::resize, 2}, {Ask::leave, 1}, {Ask::resize, 2}},
       .most = {.left = 2, .joined = 1, .spawns = 1}},
      {.name = "save once", .ranks = 2, .seats = 2, .asks = {{Ask::save}}, .most = {.saves = 1}},
      {.name = "save",
       .ranks = 2,
       .seats = 2,
       .asks = {{Ask::save}, {Ask::save}},
       .dies = true,
       .again_on = 1,
       .most = {.saves = 2}},
      {.name = "save three",
       .ranks = 3,
       .seats = 3,
       .turns = 2,
       .asks = {{Ask::save}},
       .dies = true,
       .again_on = 2,
       .most = {.saves = 1}},
      {.name = "save and leave",
       .ranks = 2,
       .seats = 2,
       .asks = {{Ask::save}, {Ask::leave, 1}},
       .dies = true,
       .again_on = 2,
       .most = {.left = 1, .saves = 1}},
      {.name = "suspend",
       .ranks = 2,
       .seats = 3,
       .asks = {{Ask::suspend, 1}},
       .again_on = 3,
       .most = {.saves = 1, .suspended = 2}},
      {.name = "rank 0 leaves",
       .ranks = 2,
       .seats = 2,
       .asks = {{Ask::leave, 0}},
       .again_on = 1,
       .most = {.saves = 1, .suspended = 2}},
      {.name = "no store",
       .ranks = 2,
       .seats = 2,
       .asks = {{Ask::save}, {Ask::suspend, 1}},
       .stores = false},
      {.name = "a kernel throws",
       .ranks = 3,
       .seats = 3,
       .fails = Fails::compute,
       .most = {.failed = 3}},
      {.name = "a write fails",
       .ranks = 3,
       .seats = 3,
       .turns = 2,
       .asks = {{Ask::save}},
       .fails = Fails::write,
       .most = {.failed = 3}},
      {.name = "the manifest cannot be written",
       .ranks = 2,
       .seats = 2,
       .asks = {{Ask::suspend, 0}},
       .fails = Fails::publish,
       .most = {.failed = 2}},
  };
  return stories;
}

std::string check_placement() {
  using protocol::first_owners;
  using protocol::next_owners;
  using protocol::Owners;
  // All ways to distribute five shards over three ranks, with every set of ranks that stay or join.
  for (std::uint32_t spread = 0; spread < 243; ++spread) {
    Owners owners(5);
    for (std::uint32_t i = 0, rest = spread; i < 5; ++i, rest /= 3) owners[i] = rest % 3;
    for (std::uint32_t set = 0; set < 16; ++set) {
      std::vector<std::uint8_t> stays{1, 0, 0};
      stays[1] = set % 2 != 0 ? 1 : 0;
      stays[2] = set / 2 % 2 != 0 ? 1 : 0;
      stays.resize(3 + set / 4, 1);
      const Owners next = next_owners(owners, stays);
      std::vector<std::uint32_t> before(stays.size());
      std::vector<std::uint32_t> after(stays.size());
      std::uint32_t moved = 0;
      for (std::uint32_t i = 0; i < 5; ++i) {
        ++before[owners[i]];
        ++after.at(next[i]);
        moved += owners[i] != next[i] ? 1 : 0;
      }
      // A rank keeps its shards up to its share. If the division has a remainder, that many ranks
      // may keep one more.
      const auto staying = static_cast<std::uint32_t>(std::count(stays.begin(), stays.end(), 1));
      std::uint32_t kept = 0;
      std::uint32_t above = 0;
      for (std::uint32_t i = 0; i < stays.size(); ++i) {
        if (stays[i] == 0 && after[i] != 0) return "a rank that goes has a shard";
        if (stays[i] == 0) continue;
        if (after[i] < 5 / staying || after[i] > (5 + staying - 1) / staying)
          return "shares are not even";
        kept += std::min(before[i], 5 / staying);
        above += before[i] > 5 / staying ? 1 : 0;
      }
      if (moved != 5 - kept - std::min(above, 5 % staying)) return "more shards move than must";
    }
  }
  if (first_owners(5, 2) != Owners{0, 0, 0, 1, 1}) return "the first owners are not even";
  if (protocol::next_ids({1, 0, 1, 1}) != std::vector<std::uint32_t>{0, 1, 1, 2})
    return "the new ids are not dense";
  return {};
}

explore::Result explore_ranks(const RanksStory& story, std::uint64_t limit) {
  explore::Result result;
  World world{{.search = explore::Search::exhaustive, .schedules = 0}};
  RanksSeen most;
  bool more = true;
  while (more && (limit == 0 || result.schedules < limit)) {
    world.begin();
    RanksRun run{world, story};
    run.run();
    ++result.schedules;
    if (!world.failure().empty()) {
      result.ok = false;
      result.failure = world.failure();
      result.replay = world.schedule();
      return result;
    }
    most = {std::max(most.left, run.seen.left),           std::max(most.joined, run.seen.joined),
            std::max(most.spawns, run.seen.spawns),       std::max(most.saves, run.seen.saves),
            std::max(most.suspended, run.seen.suspended), std::max(most.failed, run.seen.failed)};
    more = world.next();
  }
  result.complete = !more;
  if (result.complete && most != story.most) {
    result.ok = false;
    result.failure = "requests were granted too often or not at all: at most " +
                     std::to_string(most.left) + " ranks left, " + std::to_string(most.joined) +
                     " joined, " + std::to_string(most.saves) + " saves, " +
                     std::to_string(most.suspended) + " suspended, " + std::to_string(most.failed) +
                     " failed";
  }
  return result;
}

}  // namespace cohort::test
