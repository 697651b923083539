#include "bench/scenario.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "bench/barrier.hpp"

namespace cohort::bench {
namespace {

constexpr std::array known{
    Scenario{.name = "barrier",
             .summary = "barriers and offers with nothing pending, beside std::barrier and OpenMP",
             .run = &barrier_scenario},
};

}  // namespace

std::span<const Scenario> scenarios() { return known; }

}  // namespace cohort::bench
