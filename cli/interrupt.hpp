// Ctrl-C and SIGTERM as a stop token. Invariant: all other threads are started after it and have
// these signals blocked, so they arrive here and nowhere else.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace cohort::cli {

/// The first signal requests a stop; the second ends the program at once.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// The signal that came, or 0.
  [[nodiscard]] int signal() const { return signal_.load(std::memory_order_relaxed); }

 private:
  void listen();

  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::atomic<bool> over_{false};
  std::thread listener_;
};

}  // namespace cohort::cli
