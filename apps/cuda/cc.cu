#include "apps/cc/app.hpp"
#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"

namespace cohort::apps {

template Outcome cc_app(cuda::Engine&, Request&);
template CcResult run_cc(cuda::Engine&, const Csr&, const RunOptions&, const CcOptions&);
template CcResult run_cc(PlainEngine&, const Csr&, const RunOptions&, const CcOptions&);

}  // namespace cohort::apps
