// A job that runs until the test ends it. Its groups offer to leave all the time.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "cohort/cpu.hpp"

namespace cohort::test {

struct Endless {
  struct State {};

  const std::atomic<bool>* over;

  template <class Group>
  void run(Group& group, State& state) const {
    while (!over->load(std::memory_order_relaxed)) {
      if (group.offer(state)) return;
      std::this_thread::sleep_for(std::chrono::microseconds{20});
    }
  }
};

/// Runs the job during the lifetime of this object.
class EndlessJob {
 public:
  explicit EndlessJob(cpu::Engine& engine, const LaunchOptions& options = {})
      : job_(engine.launch(Endless{&over_}, options)) {}
  EndlessJob(const EndlessJob&) = delete;
  EndlessJob& operator=(const EndlessJob&) = delete;
  ~EndlessJob() {
    over_.store(true, std::memory_order_relaxed);
    job_.wait();
  }

  [[nodiscard]] std::uint32_t groups() const {
    const auto sizes = job_.report().sizes;
    return sizes.empty() ? 0 : sizes.back().groups;
  }
  [[nodiscard]] const Job& job() const { return job_; }

 private:
  std::atomic<bool> over_{false};
  Job job_;
};

/// Polls until `done()`, for at most a minute.
template <class Done>
bool eventually(Done done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

}  // namespace cohort::test
