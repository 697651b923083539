// cohort run --engine mpi: an app on the ranks of an MPI job.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/ranks/ranked_run.hpp"
#include "cli/interrupt.hpp"

namespace cohort::cli {

/// Runs this rank's part. Rank 0 prints the outcome. SIGUSR1 and SIGTERM make a rank leave at the
/// end of its superstep. Returns the exit status.
int run_ranks(apps::RankedRun run, std::optional<std::uint32_t> capacity, Interrupt& interrupt);

}  // namespace cohort::cli
