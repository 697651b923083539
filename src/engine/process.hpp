// Remembers in which process an engine was made. The engine's threads do not exist in a child of
// fork().
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "cohort/error.hpp"

namespace cohort::engine {

/// Compares the current process with the one in which this object was constructed.
class HomeProcess {
 public:
  /// Whether this process is a child of the one in which the object was constructed. In a child,
  /// the engine's threads do not run, and its mutex may be locked for ever.
  [[nodiscard]] bool left_behind() const { return forks() != made_in_; }
  /// Throws Error{engine_gone} in a child.
  void check(const char* call) const {
    if (!left_behind()) return;
    throw Error{Errc::engine_gone, std::string{call} +
                                       ": this process was forked from the one that made the "
                                       "engine, whose threads stayed there; make an engine here"};
  }

 private:
  /// The number of forks between the first process that called this and the current one.
  static std::uint32_t forks() {
    static std::atomic<std::uint32_t> count{0};
    static const int registered =
        ::pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
    static_cast<void>(registered);
    return count.load(std::memory_order_relaxed);
  }

  std::uint32_t made_in_ = forks();
};

}  // namespace cohort::engine
