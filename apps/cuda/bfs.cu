#include "apps/bfs/app.hpp"
#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"

namespace cohort::apps {

template Outcome bfs_app(cuda::Engine&, Request&);
template BfsResult run_bfs(cuda::Engine&, const Csr&, Node, const RunOptions&, const BfsOptions&);
template BfsResult run_bfs(PlainEngine&, const Csr&, Node, const RunOptions&, const BfsOptions&);

}  // namespace cohort::apps
