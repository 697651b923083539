#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"
#include "apps/mis/app.hpp"

namespace cohort::apps {

template Outcome mis_app(cuda::Engine&, Request&);
template MisResult run_mis(cuda::Engine&, const Csr&, const RunOptions&, const MisOptions&);
template MisResult run_mis(PlainEngine&, const Csr&, const RunOptions&, const MisOptions&);

}  // namespace cohort::apps
