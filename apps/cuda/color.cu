#include "apps/color/app.hpp"
#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"

namespace cohort::apps {

template Outcome color_app(cuda::Engine&, Request&);
template ColorResult run_color(cuda::Engine&, const Csr&, const RunOptions&, const ColorOptions&);
template ColorResult run_color(PlainEngine&, const Csr&, const RunOptions&, const ColorOptions&);

}  // namespace cohort::apps
