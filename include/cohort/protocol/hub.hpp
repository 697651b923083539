// Ranks within one process, on any platform: threads in tests and measurements, fibres in the
// explorer. Invariant: a box holds the parcels of at most two exchanges: the one that its reader is
// in, and the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "cohort/kernel.hpp"
#include "cohort/protocol/network.hpp"

namespace cohort::protocol {

/// Thrown in the other ranks when a rank has died.
struct RankLost {};

/// Data that the ranks share: a seat for each rank, and boxes between the seats.
template <class P>
class Hub {
 public:
  Hub(std::uint32_t seats, std::uint32_t first_ranks)
      : first(first_ranks), seats_(seats), boxes_(std::size_t{seats} * seats) {}

  /// Starts the rank of a seat. The rank calls await_call() first. Returns whether the rank could
  /// be started.
  std::function<bool(std::uint32_t seat)> spawn = [](std::uint32_t) { return true; };
  /// Whether the parcels of an exchange arrive at a rank in descending order of the senders.
  std::function<bool()> backwards = [] { return false; };

  /// Waits until a grow() calls this seat. Returns false if the job ends first.
  bool await_call(std::uint32_t seat) {
    Seat& mine = seats_[seat];
    mine.home.store(1, Order::release);  // pairs with grow(): this seat has taken its last parcels
    P::notify(coming_home_);
    P::await(mine.event, [&] {
      return mine.called.load(Order::acquire) != mine.answered || over_.load(Order::acquire) != 0;
    });
    const std::uint32_t turn = mine.called.load(Order::acquire);
    return std::exchange(mine.answered, turn) != turn;
  }
  /// Ends the hub: no rank is called any more. With `lost`, ranks that wait for a parcel throw
  /// RankLost.
  void close(bool lost = false) {
    over_.store(lost ? 2 : 1, Order::release);  // pairs with the acquires of all waits
    for (Seat& seat : seats_) P::notify(seat.event);
    P::notify(coming_home_);
  }

  const std::uint32_t first;  ///< number of ranks at the start, which have the first seats

 private:
  template <class>
  friend class HubNetwork;

  /// A place for parcels from one seat to another, by turn modulo 2.
  struct Box {
    typename P::template Atomic<std::uint32_t> posted[2];  // the turn to which the parcel belongs
    Bytes parcels[2];
  };
  struct Seat {
    typename P::Event event;
    // The turn in which the seat was last called.
    typename P::template Atomic<std::uint32_t> called{0};
    std::uint32_t answered = 0;
    typename P::template Atomic<std::uint32_t> home{0};  // 1 while the seat waits for a call
    std::vector<std::uint32_t> ranks;                    // written by the caller: the seats by rank
  };

  Box& box(std::uint32_t from, std::uint32_t to) { return boxes_[from * seats_.size() + to]; }

  std::vector<Seat> seats_;
  std::vector<Box> boxes_;
  typename P::Event coming_home_;
  typename P::template Atomic<std::uint32_t> over_{0};
};

/// One rank's end of a Hub.
template <class P>
class HubNetwork {
 public:
  /// For a seat that has a rank at the start, or after await_call().
  HubNetwork(Hub<P>& hub, std::uint32_t seat) : hub_(hub), seat_(seat), ranks_(hub.first) {
    auto& mine = hub_.seats_[seat];
    joined_ = mine.answered != 0;
    if (joined_) {
      ranks_ = mine.ranks;
      turn_ = mine.answered;
    } else {
      std::iota(ranks_.begin(), ranks_.end(), 0U);
    }
    number();
  }

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] bool joined() const { return joined_; }

  Ballot vote(const Ballot& mine) {
    Bytes said;
    ParcelWriter{said}.value(mine);
    post(std::vector<Bytes>(ranks(), said));
    Ballot sum;
    for (std::uint32_t i = 0; i < ranks(); ++i)
      sum += ParcelReader{take(i)}.template value<Ballot>();
    return sum;
  }

