#include "bench/scenario.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "bench/barrier.hpp"
#include "bench/cpu.hpp"
#include "bench/gather.hpp"
#include "bench/multitask.hpp"
#include "bench/overhead.hpp"
#include "bench/queue.hpp"
#include "bench/read.hpp"
#ifdef COHORT_WITH_COMPILER
#include "bench/dialect.hpp"
#endif
#include "bench/sizing.hpp"
#ifdef COHORT_WITH_CUDA
#include "bench/cuda/beside.hpp"
#include "bench/cuda/scenarios.hpp"
#endif

namespace cohort::bench {
namespace {

// ---- those of more than one engine

constexpr Scenario gather{
    .name = "gather",
    .summary = "how long a demand for workers waits, by kill order; kill against yield",
    .run = &gather_scenario,
    .paper = true};
constexpr Scenario overhead{
    .name = "overhead",
    .summary =
        "section 5.3 of the paper: apps that could be resized but are not, beside "
        "cooperation compiled out",
    .run = &overhead_scenario,
    .paper = true,
    .on_pairs = true,
    .quick_repetitions = 41};
constexpr Scenario multitask{
    .name = "multitask",
    .summary = "section 5.4: apps beside tasks of 3 classes on 4 shares, 3 barriers",
    .run = &multitask_scenario,
    .paper = true,
    .resumable = true};
constexpr Scenario preemption{
    .name = "preemption",
    .summary = "section 5.5: the smallest share that meets the period; suspend; hybrid",
    .run = &preemption_scenario,
    .paper = true,
    .resumable = true};

constexpr std::array known{
    Scenario{.name = "barrier",
             .summary = "barriers and offers with nothing pending, beside std::barrier and OpenMP",
             .run = &barrier_scenario},
    gather,
    Scenario{
        .name = "read",
        .summary = "graph files, by format; beside decompression alone and a pass over the text",
        .run = &read_scenario},
    overhead,
    Scenario{.name = "cpu",
             .summary = "graph apps beside plain OpenMP versions of the same algorithms",
             .run = &cpu_scenario,
             .on_pairs = true,
             .quick_repetitions = 25},
#ifdef COHORT_WITH_COMPILER
    Scenario{.name = "dialect",
             .summary = "the apps compiled by cohortc beside those by hand; cohortc beside Clang",
             .run = &dialect_scenario,
             .on_pairs = true},
#endif
    Scenario{.name = "sizing",
             .summary = "section 5.2: how much of the machine a frame loop needs",
             .run = &sizing_scenario,
             .paper = true},
    multitask,
    preemption,
    Scenario{.name = "queue",
             .summary = "submits behind 1,000 and 10,000 waiting tasks, and during a checkpoint",
             .run = &queue_scenario},
};

#ifdef COHORT_WITH_CUDA
constexpr std::array known_cuda{
    Scenario{.name = "barrier",
             .summary = "barriers with nothing pending, beside cooperative groups' grid.sync",
             .run = &cuda_barrier_scenario},
    Scenario{.name = "gather",
             .summary = "how long a demand for SMs waits beside a full GPU, by kill order",
             .run = &cuda_gather_scenario,
             .on_pairs = true},
    Scenario{.name = "lease",
             .summary = "cuBLAS products under a lease, beside a kernel that fills the GPU",
             .run = &cuda_lease_scenario,
             .on_pairs = true},
    Scenario{.name = "fairness",
             .summary = "a barrier of more groups than fit: plain CUDA hangs, cohort finishes",
             .run = &cuda_fairness_scenario},
    Scenario{.name = "sharing",
             .summary =
                 "a job and a periodic task on one GPU: priorities, time slicing, MPS, green "
                 "contexts, cohort",
             .run = &cuda_sharing_scenario,
             .on_pairs = true},
#ifdef COHORT_WITH_CUDA_APPS
    Scenario{.name = "overhead",
             .summary = "apps that could be resized but are not, beside the same kernels in plain "
                        "CUDA: grid.sync, a launch a step, a graph",
             .run = &cuda_overhead_scenario,
             .on_pairs = true},
    Scenario{
        .name = "background",
        .summary = "apps beside the paper's tasks, and beside what losing those SMs would cost",
        .run = &cuda_background_scenario,
        .on_pairs = true},
    multitask,
    preemption,
#ifdef COHORT_CUDA_PAPER
    Scenario{.name = "dialect",
             .summary = "the apps compiled by cohortc beside those by hand",
             .run = &cuda_dialect_scenario,
             .on_pairs = true},
#endif
#endif
};
#endif

#ifdef COHORT_WITH_OPENCL
constexpr std::array known_opencl{gather, overhead, multitask, preemption};
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
