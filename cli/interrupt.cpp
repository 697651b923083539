#include "cli/interrupt.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace cohort::cli {
namespace {

sigset_t watched() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t signals = watched();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  listener_ = std::thread{[this] { listen(); }};
}

Interrupt::~Interrupt() {
  over_.store(true, std::memory_order_relaxed);  // ordered by the signal below
  ::pthread_kill(listener_.native_handle(), SIGINT);
  listener_.join();
}

void Interrupt::listen() {
  const sigset_t signals = watched();
  for (;;) {
    int got = 0;
    if (::sigwait(&signals, &got) != 0) continue;
    if (over_.load(std::memory_order_relaxed)) return;
    const bool stoppable = graceful_.load(std::memory_order_relaxed) > 0;
    if (!stoppable || signal() != 0) ::_exit(128 + got);
    signal_.store(got, std::memory_order_relaxed);
    source_.request_stop();
  }
}

}  // namespace cohort::cli
