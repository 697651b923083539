// A job on several ranks of one process, small enough to be explored: its work, its checkpoint
// store, and the rules for shards and messages.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cohort/protocol/hub.hpp"
#include "cohort/protocol/ranks.hpp"

namespace cohort::test {

using protocol::Ballot;
using protocol::Bytes;
using protocol::Manifest;
using protocol::ParcelReader;
using protocol::ParcelWriter;
using protocol::RankEnd;

/// The oracle for shards and messages. Between two supersteps, every shard has one owner. In each
/// superstep, the owner computes each shard once, after every message to the shard has arrived
/// exactly once.
class ShardRules {
 public:
  ShardRules(std::uint32_t shards, std::function<void(std::string)> fail)
      : fail_(std::move(fail)), shards_(shards) {}

  void owns(std::uint32_t seat, std::uint32_t shard) {
    const std::lock_guard lock{mutex_};
    Shard& its = shards_[shard];
    if (its.owner) complain(shard, "has two owners: seats " + std::to_string(*its.owner), seat);
    its.owner = seat;
  }
  void drops(std::uint32_t seat, std::uint32_t shard) {
    const std::lock_guard lock{mutex_};
    Shard& its = shards_[shard];
    if (its.owner != seat) complain(shard, "is given away by another than its owner", seat);
    its.owner.reset();
    ++moves_;
  }
  void sent(std::uint32_t shard, std::uint32_t turn) {
    const std::lock_guard lock{mutex_};
    ++shards_[shard].sent[turn];
  }
  /// Records that the seat computes a shard with the messages received so far.
  void computes(std::uint32_t seat, std::uint32_t shard, std::uint32_t turn, std::size_t messages) {
    const std::lock_guard lock{mutex_};
    Shard& its = shards_[shard];
    if (its.owner != seat) complain(shard, "is computed by another than its owner", seat);
    if (its.turn != turn) {
      complain(shard,
               "is at " + std::to_string(its.turn) + " and computed for superstep " +
                   std::to_string(turn),
               seat);
    }
    const std::size_t expected = turn == 0 ? 0 : its.sent[turn - 1];
    if (messages != expected) {
      complain(shard,
               "got " + std::to_string(messages) + " messages instead of " +
                   std::to_string(expected) + " in superstep " + std::to_string(turn),
               seat);
    }
    its.turn = turn + 1;
  }
  /// Records a message that arrived at a rank that does not own the message's shard.
  void strays(std::uint32_t seat, std::uint32_t shard) {
    const std::lock_guard lock{mutex_};
    complain(shard, "got a message at another rank than its owner's", seat);
  }
  /// Records how often a seat was told, in the last superstep, that a shard was computed. It learns
  /// this from its own computation, or from messages to all.
  void knows(std::uint32_t seat, std::uint32_t shard, std::uint32_t times) {
    const std::lock_guard lock{mutex_};
    if (times != 1) complain(shard, "was told " + std::to_string(times) + " times to all", seat);
  }
  /// Called when all ranks have ended and the job starts again at that superstep.
  void restart(std::uint32_t turn) {
    for (Shard& its : shards_) {
      its.owner.reset();
      its.turn = turn;
      std::erase_if(its.sent, [turn](const auto& each) { return each.first >= turn; });
    }
  }
  /// The number of times a shard has moved.
  [[nodiscard]] std::uint32_t moves() const { return moves_; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(shards_.size()); }

 private:
  struct Shard {
    std::optional<std::uint32_t> owner;  // empty while the shard moves
    std::uint32_t turn = 0;
    // Number of messages sent to the shard, by superstep.
    std::map<std::uint32_t, std::size_t> sent;
  };
  void complain(std::uint32_t shard, const std::string& what, std::uint32_t seat) {
    fail_("shard " + std::to_string(shard) + " " + what + " (seat " + std::to_string(seat) + ")");
  }

  std::function<void(std::string)> fail_;
  std::mutex mutex_;
  std::vector<Shard> shards_;
  std::uint32_t moves_ = 0;
};

/// Work whose shards hash the messages that they receive. A lost, repeated or late message changes
/// the result, and so does a State or a tally that differs between ranks.
class MixWork {
 public:
  struct State {
    std::uint32_t turn = 0;
    std::uint32_t voted = 0;  // number of shards, as the last vote counted them
  };

  MixWork(ShardRules& rules, std::uint32_t seat, std::uint32_t turns)
      : rules_(rules),
        seat_(seat),
        turns_(turns),
        out_(rules.count()),
        in_(rules.count()),
        told_(rules.count()) {}

  void make(std::uint32_t shard) {
    values_[shard] = shard;
    rules_.owns(seat_, shard);
  }
  /// Called before each superstep.
  std::function<void()> die = [] {};

  void compute(Ballot& ballot) {
    die();
    for (std::uint32_t shard = 0; shard < in_.size(); ++shard) {
      if (!in_[shard].empty() && !values_.contains(shard)) rules_.strays(seat_, shard);
    }
    for (std::uint32_t shard = 0; shard < in_.size() && state_.turn > 0 && !restored_; ++shard)
      rules_.knows(seat_, shard, told_[shard]);
    restored_ = false;
    told_.assign(in_.size(), 0);
    const bool last = state_.turn + 1 >= turns_;
    for (auto& [shard, value] : values_) {
      rules_.computes(seat_, shard, state_.turn, in_[shard].size());
      value = mixed(value, in_[shard], state_);
      ++told_[shard];
      if (!last) to_all_.push_back(shard);
      for (std::uint32_t step = 1; step <= 2 && !last; ++step) {
        const auto to = static_cast<std::uint32_t>((shard + step) % out_.size());
        out_[to].push_back(value + step);
        rules_.sent(to, state_.turn);
      }
    }
    ++state_.turn;
    // In other supersteps, only the messages keep the job going.
    ballot.more = last || state_.turn % 2 == 0 ? 0 : 1;
    ballot.sum = static_cast<double>(values_.size());
  }
  static std::uint64_t mixed(std::uint64_t value, const std::vector<std::uint64_t>& messages,
                             const State& state) {
    value = value * 31 + state.turn + 7 * state.voted;
    for (const std::uint64_t message : messages) value += message;
    return value;
  }

