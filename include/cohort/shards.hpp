// A kernel's view of a job on several ranks: the shards of this rank, the messages that have
// arrived, and the messages that it sends. Invariant: shards and inbox do not change while groups
// run; each thread sends from a lane of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cohort/kernel.hpp"
#include "cohort/protocol/network.hpp"

namespace cohort {

namespace detail {

/// Uninitialised memory for a large array; in huge pages, like the memory of buffers.
[[nodiscard]] std::shared_ptr<void> shared_memory(std::size_t bytes);

}  // namespace detail

/// An array, or a part of an array. All parts keep the memory of the array, so the shards of a rank
/// can lie next to each other in memory. Only the part itself moves to another rank, or into a
/// checkpoint.
template <class T>
class Slice {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "cohort: an array is sent byte by byte, so its elements must be trivially copyable");

 public:
  Slice() = default;
  /// Uninitialised.
  explicit Slice(std::size_t size)
      : memory_(detail::shared_memory(size * sizeof(T))),
        data_(static_cast<T*>(memory_.get())),
        size_(size) {}
  Slice(std::size_t size, const T& value) : Slice(size) { std::fill_n(data_, size, value); }

  [[nodiscard]] Slice part(std::size_t first, std::size_t size) const {
    Slice its = *this;
    its.data_ += first;
    its.size_ = size;
    return its;
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }
  [[nodiscard]] T& operator[](std::size_t at) const { return data_[at]; }

 private:
  std::shared_ptr<void> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

/// The messages and the tally of one thread.
template <class Message>
struct alignas(64) Lane {
  std::vector<std::vector<Message>> to;  // indexed by shard
  std::vector<Message> to_all;           // to all other ranks
  std::uint64_t sent = 0;
  double sum = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
};

/// The data of a job on one rank. Part is one shard, with its graph and its progress.
template <class Part, class Message>
struct RankMemory {
  struct Delivery {
    std::uint32_t shard;
    std::size_t begin;  // index in the inbox
    std::size_t end;
  };

  explicit RankMemory(std::uint32_t shards, std::size_t threads) : parts(shards), lanes(threads) {
    for (auto& lane : lanes) lane.to.resize(shards);
  }

  // Indexed by shard; null if the shard is on another rank.
  std::vector<std::unique_ptr<Part>> parts;
  std::vector<std::uint32_t> here;  // numbers of the shards on this rank, ascending
  std::vector<Message> inbox;
  std::vector<Delivery> deliveries;
  std::vector<Lane<Message>> lanes;
  double sum = 0;  // combined votes of all ranks
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
};

/// Writes or reads a Part: `part.fields(visit)` calls `visit(field)` for each vector, Slice and
/// plain value.
struct FieldWriter {
  protocol::ParcelWriter writer;

  template <class T>
  void operator()(const std::vector<T>& field) {
    writer.list(std::span{field});
  }
  template <class T>
  void operator()(const Slice<T>& field) {
    writer.list(std::span<const T>{field.data(), field.size()});
  }
  template <class T>
  void operator()(const T& field) {
    writer.value(field);
  }
};
struct FieldReader {
  protocol::ParcelReader reader;

  template <class T>
  void operator()(std::vector<T>& field) {
    field = reader.list<T>();
  }
  template <class T>
  void operator()(Slice<T>& field) {
    const std::vector<T> items = reader.list<T>();
    field = Slice<T>(items.size());
    std::copy(items.begin(), items.end(), field.begin());
  }
  template <class T>
  void operator()(T& field) {
    field = reader.value<T>();
  }
};

}  // namespace detail

/// The shards of a job. A kernel has them as its member `parts`.
template <class Part>
class Shards {
 public:
  Shards() = default;
  template <class Message>
  explicit Shards(const detail::RankMemory<Part, Message>& memory)
      : parts_(memory.parts), here_(memory.here) {}

  /// V, the number of shards on all ranks.
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(parts_.size()); }
  /// Whether a shard is on this rank.
  [[nodiscard]] bool here(std::uint32_t shard) const { return parts_[shard] != nullptr; }
  /// The shards on this rank.
  [[nodiscard]] std::span<const std::uint32_t> here() const { return here_; }
  /// A shard on this rank.
  [[nodiscard]] Part& operator[](std::uint32_t shard) const { return *parts_[shard]; }

 private:
  std::span<const std::unique_ptr<Part>> parts_;
  std::span<const std::uint32_t> here_;
};

/// The messages that arrived in the last exchange. A kernel has them as its member `in`.
template <class Message>
class Inbox {
 public:
  Inbox() = default;
  explicit Inbox(std::span<const Message> messages) : messages_(messages) {}

  [[nodiscard]] bool empty() const { return messages_.empty(); }
  /// Calls `take(message)` for this thread's share of the messages. The threads of all groups of
  /// the rank divide them.
  template <class Group, class Take>
  void share(Group& group, Take take) const {
    for (const std::size_t i : group.stride(messages_.size())) take(messages_[i]);
  }

 private:
  std::span<const Message> messages_;
};

/// Sends messages to shards on other ranks, where they arrive in the next exchange. A kernel has it
/// as its member `out`. A kernel writes directly to shards on its own rank: see Shards::here.
template <class Message>
class Outbox {
  static_assert(std::is_trivially_copyable_v<Message>,
                "cohort: a message is sent byte by byte, so it must be trivially copyable");

 public:
  Outbox() = default;
  explicit Outbox(std::span<detail::Lane<Message>> lanes) : lanes_(lanes) {}

  template <class Group>
  void send(Group& group, std::uint32_t shard, const Message& message) const {
    detail::Lane<Message>& lane = lanes_[group.global_id()];
    lane.to[shard].push_back(message);
    ++lane.sent;
  }
  /// Sends a message to all other ranks. A checkpoint does not contain such messages: see
  /// `restored` in docs/ranks.md.
  template <class Group>
  void send_to_all(Group& group, const Message& message) const {
    detail::Lane<Message>& lane = lanes_[group.global_id()];
    lane.to_all.push_back(message);
    ++lane.sent;
  }

 private:
  std::span<detail::Lane<Message>> lanes_;
};

/// Two numbers on which all ranks vote in every exchange: a sum and a minimum. A kernel that wants
/// them has the member `tally`.
template <class Message>
class Tally {
 public:
  Tally() = default;
  template <class Part>
  explicit Tally(detail::RankMemory<Part, Message>& memory)
      : lanes_(memory.lanes), sum_(memory.sum), least_(memory.least) {}

  template <class Group>
  void add(Group& group, double value) const {
    lanes_[group.global_id()].sum += value;
  }
  /// Votes for a minimum. Also asks for another superstep.
  template <class Group>
  void lower(Group& group, std::uint64_t value) const {
    std::uint64_t& least = lanes_[group.global_id()].least;
    least = std::min(least, value);
  }
  /// The sum of all values that threads of all ranks passed to add() in the last superstep; 0 if
  /// there were none. least() is the minimum of the values passed to lower(); the largest number if
  /// there were none.
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] std::uint64_t least() const { return least_; }

 private:
  std::span<detail::Lane<Message>> lanes_;
  double sum_ = 0;
  std::uint64_t least_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace cohort
