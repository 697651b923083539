#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"
#include "apps/octree/app.hpp"

namespace cohort::apps {

template Outcome octree_app(cuda::Engine&, Request&);
template OctreeResult run_octree(cuda::Engine&, const std::vector<Particle>&, const RunOptions&,
                                 const OctreeOptions&);
template OctreeResult run_octree(PlainEngine&, const std::vector<Particle>&, const RunOptions&,
                                 const OctreeOptions&);

}  // namespace cohort::apps
