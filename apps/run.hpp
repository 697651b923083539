// What every app's host side does: launch its kernel with the resizing barrier that was asked for,
// and see it through. Invariant: when run() is left, by whatever way, no group touches the kernel's
// memory any more.
#pragma once

#include <functional>
#include <thread>

#include "cohort/cpu.hpp"

namespace cohort::apps {

/// How to run an app.
struct RunOptions {
  LaunchOptions launch;
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  /// Sees the job through to its end; may resize it meanwhile.
  std::function<Report(const Job&)> drive = [](const Job& job) { return job.wait(); };
};

namespace detail {

template <ResizingBarrier barrier, class Kernel>
Report run_with(cpu::Engine& engine, const Kernel& kernel, const RunOptions& options) {
  constexpr Traits traits = [] {
    Traits result = Contract<Kernel>::traits;
    result.barrier = barrier;
    return result;
  }();
  const Job job = engine.launch(With<Kernel, traits>{kernel}, options.launch);
  try {
    return options.drive(job);
  } catch (...) {
    job.cancel();
    while (job.status() == Status::running) std::this_thread::yield();  // wait() might throw again
    throw;
  }
}

}  // namespace detail

/// Runs `kernel` to its end on `engine`.
template <class Kernel>
Report run(cpu::Engine& engine, const Kernel& kernel, const RunOptions& options) {
  switch (options.barrier) {
    case ResizingBarrier::query:
      return detail::run_with<ResizingBarrier::query>(engine, kernel, options);
    case ResizingBarrier::plain:
      return detail::run_with<ResizingBarrier::plain>(engine, kernel, options);
    case ResizingBarrier::modelled:
      return detail::run_with<ResizingBarrier::modelled>(engine, kernel, options);
    case ResizingBarrier::one_pass: break;
  }
  return detail::run_with<ResizingBarrier::one_pass>(engine, kernel, options);
}

}  // namespace cohort::apps
