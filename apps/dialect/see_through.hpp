// What the host sides of the dialect's apps share: to launch a kernel whose arguments are set, and
// see the job through. Invariant: afterwards no group touches its memory.
#pragma once

#include "apps/outcome.hpp"
#include "cohort/program.hpp"

namespace cohort::apps::detail {

using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

template <class Engine>
Report see_through(Engine& engine, const ProgramKernel& kernel, const RunOptions& options) {
  if (options.barrier != ResizingBarrier::one_pass || options.traces != nullptr) {
    throw Error{Errc::bad_options,
                "the apps of the dialect have the one-pass barrier only, and keep no traces for "
                "--check-trace"};
  }
  LaunchOptions launch = options.launch;
  launch.local_size = threads_per_group<Engine>(options);
  return drive(kernel.launch(engine, launch), options);
}

}  // namespace cohort::apps::detail
