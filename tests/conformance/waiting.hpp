// Functions that wait for jobs, for tests of any engine. Only ctest limits the time, because a
// machine may be busy.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "cohort/job.hpp"

namespace cohort::test {

using namespace std::chrono_literals;

/// Waits until `done()`. Yields the CPU to the threads that make it true.
template <class Done>
void await(Done done) {
  while (!done()) std::this_thread::sleep_for(20us);
}

inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}

/// A job that ends before the objects to which its kernel refers, however the test ends.
class ScopedJob : public Job {
 public:
  ScopedJob(Job job) : Job(std::move(job)) {}  // implicit, for `= engine.launch(...)`
  ScopedJob(const ScopedJob&) = delete;
  ScopedJob& operator=(const ScopedJob&) = delete;
  ~ScopedJob() {
    cancel();
    await([this] { return at_rest(status()); });
  }
};

/// The last M in the job's report.
inline std::uint32_t groups_now(const Job& job) {
  const Report report = job.report();
  return report.sizes.empty() ? 0 : report.sizes.back().groups;
}

}  // namespace cohort::test
