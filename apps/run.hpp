// Shared by every app's host side: launches its kernel with the requested resizing barrier, and
// waits for it. Invariant: after run() has returned or thrown, no group touches the kernel's
// memory.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <thread>

#include "cohort/buffer.hpp"
#include "cohort/checkpoint.hpp"
#include "cohort/error.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/trace_check.hpp"

namespace cohort::cuda {
class Engine;
}
namespace cohort::explore {
class Engine;
}

namespace cohort::apps {

/// The trace of a job, for the trace checker.
struct JobTrace {
  JobTrace(std::size_t limit, const TraceRules& its_rules) : log(limit), rules(its_rules) {}

  TraceLog log;
  TraceRules rules;
  std::optional<Status> status = {};  ///< the job's final status; empty if the job failed
};

/// Whether an engine gets the paper's algorithms, pools and barriers in addition to ours. Each
/// needs a compilation, which is slow for some engines.
template <class Engine>
inline constexpr bool has_paper_variants = true;
template <>
inline constexpr bool has_paper_variants<explore::Engine> = false;
template <class Engine>
inline constexpr bool has_paper_barriers = has_paper_variants<Engine>;

[[noreturn]] inline void refuse_paper_variant() {
  throw Error{Errc::bad_options,
              "this engine has our own algorithms and barriers only; use --engine cpu for the "
              "paper's"};
}

/// How to run an app.
struct RunOptions {
  LaunchOptions launch;
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  /// Waits for the job's end; may resize it meanwhile.
  std::function<Report(const Job&)> drive = [](const Job& job) { return job.wait(); };
  /// Whether to read back the result. If not, the outcome is only the report.
  bool results = true;
  /// Gives the job's memory the same layout for every engine, local size and number of groups, so
  /// that its checkpoint can be continued elsewhere. With work stealing, only for the same
  /// max_groups: each group has a pool.
  bool movable = false;
  /// The checkpoint of a movable job to continue, with the same input.
  std::filesystem::path restore = {};
  /// If set, the app's jobs are recorded here, with at most trace_limit events each.
  std::deque<JobTrace>* traces = nullptr;
  std::size_t trace_limit = TraceLog::default_limit;
};

/// Default threads per group of an app.
template <class Engine>
inline constexpr std::uint32_t default_local_size = 1;
template <>
inline constexpr std::uint32_t default_local_size<cuda::Engine> = 256;

template <class Engine>
std::uint32_t threads_per_group(const RunOptions& options) {
  return options.launch.local_size.value_or(default_local_size<Engine>);
}

/// Upper limit on the groups of a run on `engine`; apps allocate memory for that many. Throws
/// Error{bad_options} for more groups than any engine supports.
template <class Engine>
std::uint32_t most_groups(const Engine& engine, const RunOptions& options) {
  const std::uint32_t groups = options.launch.max_groups.value_or(engine.capacity());
  if (groups < 1 || groups > max_groups_limit) {
    throw Error{Errc::bad_options, "max_groups = " + std::to_string(groups) + "; it can be 1 to " +
                                       std::to_string(max_groups_limit)};
  }
  return groups;
}

/// Memory that the job writes before it reads it. It is filled with a value only if checkpoints
/// contain it.
template <class T, class Engine>
Buffer<T> memory_for(Engine& engine, std::size_t count, const RunOptions& options) {
  return options.movable ? engine.template fill<T>(count, T{}) : engine.template allocate<T>(count);
}

namespace detail {

/// Runs options.drive; cancels the job if it throws.
inline Report drive(const Job& job, const RunOptions& options) {
  try {
    return options.drive(job);
  } catch (...) {
    job.cancel();
    // Poll instead of wait(), which might throw again.
    while (job.status() == Status::running) std::this_thread::yield();
    throw;
  }
}

template <class Engine, class Kernel>
Job start(Engine& engine, const Kernel& kernel, const LaunchOptions& launch,
          const RunOptions& options) {
  constexpr bool restores = requires { engine.restore(kernel, options.restore, launch); };
  if (options.movable && !restores)
    throw Error{Errc::bad_options, "this engine has no checkpoints of apps; cpu and cuda have"};
  if (options.movable && !launch.resizable)
    throw Error{Errc::bad_options, "a static launch has no checkpoints, since no group leaves"};
  if constexpr (restores && NamesBuffers<Kernel>) {
    if (!options.restore.empty()) return engine.restore(kernel, options.restore, launch);
  } else if (options.movable) {
    throw Error{Errc::bad_options,
                "the paper's algorithm has no checkpoints; the app's default algorithm has"};
  }
  return engine.launch(kernel, launch);
}

/// Calls `start(launch options)` and waits for the end of the job that it returns. Records the
/// job's trace where the options ask for traces.
template <class Engine, class Start>
Report see_through(Engine& engine, const Traits& traits, const RunOptions& options, Start start) {
  LaunchOptions launch = options.launch;
  launch.local_size = threads_per_group<Engine>(options);
  JobTrace* trace = nullptr;
  if (options.traces != nullptr) {
    const std::uint32_t groups = most_groups(engine, options);
    trace = &options.traces->emplace_back(options.trace_limit, rules_of(traits, groups));
    if (!launch.resizable) trace->rules.start_groups = groups;
    launch.tracer = &trace->log;
  }
  Report report = drive(start(launch), options);
  if (trace != nullptr) trace->status = report.status;
  return report;
}

template <class Engine, class Kernel>
Report see_through(Engine& engine, const Kernel& kernel, const RunOptions& options) {
  if (!options.restore.empty() && !options.movable)
    throw Error{Errc::bad_options, "only a movable run can continue from a checkpoint"};
  return see_through(engine, Contract<Kernel>::traits, options, [&](const LaunchOptions& launch) {
    return start(engine, kernel, launch, options);
  });
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

/// Whether a kernel is also compiled with the paper's barriers. Each barrier needs a compilation.
template <class Kernel>
concept PaperBarriers = requires {
  requires Kernel::paper_barriers;
};

}  // namespace detail

/// Runs `kernel` to its end on `engine`. Throws Error{bad_options} for a barrier that the kernel
/// does not have.
template <class Engine, class Kernel>
Report run(Engine& engine, const Kernel& kernel, const RunOptions& options) {
  if (options.barrier == ResizingBarrier::one_pass)
    return detail::see_through(engine, kernel, options);
  if constexpr (!has_paper_barriers<Engine>) refuse_paper_variant();
  if constexpr (has_paper_barriers<Engine> && detail::PaperBarriers<Kernel>) {
    switch (options.barrier) {
      case ResizingBarrier::query:
        return detail::run_with<ResizingBarrier::query>(engine, kernel, options);
      case ResizingBarrier::plain:
        return detail::run_with<ResizingBarrier::plain>(engine, kernel, options);
      default: return detail::run_with<ResizingBarrier::modelled>(engine, kernel, options);
    }
  }
  throw Error{
      Errc::bad_options,
      "this app and algorithm has the one-pass barrier only; graph apps with algorithm=paper have "
      "the others"};
}

}  // namespace cohort::apps
