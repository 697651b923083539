#include "bench/scenario.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "bench/barrier.hpp"
#include "bench/gather.hpp"
#include "bench/read.hpp"

namespace cohort::bench {
namespace {

constexpr std::array known{
    Scenario{.name = "barrier",
             .summary = "barriers and offers with nothing pending, beside std::barrier and OpenMP",
             .run = &barrier_scenario},
    Scenario{.name = "gather",
             .summary = "how long a demand for workers waits, by kill order; kill against yield",
             .run = &gather_scenario},
    Scenario{
        .name = "read",
        .summary = "graph files, by format; beside decompression alone and a pass over the text",
        .run = &read_scenario},
};

}  // namespace

std::span<const Scenario> scenarios() { return known; }

}  // namespace cohort::bench
