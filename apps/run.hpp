// What every app's host side does: launch its kernel with the resizing barrier that was asked for,
// and see it through. Invariant: when run() is left, by whatever way, no group touches the kernel's
// memory any more.
#pragma once

#include <functional>
#include <thread>

#include "cohort/error.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"

namespace cohort::apps {

/// How to run an app.
struct RunOptions {
  LaunchOptions launch;
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  /// Sees the job through to its end; may resize it meanwhile.
  std::function<Report(const Job&)> drive = [](const Job& job) { return job.wait(); };
};

/// The most groups a run on `engine` can have.
template <class Engine>
std::uint32_t most_groups(const Engine& engine, const RunOptions& options) {
  return options.launch.max_groups.value_or(engine.capacity());
}

namespace detail {

template <class Engine, class Kernel>
Report see_through(Engine& engine, const Kernel& kernel, const RunOptions& options) {
  const Job job = engine.launch(kernel, options.launch);
  try {
    return options.drive(job);
  } catch (...) {
    job.cancel();
    while (job.status() == Status::running) std::this_thread::yield();  // wait() might throw again
    throw;
  }
}

template <ResizingBarrier barrier, class Engine, class Kernel>
Report run_with(Engine& engine, const Kernel& kernel, const RunOptions& options) {
  constexpr Traits traits = [] {
    Traits result = Contract<Kernel>::traits;
    result.barrier = barrier;
    return result;
  }();
  return see_through(engine, With<Kernel, traits>{kernel}, options);
}

/// Kernels that are also compiled with the paper's barriers say so; each costs a compilation.
template <class Kernel>
concept PaperBarriers = requires { requires Kernel::paper_barriers; };

}  // namespace detail

/// Runs `kernel` to its end on `engine`. Throws Error{bad_options} for a barrier it does not have.
template <class Engine, class Kernel>
Report run(Engine& engine, const Kernel& kernel, const RunOptions& options) {
  if (options.barrier == ResizingBarrier::one_pass)
    return detail::see_through(engine, kernel, options);
  if constexpr (detail::PaperBarriers<Kernel>) {
    switch (options.barrier) {
      case ResizingBarrier::query:
        return detail::run_with<ResizingBarrier::query>(engine, kernel, options);
      case ResizingBarrier::plain:
        return detail::run_with<ResizingBarrier::plain>(engine, kernel, options);
      default: return detail::run_with<ResizingBarrier::modelled>(engine, kernel, options);
    }
  }
  throw Error{Errc::bad_options,
              "this app and algorithm has the one-pass barrier only: leave the others to bfs"};
}

}  // namespace cohort::apps
