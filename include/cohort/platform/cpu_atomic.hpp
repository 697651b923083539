// Atomics of the CPU platform: the protocol's own words, and references for the words of kernels.
#pragma once

#include <atomic>

#include "cohort/kernel.hpp"

namespace cohort::cpu {

/// std::atomic with the protocol's orders. Every order stronger than relaxed is strengthened to
/// seq_cst, which costs nothing for loads and read-modify-writes on x86-64 and ARMv8. The sleepers'
/// count of Event relies on one total order of "change the word, then look for sleepers" and
/// "announce a sleeper, then look at the word".
template <class T>
class Atomic {
 public:
  constexpr Atomic() noexcept = default;
  constexpr Atomic(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T load(Order order) const noexcept { return value_.load(map(order)); }
  void store(T value, Order order) noexcept { value_.store(value, map(order)); }
  T exchange(T value, Order order) noexcept { return value_.exchange(value, map(order)); }
  T fetch_add(T value, Order order) noexcept { return value_.fetch_add(value, map(order)); }
  T fetch_sub(T value, Order order) noexcept { return value_.fetch_sub(value, map(order)); }
  T fetch_or(T value, Order order) noexcept { return value_.fetch_or(value, map(order)); }
  T fetch_and(T value, Order order) noexcept { return value_.fetch_and(value, map(order)); }
  bool compare_exchange(T& expected, T desired, Order order) noexcept {
    return value_.compare_exchange_strong(expected, desired, map(order), std::memory_order_relaxed);
  }

 private:
  static constexpr std::memory_order map(Order order) noexcept {
    return order == Order::relaxed ? std::memory_order_relaxed : std::memory_order_seq_cst;
  }

  std::atomic<T> value_{};
};

/// One word of a kernel's memory, accessed atomically: the result of group.atomic(word).
template <class T>
class AtomicRef {
 public:
  explicit AtomicRef(T& word) noexcept : word_(word) {}

  [[nodiscard]] T load(Order order = Order::relaxed) const noexcept {
    return word_.load(order == Order::relaxed ? std::memory_order_relaxed
                                              : std::memory_order_acquire);
  }
  void store(T value, Order order = Order::relaxed) const noexcept {
    word_.store(value,
                order == Order::relaxed ? std::memory_order_relaxed : std::memory_order_release);
  }
  T exchange(T value, Order order = Order::relaxed) const noexcept {
    return word_.exchange(value, map(order));
  }
  /// On failure, `expected` becomes the value found.
  bool compare_exchange(T& expected, T desired, Order order = Order::relaxed) const noexcept {
    return word_.compare_exchange_strong(expected, desired, map(order));
  }
  T fetch_add(T value, Order order = Order::relaxed) const noexcept {
    return word_.fetch_add(value, map(order));
  }
  T fetch_sub(T value, Order order = Order::relaxed) const noexcept {
    return word_.fetch_sub(value, map(order));
  }
  T fetch_or(T value, Order order = Order::relaxed) const noexcept {
    return word_.fetch_or(value, map(order));
  }
  T fetch_and(T value, Order order = Order::relaxed) const noexcept {
    return word_.fetch_and(value, map(order));
  }
  /// Only reads if the word is already small enough.
  T fetch_min(T value, Order order = Order::relaxed) const noexcept {
    T seen = load(order);
    while (value < seen && !word_.compare_exchange_weak(seen, value, map(order))) {
    }
    return seen;
  }
  T fetch_max(T value, Order order = Order::relaxed) const noexcept {
    T seen = load(order);
    while (seen < value && !word_.compare_exchange_weak(seen, value, map(order))) {
    }
    return seen;
  }

 private:
  static constexpr std::memory_order map(Order order) noexcept {
    switch (order) {
      case Order::relaxed: return std::memory_order_relaxed;
      case Order::acquire: return std::memory_order_acquire;
      case Order::release: return std::memory_order_release;
      case Order::acq_rel: break;
    }
    return std::memory_order_acq_rel;
  }

  std::atomic_ref<T> word_;
};

}  // namespace cohort::cpu
