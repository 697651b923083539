#include "bench/scenario.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "bench/barrier.hpp"
#include "bench/cpu.hpp"
#include "bench/gather.hpp"
#include "bench/multitask.hpp"
#include "bench/overhead.hpp"
#include "bench/read.hpp"
#ifdef COHORT_WITH_COMPILER
#include "bench/dialect.hpp"
#endif
#include "bench/sizing.hpp"
#ifdef COHORT_WITH_CUDA
#include "bench/cuda/scenarios.hpp"
#endif
#ifdef COHORT_WITH_OPENCL
#include "bench/opencl/scenarios.hpp"
#endif

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
        .run = &read_scenario,
        .in_all = false},
    Scenario{.name = "overhead",
             .summary = "section 5.3 of the paper: apps that could be resized but are not, beside "
                        "cooperation compiled out",
             .run = &overhead_scenario},
    Scenario{.name = "cpu",
             .summary = "graph apps beside plain OpenMP versions of the same algorithms",
             .run = &cpu_scenario,
             .in_all = false},
#ifdef COHORT_WITH_COMPILER
    Scenario{.name = "dialect",
             .summary = "the apps compiled by cohortc beside those by hand; cohortc beside Clang",
             .run = &dialect_scenario,
             .in_all = false},
#endif
    Scenario{.name = "sizing",
             .summary = "section 5.2: how much of the machine a frame loop needs",
             .run = &sizing_scenario,
             .paper = true},
    Scenario{.name = "multitask",
             .summary = "section 5.4: apps beside tasks of 3 classes on 4 shares, 3 barriers",
             .run = &multitask_scenario,
             .paper = true,
             .resumable = true},
    Scenario{.name = "preemption",
             .summary = "section 5.5: the smallest share that meets the period; suspend; hybrid",
             .run = &preemption_scenario,
             .paper = true,
             .resumable = true},
};

#ifdef COHORT_WITH_CUDA
constexpr std::array known_cuda {
  Scenario{.name = "barrier",
           .summary = "barriers with nothing pending, beside cooperative groups' grid.sync",
           .run = &cuda_barrier_scenario},
      Scenario{.name = "gather",
               .summary = "how long a demand for SMs waits beside a full GPU, by kill order",
               .run = &cuda_gather_scenario},
      Scenario{.name = "lease",
               .summary = "cuBLAS products under a lease, beside a kernel that fills the GPU",
               .run = &cuda_lease_scenario},
      Scenario{.name = "fairness",
               .summary = "a barrier of more groups than fit: plain CUDA hangs, cohort finishes",
               .run = &cuda_fairness_scenario},
#if defined(COHORT_CUDA_PAPER) && defined(COHORT_WITH_COMPILER)
      Scenario{.name = "dialect",
               .summary = "the apps compiled by cohortc beside those by hand",
               .run = &cuda_dialect_scenario,
               .in_all = false},
#endif
};
#endif

#ifdef COHORT_WITH_OPENCL
constexpr std::array known_opencl{
    Scenario{.name = "overhead",
             .summary = "table 2 of the paper: the apps of the dialect, resizable beside static",
             .run = &opencl_overhead_scenario},
    Scenario{.name = "multitask",
             .summary = "table 3: the apps of the dialect beside tasks of 3 classes on half",
             .run = &opencl_multitask_scenario},
};
#endif

}  // namespace

std::span<const Scenario> scenarios() { return known; }

std::span<const Scenario> opencl_scenarios() {
#ifdef COHORT_WITH_OPENCL
  return known_opencl;
#else
  return {};
#endif
}

std::span<const Scenario> cuda_scenarios() {
#ifdef COHORT_WITH_CUDA
  return known_cuda;
#else
  return {};
#endif
}

}  // namespace cohort::bench
