// Measures the cost of ranks on an MPI, with two ranks of this machine.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cohort::bench {

struct RanksPart {
  std::string input;
  std::uint32_t repetitions = 9;
};

/// Starts two ranks of this program. Returns their measurements, with tables as "text". If they
/// cannot run, the text says why.
[[nodiscard]] nlohmann::ordered_json measure_ranks(const RanksPart& part);

/// The main function of each of the two ranks. The first rank prints the result.
void run_ranks_part(const RanksPart& part);

}  // namespace cohort::bench
