// The operations that ranks need to work together: votes, exchanges of parcels, growing and
// shrinking. They are implemented in one process (hub.hpp), in the explorer, and by MPI. Invariant:
// every function is collective, and all ranks call the same functions in the same order.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cohort/error.hpp"

namespace cohort::protocol {

using Bytes = std::vector<std::byte>;

/// One rank's contribution to the vote at the end of a superstep. The network adds the ballots of
/// all ranks.
struct Ballot {
  std::uint64_t more = 0;     ///< number of ranks that want another superstep
  std::uint64_t leaving = 0;  ///< number of ranks that were asked to leave
  std::uint64_t faults = 0;   ///< number of ranks that cannot continue
  std::uint64_t target = 0;   ///< from rank 0: the wanted number of ranks; 0 if unchanged
  std::uint64_t save = 0;     ///< from rank 0: write a checkpoint
  std::uint64_t suspend = 0;  ///< number of ranks that want a checkpoint and then the end
  /// The kernel's minimum, see Tally.
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  double sum = 0;  ///< the kernel's sum, see Tally

  Ballot& operator+=(const Ballot& other) {
    more += other.more;
    leaving += other.leaving;
    faults += other.faults;
    target += other.target;
    save += other.save;
    suspend += other.suspend;
    least = std::min(least, other.least);
    sum += other.sum;
    return *this;
  }
};

/// A function that receives each rank and the parcel from it. The network chooses the order of the
/// ranks.
template <class Arrival>
concept TakesParcel = std::invocable<Arrival&, std::uint32_t, Bytes>;

template <class N>
concept Network = requires(N& network, const N& view, const Ballot& ballot,
                           std::vector<Bytes> parcels, const std::vector<std::uint8_t>& stays,
                           void (*arrival)(std::uint32_t, Bytes)) {
  /// Dense ids, 0 to ranks() - 1.
  { view.rank() } -> std::same_as<std::uint32_t>;
  { view.ranks() } -> std::same_as<std::uint32_t>;
  /// Whether this rank was started by a grow(). Its first collective call is then an exchange().
  { view.joined() } -> std::same_as<bool>;
  /// The sum of all ballots.
  { network.vote(ballot) } -> std::same_as<Ballot>;
  /// Parcel i goes to rank i, including the own rank. Empty parcels are delivered too.
  network.exchange(std::move(parcels), arrival);
  /// Adds up to this many ranks, with the highest ids. Returns how many were added.
  { network.grow(std::uint32_t{}) } -> std::same_as<std::uint32_t>;
  /// Removes the ranks without `stays`. The ids of the remaining ranks become dense, in the same
  /// order.
  network.shrink(stays);
};

/// Writes values one after another into a parcel.
class ParcelWriter {
 public:
  explicit ParcelWriter(Bytes& into) : into_(into) {}

  template <class T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(std::as_bytes(std::span{&value, 1}));
  }
  /// Writes the number of elements, then the elements.
  template <class T>
  void list(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(std::uint64_t{items.size()});
    raw(std::as_bytes(items));
  }
  void list(const Bytes& items) { list(std::span{items}); }

 private:
  void raw(std::span<const std::byte> bytes) {
    // GCC 12 would warn of overflows in insert() that do not exist.
    const std::size_t at = into_.size();
    into_.resize(at + bytes.size());
    if (!bytes.empty()) std::memcpy(into_.data() + at, bytes.data(), bytes.size());
  }

  Bytes& into_;
};

/// Reads values in the order in which they were written. Throws Error{bad_file} if the parcel ends
/// too early.
class ParcelReader {
 public:
  explicit ParcelReader(std::span<const std::byte> from) : rest_(from) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  template <class T>
  T value() {
    T value;
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    return value;
  }
  template <class T>
  std::vector<T> list() {
    const auto count = value<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) too_short();
    std::vector<T> items(count);
    if (count != 0) {  // an empty vector may have no memory
      std::memcpy(static_cast<void*>(items.data()), take(count * sizeof(T)).data(),
                  count * sizeof(T));
    }
    return items;
  }

 private:
  [[noreturn]] static void too_short() {
    throw Error{Errc::bad_file, "a parcel or a file of a shard ends too early"};
  }
  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size()) too_short();
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::span<const std::byte> rest_;
};

}  // namespace cohort::protocol
