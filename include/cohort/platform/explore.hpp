// The explorer's platform: every atomic access is a scheduling point, and every thread of every
// group is a fibre of one operating-system thread.
// Invariant: outside a run the same types are plain memory, so that hosts and tests can set things
// up without a schedule.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "cohort/platform/team_threads.hpp"
#include "cohort/protocol/group.hpp"
#include "cohort/trace.hpp"

namespace cohort::explore {

/// Thrown through a kernel to end it. A kernel that catches all exceptions must rethrow this one.
struct Unwind {};

namespace detail {

/// One atomic word. The explorer keeps everything else about it per run, under `slot`.
struct Location {
  std::uint64_t value = 0;
  mutable std::uint32_t slot = 0;
  mutable std::uint32_t run = 0;  // the run in which `slot` was assigned; 0 if none
  bool in_kernel = false;         // a word of the kernel's memory, not of the protocol
};

/// A line of a kernel's source. Not std::source_location: Clang 14 does not have it.
struct SourceLine {
  const char* file = nullptr;  ///< null if not known
  std::uint32_t line = 0;

  static constexpr SourceLine here(const char* file = __builtin_FILE(),
                                   std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

// Accesses of the running thread. Each is first a scheduling point, and then takes effect.
[[nodiscard]] std::uint64_t load(const Location& location, Order order);
void store(Location& location, std::uint64_t value, Order order);
/// The first half of a read-modify-write: the latest value.
[[nodiscard]] std::uint64_t begin_update(Location& location, Order order);
/// The second half. There is no scheduling point in between. `changes` is false for a swap that
/// failed.
void end_update(Location& location, std::uint64_t value, Order order, bool changes);
/// A fence, both acquire and release. It is not a scheduling point, because it only changes the
/// meaning of the thread's own accesses.
void fence();
/// One of the values 0 to `options` - 1, chosen by the schedule.
[[nodiscard]] std::uint32_t choose(std::uint32_t options);

/// The explorer's word for a word of a kernel's memory. Its value is updated from that memory.
[[nodiscard]] Location& word_at(const void* memory, std::size_t bytes, SourceLine source);
/// A plain access, to be checked for races with all others.
void touch(const void* memory, std::size_t bytes, bool writes, SourceLine source = {});

/// Waits until `done(context)`. With `timed` it may give up and return false.
bool await(Location& event, bool timed, bool (*done)(void* context), void* context);
void notify(Location& event);

/// The action of a meeting of a group's threads. It runs once, with every thread's slot.
using Act = void (*)(void* context, std::span<void* const> slots);
void meet(std::uint32_t team, std::uint32_t local_id, protocol::Point point, void* slot, Act act,
          void* context);

void record(Trace what, std::uint32_t group, std::uint32_t active, std::uint64_t value);

template <class T>
std::uint64_t pack(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t),
                "cohort: an atomic word is trivially copyable and has at most 8 bytes");
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}
template <class T>
T unpack(std::uint64_t word) {
  T value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

/// Read-modify-writes, made of the two halves. `Word` provides the location.
template <class T, class Word>
class Updates {
 public:
  template <class Change>
  T update(Change change, Order order, SourceLine source = {}) const {
    Location& location = word().location(source);
    const T old = unpack<T>(begin_update(location, order));
    const T next = change(old);
    end_update(location, pack(next), order, true);
    word().written(next);
    return old;
  }
  bool swap_if(T& expected, T desired, Order order, SourceLine source = {}) const {
    Location& location = word().location(source);
    const T old = unpack<T>(begin_update(location, order));
    const bool same = old == expected;
    end_update(location, pack(same ? desired : old), order, same);
    if (same) {
      word().written(desired);
    } else {
      expected = old;
    }
    return same;
  }

 private:
  const Word& word() const { return static_cast<const Word&>(*this); }
};

}  // namespace detail

/// An atomic word of the protocol.
template <class T>
class Atomic : private detail::Updates<T, Atomic<T>> {
  friend detail::Updates<T, Atomic<T>>;

 public:
  Atomic() noexcept : Atomic(T{}) {}
  Atomic(T value) noexcept : location_{detail::pack(value)} {}  // NOLINT: as std::atomic

  [[nodiscard]] T load(Order order) const {
    return detail::unpack<T>(detail::load(location_, order));
  }
  void store(T value, Order order) { detail::store(location_, detail::pack(value), order); }
  T exchange(T value, Order order) {
    return this->update([value](T) { return value; }, order);
  }
  T fetch_add(T value, Order order) {
    return this->update([value](T old) { return static_cast<T>(old + value); }, order);
  }
  T fetch_sub(T value, Order order) {
    return this->update([value](T old) { return static_cast<T>(old - value); }, order);
  }
  T fetch_or(T value, Order order) {
    return this->update([value](T old) { return static_cast<T>(old | value); }, order);
  }
  T fetch_and(T value, Order order) {
    return this->update([value](T old) { return static_cast<T>(old & value); }, order);
  }
  bool compare_exchange(T& expected, T desired, Order order) {
    return this->swap_if(expected, desired, order);
  }

