// Waiting for jobs, for tests of any engine. Only ctest limits the time: a machine may be busy.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "cohort/job.hpp"

namespace cohort::test {

using namespace std::chrono_literals;

/// Waits until `done()`, and leaves the CPU to the threads that bring it about.
template <class Done>
void await(Done done) {
  while (!done()) std::this_thread::sleep_for(20us);
}

inline bool at_rest(Status status) {
  return status != Status::pending && status != Status::running;
}

/// A job that does not outlive what its kernel refers to, however its test ends.
class ScopedJob : public Job {
 public:
  ScopedJob(Job job) : Job(std::move(job)) {}  // so that `= engine.launch(...)` makes one
  ScopedJob(const ScopedJob&) = delete;
  ScopedJob& operator=(const ScopedJob&) = delete;
  ~ScopedJob() {
    cancel();
    await([this] { return at_rest(status()); });
  }
};

/// The last M in the report.
inline std::uint32_t groups_now(const Job& job) {
  const Report report = job.report();
  return report.sizes.empty() ? 0 : report.sizes.back().groups;
}

}  // namespace cohort::test
