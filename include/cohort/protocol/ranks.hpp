// The outer protocol: supersteps of a job on several ranks. Nothing changes inside a rank. The
// ranks meet when the local steps of all ranks have ended. Invariant: between two supersteps every
// shard has one owner. The messages of a superstep are delivered before the next one, to the rank
// that owns their shard at that time.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "cohort/kernel.hpp"
#include "cohort/protocol/network.hpp"
#include "cohort/protocol/placement.hpp"

namespace cohort::protocol {

/// Requests to a rank, made by signals, commands and timers. Each is a flag that the next vote
/// reads, so no request is lost and none has to be answered at once.
template <class P>
class Requests {
 public:
  /// Asks this rank to leave. Rank 0 cannot leave: it suspends the job instead.
  void leave() { leave_.store(1, Order::relaxed); }
  /// Rank 0 only: asks for this number of ranks.
  void resize(std::uint32_t ranks) { target_.store(ranks, Order::relaxed); }
  /// Rank 0 only: asks for a checkpoint.
  void save() { save_.store(1, Order::relaxed); }
  /// Asks for a checkpoint and then the end of the job.
  void suspend() { suspend_.store(1, Order::relaxed); }

  [[nodiscard]] Ballot ballot(bool first) const {
    const bool leaves = leave_.load(Order::relaxed) != 0;
    Ballot mine;
    mine.leaving = leaves && !first ? 1 : 0;
    mine.suspend = suspend_.load(Order::relaxed) != 0 || (leaves && first) ? 1 : 0;
    mine.target = first ? target_.load(Order::relaxed) : 0;
    mine.save = first ? save_.load(Order::relaxed) : 0;
    return mine;
  }
  /// Removes the requests that a vote has carried. A request that has come meanwhile stays.
  void granted(const Ballot& mine) {
    std::uint32_t target = static_cast<std::uint32_t>(mine.target);
    if (target != 0) target_.compare_exchange(target, 0, Order::relaxed);
    if (mine.save != 0) save_.store(0, Order::relaxed);
  }

 private:
  typename P::template Atomic<std::uint32_t> leave_{0};
  typename P::template Atomic<std::uint32_t> target_{0};
  typename P::template Atomic<std::uint32_t> save_{0};
  typename P::template Atomic<std::uint32_t> suspend_{0};
};

/// How a rank's part in a job ended.
enum class RankEnd : std::uint8_t {
  finished,   ///< no rank needed another superstep
  left,       ///< this rank has handed over its shards; the job continues without it
  suspended,  ///< the job is in its store, and can be restarted from there
  failed,     ///< a rank could not continue; it was this one if Rank::fault() is set
};

/// Describes a checkpoint. Its shards are in files of the generation `superstep`.
struct Manifest {
  std::uint64_t superstep = 0;  ///< number of the superstep; also the generation of the files
  std::uint32_t shards = 0;
  Bytes state;
};

/// The work of a rank between two exchanges, as a concept.
template <class W>
concept Work = requires(W& work, std::uint32_t shard, Bytes bytes, Ballot& ballot,
                        const Ballot& all) {
  /// Runs local steps until all groups wait for messages. Adds the kernel's votes to the ballot.
  work.compute(ballot);
  /// Whether there are messages for other shards.
  { work.sends() } -> std::same_as<bool>;
  /// Removes and returns the messages to a shard.
  { work.messages(shard) } -> std::same_as<Bytes>;
  /// Removes and returns the messages to all other ranks.
  { work.messages_to_all() } -> std::same_as<Bytes>;
  /// Receives the combined votes of all ranks. The kernel has read all delivered messages, so they
  /// can be dropped.
  work.voted(all);
  work.deliver(shard, bytes);
  /// Delivers messages that another rank sent to all ranks. No checkpoint contains them.
  work.deliver_to_all(bytes);
  /// The messages delivered to a shard, as bytes in their original form.
  { work.delivered(shard) } -> std::same_as<Bytes>;
  /// Converts a shard to bytes, and bytes to a shard. drop() removes a shard.
  { work.pack(shard) } -> std::same_as<Bytes>;
  work.unpack(shard, bytes);
  work.drop(shard);
  /// The data that joining ranks receive: the kernel's State and the combined votes.
  { work.state() } -> std::same_as<Bytes>;
  work.set_state(bytes);
};

/// A store of checkpoints, as a concept. A restart finds the checkpoint that was published last.
template <class S>
concept Store = requires(S& store, std::uint64_t generation, std::uint32_t shard,
                         const Bytes& bytes, const Manifest& manifest) {
  store.write(generation, shard, bytes);
  { store.read(generation, shard) } -> std::same_as<Bytes>;
  store.publish(manifest);
  /// Removes the files of older generations.
  store.prune(generation);
};

/// One rank's part in a job.
template <class P, Network N, Work W, Store S>
class Rank {
 public:
  /// `store` may be null: the job then cannot be checkpointed.
  Rank(N& network, W& work, Requests<P>& requests, S* store, Owners owners)
      : network_(network),
        work_(work),
        requests_(requests),
        store_(store),
        owners_(std::move(owners)) {}
  Rank(N& network, W& work, Requests<P>& requests, S* store, std::uint32_t shards)
      : Rank(network, work, requests, store, first_owners(shards, network.ranks())) {}