  /// The latest value, for code outside the schedule.
  [[nodiscard]] T peek() const noexcept { return detail::unpack<T>(location_.value); }
  [[nodiscard]] const detail::Location& where() const noexcept { return location_; }
  /// Sets it outside the schedule.
  void reset(T value) noexcept { location_ = {.value = detail::pack(value)}; }

 private:
  [[nodiscard]] detail::Location& location(detail::SourceLine /*source*/) const {
    return location_;
  }
  void written(T /*value*/) const {}

  mutable detail::Location location_;
};

/// One word of a kernel's memory, accessed atomically: the result of group.atomic(word). Each
/// access records its line of the kernel's source, for reports.
template <class T>
class AtomicRef : private detail::Updates<T, AtomicRef<T>> {
  friend detail::Updates<T, AtomicRef<T>>;
  using Source = detail::SourceLine;

 public:
  explicit AtomicRef(T& word) noexcept : word_(&word) {}

  [[nodiscard]] T load(Order order = Order::relaxed, Source source = Source::here()) const {
    return detail::unpack<T>(detail::load(location(source), order));
  }
  void store(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    detail::store(location(source), detail::pack(value), order);
    written(value);
  }
  T exchange(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T) { return value; }, order, source);
  }
  bool compare_exchange(T& expected, T desired, Order order = Order::relaxed,
                        Source source = Source::here()) const {
    return this->swap_if(expected, desired, order, source);
  }
  T fetch_add(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T old) { return static_cast<T>(old + value); }, order, source);
  }
  T fetch_sub(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T old) { return static_cast<T>(old - value); }, order, source);
  }
  T fetch_or(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T old) { return static_cast<T>(old | value); }, order, source);
  }
  T fetch_and(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T old) { return static_cast<T>(old & value); }, order, source);
  }
  T fetch_min(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T old) { return value < old ? value : old; }, order, source);
  }
  T fetch_max(T value, Order order = Order::relaxed, Source source = Source::here()) const {
    return this->update([value](T old) { return old < value ? value : old; }, order, source);
  }

 private:
  [[nodiscard]] detail::Location& location(Source source) const {
    return detail::word_at(word_, sizeof(T), source);
  }
  void written(T value) const { *word_ = value; }

  T* word_;
};

/// One element of a View. Each use is a read or a write that is checked for races.
template <class T>
class Element {
  using Value = std::remove_const_t<T>;

 public:
  Element(T* item, detail::SourceLine source) noexcept : item_(item), source_(source) {}
  Element(const Element&) = default;
  ~Element() = default;

  operator Value() const { return get(); }  // NOLINT: stands for the value
  const Element& operator=(const Value& value) const {
    detail::touch(item_, sizeof(T), true, source_);
    *item_ = value;
    return *this;
  }
  const Element& operator=(const Element& other) const {  // NOLINT: assigns what it stands for
    return *this = other.get();
  }
  const Element& operator+=(const Value& value) const { return *this = get() + value; }
  const Element& operator-=(const Value& value) const { return *this = get() - value; }
  const Element& operator|=(const Value& value) const { return *this = get() | value; }
  const Element& operator&=(const Value& value) const { return *this = get() & value; }
  const Element& operator++() const { return *this = static_cast<Value>(get() + 1); }
  const Element& operator--() const { return *this = static_cast<Value>(get() - 1); }
  Value operator++(int) const {
    const Value old = get();
    *this = static_cast<Value>(old + 1);
    return old;
  }
  Value operator--(int) const {
    const Value old = get();
    *this = static_cast<Value>(old - 1);
    return old;
  }

  /// Access to a member of a structure. It counts as an access to the whole structure.
  class Arrow {
   public:
    explicit Arrow(T* item) noexcept : item_(item) {}
    T* operator->() const noexcept { return item_; }

   private:
    T* item_;
  };
  Arrow operator->() const {
    detail::touch(item_, sizeof(T), !std::is_const_v<T>, source_);
    return Arrow{item_};
  }

 private:
  [[nodiscard]] Value get() const {
    detail::touch(item_, sizeof(T), false, source_);
    return *item_;
  }

  T* item_;
  detail::SourceLine source_;
};

/// An index and the source line of its use. A class, because operator[] cannot have a second
/// parameter.
struct Index {
  template <class Value>
  Index(const Value& its_value,  // NOLINT(google-explicit-constructor): stands for the value
        detail::SourceLine its_source = detail::SourceLine::here())
      : value(static_cast<std::size_t>(its_value)), source(its_source) {}

  std::size_t value;
  detail::SourceLine source;
};

/// An array whose plain accesses are checked for races: the result of group.view(pointer).
template <class T>
class View {
 public:
  explicit View(T* items) noexcept : items_(items) {}