  template <TakesParcel Arrival>
  void exchange(std::vector<Bytes> parcels, Arrival&& arrival) {
    post(std::move(parcels));
    std::vector<Bytes> arrived;
    for (std::uint32_t i = 0; i < ranks(); ++i) arrived.push_back(take(i));
    const bool several = std::count_if(arrived.begin(), arrived.end(),
                                       [](const Bytes& parcel) { return !parcel.empty(); }) > 1;
    const bool backwards = several && hub_.backwards();
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      const std::uint32_t from = backwards ? ranks() - 1 - i : i;
      arrival(from, std::move(arrived[from]));
    }
  }

  std::uint32_t grow(std::uint32_t more) {
    // All ranks compute the same free seats. The first rank learns which ranks could be started.
    std::vector<std::uint32_t> free;
    for (std::uint32_t seat = 0; seat < hub_.seats_.size() && free.size() < more; ++seat) {
      if (std::find(ranks_.begin(), ranks_.end(), seat) == ranks_.end()) free.push_back(seat);
    }
    Ballot count;
    if (rank_ == 0) {
      while (count.more < free.size() && hub_.spawn(free[count.more])) ++count.more;
      for (std::uint32_t i = 0; i < count.more; ++i) await_home(hub_.seats_[free[i]]);
    }
    count = vote(count);
    ranks_.insert(ranks_.end(), free.begin(),
                  free.begin() + static_cast<std::ptrdiff_t>(count.more));
    for (std::uint32_t i = 0; i < count.more && rank_ == 0; ++i) {
      auto& seat = hub_.seats_[free[i]];
      seat.ranks = ranks_;
      seat.called.store(turn_, Order::release);  // publishes the seats: pairs with await_call()
      P::notify(seat.event);
    }
    return static_cast<std::uint32_t>(count.more);
  }

  void shrink(const std::vector<std::uint8_t>& stays) {
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      if (stays[i] != 0) left.push_back(ranks_[i]);
    }
    ranks_ = std::move(left);
    number();
  }

 private:
  /// Waits until the seat's last rank has taken its last parcels. Parcels for the next rank of the
  /// seat would overwrite them.
  void await_home(typename Hub<P>::Seat& seat) {
    const auto home = [&] { return seat.home.load(Order::acquire) != 0; };
    P::await(hub_.coming_home_, [&] { return home() || hub_.over_.load(Order::acquire) == 2; });
    if (!home()) throw RankLost{};
    seat.home.store(0, Order::relaxed);  // published by the store to `called`
  }

  void number() {
    rank_ =
        static_cast<std::uint32_t>(std::find(ranks_.begin(), ranks_.end(), seat_) - ranks_.begin());
  }

  void post(std::vector<Bytes> parcels) {
    ++turn_;
    for (std::uint32_t i = 0; i < ranks(); ++i) {
      auto& box = hub_.box(seat_, ranks_[i]);
      box.parcels[turn_ % 2] = std::move(parcels[i]);
      box.posted[turn_ % 2].store(turn_,
                                  Order::release);  // publishes the parcel: pairs with take()
      P::notify(hub_.seats_[ranks_[i]].event);
    }
  }

  Bytes take(std::uint32_t from) {
    auto& box = hub_.box(ranks_[from], seat_);
    const auto there = [&] { return box.posted[turn_ % 2].load(Order::acquire) == turn_; };
    P::await(hub_.seats_[seat_].event,
             [&] { return there() || hub_.over_.load(Order::acquire) == 2; });
    if (!there()) throw RankLost{};
    return std::move(box.parcels[turn_ % 2]);
  }

  Hub<P>& hub_;
  std::uint32_t seat_;
  std::uint32_t rank_ = 0;
  std::vector<std::uint32_t> ranks_;  // the seats by rank
  std::uint32_t turn_ = 0;            // number of the latest post()
  bool joined_ = false;
};

}  // namespace cohort::protocol
