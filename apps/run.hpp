// What every app's host side does: launch its kernel with the resizing barrier that was asked for,
// and see it through. Invariant: when run() is left, by whatever way, no group touches the kernel's
// memory any more.
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "cohort/cpu.hpp"
#include "cohort/trace_check.hpp"

namespace cohort::apps {

/// What a job did, for the oracle.
struct JobTrace {
  JobTrace(std::size_t limit, const TraceRules& its_rules) : log(limit), rules(its_rules) {}

  TraceLog log;
  TraceRules rules;
  std::optional<Status> status = {};  ///< how it ended; nothing when it failed
};

/// How to run an app.
struct RunOptions {
  LaunchOptions launch;
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  /// Sees the job through to its end; may resize it meanwhile.
  std::function<Report(const Job&)> drive = [](const Job& job) { return job.wait(); };
  /// Records the app's jobs here, each at most so many events.
  std::deque<JobTrace>* traces = nullptr;
  std::size_t trace_limit = TraceLog::default_limit;
};

namespace detail {

template <ResizingBarrier barrier, class Kernel>
Report run_with(cpu::Engine& engine, const Kernel& kernel, const RunOptions& options) {
  constexpr Traits traits = [] {
    Traits result = Contract<Kernel>::traits;
    result.barrier = barrier;
    return result;
  }();
  LaunchOptions launch = options.launch;
  JobTrace* trace = nullptr;
  if (options.traces != nullptr) {
    const std::uint32_t groups = launch.max_groups.value_or(engine.capacity());
    trace = &options.traces->emplace_back(options.trace_limit, rules_of(traits, groups));
    if (!launch.resizable) trace->rules.start_groups = groups;
    launch.tracer = &trace->log;
  }
  const Job job = engine.launch(With<Kernel, traits>{kernel}, launch);
  try {
    Report report = options.drive(job);
    if (trace != nullptr) trace->status = report.status;
    return report;
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
