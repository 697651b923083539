// Marks a job while a checkpoint of it is written without the engine's mutex: the job must not run,
// and its memory must stay.
#pragma once

#include <mutex>

namespace cohort::engine {

template <class Record>
class SavingMark {
 public:
  /// Releases the lock; the destructor takes it again.
  SavingMark(const Record& record, std::unique_lock<std::mutex>& lock)
      : record_(record), lock_(lock) {
    ++record_.saving;
    lock_.unlock();
  }
  SavingMark(const SavingMark&) = delete;
  SavingMark& operator=(const SavingMark&) = delete;
  ~SavingMark() {
    lock_.lock();
    --record_.saving;
    record_.changed.notify_all();
  }

 private:
  const Record& record_;
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace cohort::engine
