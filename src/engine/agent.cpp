#include "engine/agent.hpp"

namespace cohort::engine {

void Agent::attend() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds at_once{5};  // a shorter time is not worth a sleep
  Dispatcher::Locked locked{dispatcher_, "engine"};
  const auto& backend = dispatcher_.backend();
  for (;;) {
    locked.perform_effects();
    if (!backend.busy()) {
      if (dispatcher_.stopping()) return;
      called_.wait(locked.lock(), [&] { return dispatcher_.stopping() || backend.busy(); });
      continue;
    }
    const std::chrono::microseconds pause = dispatcher_.look();
    locked.perform_effects();
    if (!backend.busy()) continue;  // idle until the next call, which may never come
    if (pause > at_once) {
      called_.wait_for(locked.lock(), pause);
      continue;
    }
    locked.lock().unlock();
    for (const auto until = Clock::now() + pause;
         Clock::now() < until || dispatcher_.callers() != 0;) {
      std::this_thread::yield();
    }
    locked.lock().lock();
  }
}

}  // namespace cohort::engine