  [[nodiscard]] bool sends() const {
    return std::any_of(out_.begin(), out_.end(), [](const auto& each) { return !each.empty(); });
  }
  Bytes messages(std::uint32_t shard) {
    Bytes bytes;
    for (const std::uint64_t each : std::exchange(out_[shard], {})) ParcelWriter{bytes}.value(each);
    return bytes;
  }
  Bytes messages_to_all() {
    Bytes bytes;
    for (const std::uint32_t each : std::exchange(to_all_, {})) ParcelWriter{bytes}.value(each);
    return bytes;
  }
  void deliver_to_all(const Bytes& bytes) {
    for (ParcelReader reader{bytes}; !reader.done();) ++told_[reader.value<std::uint32_t>()];
  }
  void voted(const Ballot& all) {
    for (auto& messages : in_) messages.clear();
    state_.voted = static_cast<std::uint32_t>(all.sum);
  }
  void deliver(std::uint32_t shard, const Bytes& bytes) {
    for (ParcelReader reader{bytes}; !reader.done();)
      in_[shard].push_back(reader.value<std::uint64_t>());
  }
  Bytes delivered(std::uint32_t shard) const {
    Bytes bytes;
    for (const std::uint64_t each : in_[shard]) ParcelWriter{bytes}.value(each);
    return bytes;
  }
  Bytes pack(std::uint32_t shard) const {
    Bytes bytes;
    ParcelWriter{bytes}.value(values_.at(shard));
    return bytes;
  }
  void unpack(std::uint32_t shard, const Bytes& bytes) {
    values_[shard] = ParcelReader{bytes}.value<std::uint64_t>();
    rules_.owns(seat_, shard);
  }
  void drop(std::uint32_t shard) {
    values_.erase(shard);
    rules_.drops(seat_, shard);
  }
  Bytes state() const {
    Bytes bytes;
    ParcelWriter{bytes}.value(state_);
    return bytes;
  }
  /// Called after a start from a checkpoint, which contains no messages to all.
  void restored() { restored_ = true; }
  void set_state(const Bytes& bytes) { state_ = ParcelReader{bytes}.value<State>(); }
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& values() const { return values_; }

 private:
  ShardRules& rules_;
  std::uint32_t seat_;
  std::uint32_t turns_;
  std::map<std::uint32_t, std::uint64_t> values_;
  std::vector<std::vector<std::uint64_t>> out_;
  std::vector<std::vector<std::uint64_t>> in_;
  std::vector<std::uint32_t> to_all_;
  std::vector<std::uint32_t> told_;  // count for each shard
  bool restored_ = false;
  State state_;
};

/// The final contents of the shards, computed by a plain loop.
inline std::vector<std::uint64_t> mixed_alone(std::uint32_t shards, std::uint32_t turns) {
  std::vector<std::uint64_t> values(shards);
  std::vector<std::vector<std::uint64_t>> in(shards);
  for (std::uint32_t shard = 0; shard < shards; ++shard) values[shard] = shard;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    std::vector<std::vector<std::uint64_t>> out(shards);
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      values[shard] = MixWork::mixed(values[shard], in[shard], {turn, turn == 0 ? 0 : shards});
      for (std::uint32_t step = 1; step <= 2; ++step)
        out[(shard + step) % shards].push_back(values[shard] + step);
    }
    in = std::move(out);
  }
  return values;
}

/// A folder of checkpoints in memory. A process can die before any change to it.
class MemoryStore {
 public:
  /// Called before each change.
  std::function<void()> die = [] {};
  /// Whether a write or a publish fails.
  std::function<bool(bool publishes)> full = [](bool) { return false; };

  void write(std::uint64_t generation, std::uint32_t shard, const Bytes& bytes) {
    die();
    if (full(false)) throw Error{Errc::bad_file, "the disk is full"};
    files_[{generation, shard}] = bytes;
  }
  Bytes read(std::uint64_t generation, std::uint32_t shard) {
    const auto file = files_.find({generation, shard});
    if (file == files_.end()) throw Error{Errc::bad_file, "the manifest names a missing file"};
    return file->second;
  }
  void publish(const Manifest& manifest) {
    die();
    if (full(true)) throw Error{Errc::bad_file, "the disk is full"};
    published_ = manifest;
    ++publishes_;
  }
  void prune(std::uint64_t generation) {
    while (!files_.empty() && files_.begin()->first.first < generation) {
      die();
      files_.erase(files_.begin());
    }
  }
  [[nodiscard]] const std::optional<Manifest>& published() const { return published_; }
  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] std::uint32_t publishes() const { return publishes_; }

 private:
  std::map<std::pair<std::uint64_t, std::uint32_t>, Bytes> files_;
  std::optional<Manifest> published_;
  std::uint32_t publishes_ = 0;
};

}  // namespace cohort::test
