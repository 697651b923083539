#include "cohort/periodic.hpp"

namespace cohort {

void Periodic::note(const TaskReport& served, std::chrono::steady_clock::time_point started,
                    bool late) {
  const auto in_ns = [](std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(time.count());
  };
  const std::lock_guard lock{mutex_};
  late_ += late ? 1 : 0;
  gather_.add(in_ns(served.gather));
  run_time_.add(in_ns(served.run_time));
  if (count_++ > 0) period_.add(in_ns(started - last_start_));
  last_start_ = started;
}

PeriodicReport Periodic::report() const {
  const std::lock_guard lock{mutex_};
  return {.count = count_,
          .late = late_,
          .gather = gather_.summary(),
          .run_time = run_time_.summary(),
          .period = period_.summary()};
}

PeriodicReport Periodic::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return report();
}

}  // namespace cohort
