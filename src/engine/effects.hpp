// Deferred work: decided under the engine's mutex, but done without it. Examples are calls of
// tracers, reads of a device's memory and destructors of kernels. Invariant: effects run one at a
// time, in the order in which they were added.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cohort/error.hpp"

namespace cohort::engine {

class Effects {
 public:
  using Effect = std::function<void()>;

  void add(Effect effect) { waiting_.push_back(std::move(effect)); }
  /// Drops the reference to `item` later, without the mutex.
  void drop(std::shared_ptr<void> item) { dropped_.push_back(std::move(item)); }

  /// Runs the pending effects. Releases the lock meanwhile; it is held again on return. If another
  /// thread is running effects, that thread runs these too.
  void perform(std::unique_lock<std::mutex>& lock) {
    if (!dropped_.empty()) {
      std::vector<std::shared_ptr<void>> items = std::exchange(dropped_, {});
      lock.unlock();
      items.clear();
      lock.lock();
    }
    if (performing_) return;
    performing_ = true;
    while (!waiting_.empty()) {
      Effect effect = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      // True if this thread is already running an effect, possibly of another engine.
      const bool nested = std::exchange(in_effect(), true);
      effect();
      effect = nullptr;  // destroys the effect's captures
      in_effect() = nested;
      lock.lock();
    }
    performing_ = false;
  }

  /// Throws Error{bad_state} if this thread runs an effect, such as a call of a tracer: a wait for
  /// a job here would keep the engine from noticing the job's end.
  static void refuse_wait(const char* call) {
    if (!in_effect()) return;
    throw Error{Errc::bad_state,
                std::string{call} + ": called by a tracer, which must not wait for a job"};
  }

 private:
  static bool& in_effect() {
    static thread_local bool in = false;
    return in;
  }

  std::deque<Effect> waiting_;
  std::vector<std::shared_ptr<void>> dropped_;
  bool performing_ = false;
};

}  // namespace cohort::engine