  Element<T> operator[](const Index& i) const { return {items_ + i.value, i.source}; }
  Element<T> operator*() const { return {items_, {}}; }
  auto operator->() const { return Element<T>{items_, {}}.operator->(); }
  View operator+(std::ptrdiff_t offset) const { return View{items_ + offset}; }
  View operator-(std::ptrdiff_t offset) const { return View{items_ - offset}; }
  explicit operator bool() const noexcept { return items_ != nullptr; }

 private:
  T* items_;
};

/// A place to wait.
struct Event {
  detail::Location word;  // counts notifications, if waiters sleep until they are notified
};

/// One thread's view of its group's threads.
class Threads : public cohort::detail::TeamThreads<Threads> {
 public:
  Threads() noexcept = default;
  Threads(std::uint32_t team, std::uint32_t local_id, std::uint32_t local_size) noexcept
      : team_(team), local_id_(local_id), local_size_(local_size) {}

  [[nodiscard]] std::uint32_t local_id() const noexcept { return local_id_; }
  [[nodiscard]] std::uint32_t local_size() const noexcept { return local_size_; }
  [[nodiscard]] bool alone() const noexcept { return local_size_ == 1; }

  template <class Ref>
  auto claim(Ref counter) const {
    // Without a source line, since it would be this line.
    return counter.fetch_add(1, Order::relaxed, {});
  }

  void meet(protocol::Point point, void* slot, detail::Act act, void* context) const {
    detail::meet(team_, local_id_, point, slot, act, context);
  }

 private:
  std::uint32_t team_ = 0;
  std::uint32_t local_id_ = 0;
  std::uint32_t local_size_ = 1;
};

/// Passes events to the explorer, which checks and prints them.
struct Recorder {
  void record(Trace what, std::uint32_t group, std::uint32_t active, std::uint64_t value) const {
    detail::record(what, group, active, value);
  }
};

/// Empty: a run has no time, so nothing is sampled.
struct Sampler {};
class Probe {
 public:
  explicit Probe(const Threads& threads) noexcept
      : leads_(threads.local_id() == 0), alone_(threads.alone()) {}

  /// Called at an offer. Returns true if the offer has to take the longer path. As on the CPU, a
  /// group of one thread may take the short one.
  template <class Member>
  bool offer(Member& member) const {
    // Otherwise the protocol refuses the offer.
    if (leads_ && !member.left) member.trace(Trace::offer);
    return !alone_;
  }

 private:
  bool leads_;
  bool alone_;
};

/// Everything that the protocol requires of a platform.
struct Platform {
  template <class T>
  using Atomic = explore::Atomic<T>;
  template <class T>
  using AtomicRef = explore::AtomicRef<T>;
  using Event = explore::Event;
  using Threads = explore::Threads;
  using Recorder = explore::Recorder;
  using Sampler = explore::Sampler;
  using Probe = explore::Probe;

  template <class Done>
  static void await(Event& event, Done&& done) {
    detail::await(event.word, false, &call<std::remove_cvref_t<Done>>, context_of(done));
  }
  template <class Done>
  static bool await_for(Event& event, std::uint64_t /*nanoseconds*/, Done&& done) {
    return detail::await(event.word, true, &call<std::remove_cvref_t<Done>>, context_of(done));
  }
  static void notify(Event& event) { detail::notify(event.word); }
  template <class T>
  static View<T> view(T* memory) noexcept {
    return View<T>{memory};
  }
  static void watch(const void* item, bool writes) { detail::touch(item, 1, writes); }
  template <class Shared>
  static std::uint32_t less_demands(const Shared& /*shared*/, std::uint32_t share) noexcept {
    return share;
  }
  [[noreturn]] static void unwind() { throw Unwind{}; }

 private:
  template <class Done>
  static void* context_of(Done& done) {
    return const_cast<void*>(static_cast<const void*>(&done));  // NOLINT: call() casts it back
  }
  template <class Done>
  static bool call(void* done) {
    return (*static_cast<Done*>(done))();
  }
};

/// Whether group 0 arrived at its last barrier without reading the target.
struct LastLook {
  mutable bool skipped = false;
};

/// A platform like a GPU's, for which the protocol has its own branches. One fence serves many
/// ordered accesses. At barriers only group 0 reads the target, before it arrives or while it
/// waits.
struct FencedPlatform : Platform {
  using Sampler = LastLook;
  using Platform::await;

  static void fence() { detail::fence(); }

  /// Whether to skip a reading. The schedule decides, but never skips two in a row.
  template <class Member>
  static bool looks(const Member& member) {
    if (member.id != 0) return false;
    bool& skipped = member.sampler.skipped;
    skipped = !skipped && detail::choose(2) == 1;
    return !skipped;
  }
  template <class Done, class Meanwhile>
  static void await(Event& event, Done&& done, const Meanwhile& meanwhile) {
    if (detail::choose(2) == 1) meanwhile();
    await(event, done);
  }
};

}  // namespace cohort::explore
