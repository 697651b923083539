// Handles SIGINT and SIGTERM: ends the program at once, or after a clean stop of the running
// command. Invariant: this object is created before all other threads. They inherit its blocked
// signals, so only its own thread receives signals.
#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace cohort::cli {

/// Handles signals. A signal ends the program at once, so no blocking read or long computation
/// delays the end. While a Graceful exists, the first signal only requests a stop; the second ends
/// the program.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// While such an object exists, the running command polls the stop token and ends cleanly.
  class Graceful {
   public:
    explicit Graceful(Interrupt& interrupt) : interrupt_(interrupt) {
      interrupt_.graceful_.fetch_add(1, std::memory_order_relaxed);
    }
    Graceful(const Graceful&) = delete;
    Graceful& operator=(const Graceful&) = delete;
    ~Graceful() { interrupt_.graceful_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    Interrupt& interrupt_;
  };

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// The signal received, or 0.
  [[nodiscard]] int signal() const { return signal_.load(std::memory_order_relaxed); }
  /// Restores the signal mask of the calling thread, before it executes another program: that
  /// program then gets signals as usual.
  void restore_signals() const { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  void listen();

  sigset_t before_{};
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::atomic<int> graceful_{0};
  std::atomic<bool> over_{false};
  std::thread listener_;
};

}  // namespace cohort::cli