  /// Whether a shard is on this rank at the start.
  [[nodiscard]] bool has(std::uint32_t shard) const { return owners_[shard] == network_.rank(); }
  [[nodiscard]] const Owners& owners() const { return owners_; }
  [[nodiscard]] std::uint64_t superstep() const { return superstep_; }
  /// The exception because of which this rank could not continue, if there is one.
  [[nodiscard]] std::exception_ptr fault() const { return fault_; }

  /// Starts from a checkpoint instead of from the beginning.
  void restore(const Manifest& manifest) {
    superstep_ = manifest.superstep;
    work_.set_state(manifest.state);
    for_own_shards([&](std::uint32_t shard) {
      const Bytes file = store_->read(superstep_, shard);
      ParcelReader reader{file};
      work_.unpack(shard, reader.list<std::byte>());
      work_.deliver(shard, reader.list<std::byte>());
    });
  }

  RankEnd run() {
    if (network_.joined()) {
      Change change;
      exchange(std::vector<Bytes>(network_.ranks()), change);
      if (!settle(change)) return RankEnd::left;
    }
    for (;;) {
      Ballot mine = requests_.ballot(network_.rank() == 0);
      if (store_ == nullptr) mine.save = mine.suspend = 0;
      if (!attempt([&] { work_.compute(mine); })) mine.faults = 1;
      if (work_.sends()) mine.more = 1;
      const Ballot all = network_.vote(mine);
      if (all.faults != 0) return RankEnd::failed;
      if (all.more == 0) return RankEnd::finished;
      requests_.granted(mine);
      Change change = decide(all, mine);
      work_.voted(all);
      trade(change);
      if (!settle(change)) return RankEnd::left;
      if (all.save + all.suspend != 0) {
        if (!save()) return RankEnd::failed;
        if (all.suspend != 0) return RankEnd::suspended;
      }
    }
  }

 private:
  /// A change of the set of ranks: which ranks leave, and who owns the shards afterwards, by the
  /// old ids.
  struct Change {
    // For each rank, newcomers included; empty if no rank leaves or joins.
    std::vector<std::uint8_t> stays;
    std::uint32_t before = 0;  // number of ranks, newcomers not counted
    Owners owners;
  };
  enum class Item : std::uint8_t { welcome, shard, messages, messages_to_all };

  template <class Function>
  void for_own_shards(Function function) {
    for (std::uint32_t shard = 0; shard < owners_.size(); ++shard) {
      if (has(shard)) function(shard);
    }
  }

  /// Runs `function`. Returns whether it threw nothing.
  template <class Function>
  bool attempt(Function function) {
    try {
      function();
      return true;
    } catch (const std::exception&) {
      fault_ = std::current_exception();
      return false;
    }
  }

  Change decide(const Ballot& all, const Ballot& mine) {
    const std::uint32_t before = network_.ranks();
    Change change{{}, before, owners_};
    if (all.leaving == 0 && (all.target == 0 || all.target == before)) return change;
    change.stays.assign(before, 1);
    if (all.leaving != 0) {
      // Uses the value in the ballot: a request that comes after the vote waits for the next one.
      std::vector<Bytes> said(before, Bytes(mine.leaving));
      network_.exchange(std::move(said), [&](std::uint32_t from, const Bytes& leaves) {
        change.stays[from] = leaves.empty() ? 1 : 0;
      });
    }
    auto left = static_cast<std::uint32_t>(before - all.leaving);
    const auto wanted = all.target == 0 ? left : static_cast<std::uint32_t>(all.target);
    for (std::uint32_t last = before; left > wanted;) {
      if (change.stays[--last] == 0) continue;
      change.stays[last] = 0;
      --left;
    }
    if (left < wanted) change.stays.resize(before + network_.grow(wanted - left), 1);
    change.owners = next_owners(owners_, change.stays);
    return change;
  }

