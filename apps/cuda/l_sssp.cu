#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"
#include "apps/l_sssp/app.hpp"

namespace cohort::apps {

template Outcome l_sssp_app(cuda::Engine&, Request&);
template SsspResult run_l_sssp(cuda::Engine&, const Csr&, Node, const RunOptions&,
                               const ListSsspOptions&);
template SsspResult run_l_sssp(PlainEngine&, const Csr&, Node, const RunOptions&,
                               const ListSsspOptions&);

}  // namespace cohort::apps
