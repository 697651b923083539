// The apps on the CUDA engine: each is compiled by nvcc in a source of its own.
// Invariant: our own algorithms only, with the one-pass barrier; with COHORT_CUDA_PAPER the paper's
// algorithms too.
#pragma once

#include "apps/registry.hpp"
#include "cohort/cuda.hpp"

namespace cohort::apps {

#ifdef COHORT_CUDA_PAPER
inline constexpr bool cuda_has_paper_algorithms = true;
#else
inline constexpr bool cuda_has_paper_algorithms = false;
#endif
template <>
inline constexpr bool has_paper_variants<cuda::Engine> = cuda_has_paper_algorithms;
template <>
inline constexpr bool has_paper_barriers<cuda::Engine> = false;

/// How many groups of that size suit the app of that name, on that input, on each of `sms` SMs.
/// Throws as App::run does.
[[nodiscard]] std::uint32_t groups_on_sm(std::string_view name, const std::string& input,
                                         std::uint32_t local_size, std::uint32_t sms);

/// Runs the app of that name. Throws as App::run does.
[[nodiscard]] Outcome run_on_cuda(std::string_view name, cuda::Engine& engine, Request& request);

}  // namespace cohort::apps
