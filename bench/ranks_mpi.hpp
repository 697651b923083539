// What ranks cost on an MPI, measured on two ranks of this machine.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cohort::bench {

struct RanksPart {
  std::string input;
  std::uint32_t repetitions = 9;
};

/// Starts two ranks of this program. Returns what they measured, with tables as "text"; where they
/// cannot run, the text says why.
[[nodiscard]] nlohmann::ordered_json measure_ranks(const RanksPart& part);

/// One of the two ranks; the first one prints the result.
void run_ranks_part(const RanksPart& part);

}  // namespace cohort::bench
