#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"
#include "apps/p_sssp/app.hpp"

namespace cohort::apps {

template Outcome p_sssp_app(cuda::Engine&, Request&);
template SsspResult run_p_sssp(cuda::Engine&, const Csr&, Node, const RunOptions&,
                               const PullSsspOptions&);
template SsspResult run_p_sssp(PlainEngine&, const Csr&, Node, const RunOptions&,
                               const PullSsspOptions&);

}  // namespace cohort::apps