  /// Exchanges parcels. Messages go to the next owner of their shard, in the same parcels as the
  /// shards that move.
  void trade(Change& change) {
    const std::uint32_t self = network_.rank();
    std::vector<Bytes> parcels(network_.ranks());
    if (self == 0) {
      for (std::uint32_t i = change.before; i < network_.ranks(); ++i) welcome(parcels[i], change);
    }
    for (std::uint32_t shard = 0; shard < owners_.size(); ++shard) {
      const std::uint32_t to = change.owners[shard];
      const auto put = [&](Item item, const Bytes& bytes) {
        ParcelWriter writer{parcels[to]};
        writer.value(item);
        writer.value(shard);
        writer.list(bytes);
      };
      const Bytes messages = work_.messages(shard);
      if (!messages.empty()) put(Item::messages, messages);
      if (owners_[shard] == self && to != self) {
        put(Item::shard, work_.pack(shard));
        work_.drop(shard);
      }
    }
    put_to_all(parcels);
    exchange(std::move(parcels), change);
  }

  /// Appends the messages to all ranks, including newcomers. The ranks that leave get them too,
  /// although they do not need them.
  void put_to_all(std::vector<Bytes>& parcels) {
    const Bytes messages = work_.messages_to_all();
    if (messages.empty()) return;
    for (std::uint32_t to = 0; to < parcels.size(); ++to) {
      if (to == network_.rank()) continue;
      ParcelWriter writer{parcels[to]};
      writer.value(Item::messages_to_all);
      writer.list(messages);
    }
  }

  void exchange(std::vector<Bytes> parcels, Change& change) {
    network_.exchange(std::move(parcels), [&](std::uint32_t /*from*/, const Bytes& parcel) {
      ParcelReader reader{parcel};
      while (!reader.done()) unpack(reader, change);
    });
    ++superstep_;
  }

  void welcome(Bytes& parcel, const Change& change) const {
    ParcelWriter writer{parcel};
    writer.value(Item::welcome);
    writer.value(superstep_);
    writer.list(std::span{change.stays});
    writer.list(std::span{change.owners});
    writer.list(work_.state());
  }

  void unpack(ParcelReader& reader, Change& change) {
    const auto item = reader.value<Item>();
    if (item == Item::welcome) {
      superstep_ = reader.value<std::uint64_t>();
      change.stays = reader.list<std::uint8_t>();
      change.owners = reader.list<std::uint32_t>();
      work_.set_state(reader.list<std::byte>());
      return;
    }
    if (item == Item::messages_to_all) return work_.deliver_to_all(reader.list<std::byte>());
    const auto shard = reader.value<std::uint32_t>();
    if (item == Item::shard) {
      work_.unpack(shard, reader.list<std::byte>());
    } else {
      work_.deliver(shard, reader.list<std::byte>());
    }
  }

  /// Applies the change: the ranks without `stays` leave. Returns whether this rank stays.
  bool settle(const Change& change) {
    if (change.stays.empty()) return true;
    const bool stays = change.stays[network_.rank()] != 0;
    const std::vector<std::uint32_t> ids = next_ids(change.stays);
    owners_ = change.owners;
    for (std::uint32_t& owner : owners_) owner = ids[owner];
    network_.shrink(change.stays);
    return stays;
  }

  /// Every rank writes its shards. When all have done so, rank 0 publishes them.
  bool save() {
    const auto all_did = [this](bool did) {
      return network_.vote({.faults = did ? 0U : 1U}).faults == 0;
    };
    const bool written = attempt([&] {
      for_own_shards([&](std::uint32_t shard) {
        Bytes file;
        ParcelWriter writer{file};
        writer.list(work_.pack(shard));
        writer.list(work_.delivered(shard));
        store_->write(superstep_, shard, file);
      });
    });
    if (!all_did(written)) return false;
    const bool published =
        network_.rank() != 0 || attempt([&] {
          store_->publish({superstep_, static_cast<std::uint32_t>(owners_.size()), work_.state()});
          store_->prune(superstep_);
        });
    return all_did(published);
  }

  N& network_;
  W& work_;
  Requests<P>& requests_;
  S* store_;
  Owners owners_;
  std::uint64_t superstep_ = 0;
  std::exception_ptr fault_;
};

}  // namespace cohort::protocol
