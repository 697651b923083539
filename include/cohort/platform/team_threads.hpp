// The collective functions of a group whose threads are fibres of one operating-system thread: each
// brings a slot to a meeting, and one action combines the slots.
// Invariant: an action runs once per meeting, after all threads of the group have come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "cohort/protocol/group.hpp"

namespace cohort::detail {

/// Base of one thread's view of its group, `Self`. `Self` has alone() and
/// meet(point, slot, act, context), which is not called for a group of one thread.
template <class Self>
class TeamThreads {
  using Point = protocol::Point;
  using Slots = std::span<void* const>;

 public:
  void barrier() const {
    if (!self().alone()) self().meet(Point::barrier, nullptr, nullptr, nullptr);
  }

  /// The leader calls `act` when all threads have arrived. Each thread gets the result.
  template <class Function>
  auto lead(Point point, Function act) const {
    if (self().alone()) [[likely]]
      return act();
    return lead_team(self(), point, false, [act](bool) { return act(); });
  }

  /// Like lead(), but `act` receives whether any thread passed true.
  template <class Function>
  auto lead_any(Point point, bool mine, Function act) const {
    if (self().alone()) [[likely]]
      return act(mine);
    return lead_team(self(), point, mine, act);
  }

  template <class T>
  T broadcast(T value, std::uint32_t from) const {
    if (self().alone()) return value;
    combine(self(), Point::broadcast, value, from, [](std::uint32_t source, Slots slots) {
      const T sent = *static_cast<T*>(slots[source]);
      for (void* each : slots) *static_cast<T*>(each) = sent;
    });
    return value;
  }

  template <class T, class Op>
  T reduce(T value, Op op) const {
    if (self().alone()) return value;
    combine(self(), Point::reduce, value, op, [](Op& add, Slots slots) {
      T sum = *static_cast<T*>(slots[0]);
      for (void* each : slots.subspan(1)) sum = add(sum, *static_cast<T*>(each));
      for (void* each : slots) *static_cast<T*>(each) = sum;
    });
    return value;
  }

  template <class T, class Op>
  T inclusive_scan(T value, Op op) const {
    if (self().alone()) return value;
    combine(self(), Point::scan, value, op, [](Op& add, Slots slots) {
      for (std::size_t i = 1; i < slots.size(); ++i) {
        T& here = *static_cast<T*>(slots[i]);
        here = add(*static_cast<T*>(slots[i - 1]), here);
      }
    });
    return value;
  }

  template <class T, class Op>
  T exclusive_scan(T value, T zero, Op op) const {
    if (self().alone()) return zero;
    combine(self(), Point::scan, value, std::pair{zero, op}, [](auto& with, Slots slots) {
      T before = with.first;
      for (void* each : slots) {
        const T here = *static_cast<T*>(each);
        *static_cast<T*>(each) = before;
        before = with.second(before, here);
      }
    });
    return value;
  }

 private:
  [[nodiscard]] const Self& self() const noexcept { return static_cast<const Self&>(*this); }

  /// Out of line and with arguments by value, so that the members of a group of one thread can stay
  /// in registers.
  template <class Function>
  [[gnu::noinline, gnu::cold]] static auto lead_team(Self self, Point point, bool mine,
                                                     Function act) {
    using Result = decltype(act(mine));
    struct Slot {
      bool said;
      Result result;
    } slot{mine, {}};
    combine(self, point, slot, act, [](auto& function, Slots slots) {
      bool any = false;
      for (void* each : slots) any |= static_cast<Slot*>(each)->said;
      const Result result = function(any);
      for (void* each : slots) static_cast<Slot*>(each)->result = result;
    });
    return slot.result;
  }

  /// A meeting. Its action is `Function{}(context, slots)`, with thread 0's context.
  template <class Slot, class Context, class Function>
  static void combine(const Self& self, Point point, Slot& slot, Context&& context,
                      Function /*stateless*/) {
    using Held = std::remove_reference_t<Context>;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): cast back by the action
    void* const held = const_cast<void*>(static_cast<const void*>(&context));
    self.meet(
        point, &slot, [](void* with, Slots slots) { Function{}(*static_cast<Held*>(with), slots); },
        held);
  }
};

}  // namespace cohort::detail
