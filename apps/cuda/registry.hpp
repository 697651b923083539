// The apps on the CUDA engine: each is compiled by nvcc in a source of its own.
// Invariant: our own algorithms only, with the one-pass barrier.
#pragma once

#include "apps/registry.hpp"
#include "cohort/cuda.hpp"

namespace cohort::apps {

template <>
inline constexpr bool has_paper_variants<cuda::Engine> = false;

/// Runs the app of that name. Throws as App::run does.
[[nodiscard]] Outcome run_on_cuda(std::string_view name, cuda::Engine& engine, Request& request);

}  // namespace cohort::apps
