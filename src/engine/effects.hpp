// Work that an engine decides on under its mutex but does without it: calls of tracers, reads of a
// device's memory, destructors of kernels.
// Invariant: effects run one at a time, in the order in which they were added.
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
  /// Releases `item` without the mutex.
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
      // An effect of another engine may be running this one.
      const bool nested = std::exchange(in_effect(), true);
      effect();
      effect = nullptr;  // destroys what it captured
      in_effect() = nested;
      lock.lock();
    }
    performing_ = false;
  }

  /// Throws Error{bad_state} in an effect, and so in a tracer: a call that waits for a job would
  /// keep the engine from ever noticing that the job has ended.
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
