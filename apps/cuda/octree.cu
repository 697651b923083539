#include "apps/cuda/registry.hpp"
#include "apps/octree/app.hpp"

template cohort::apps::Outcome cohort::apps::octree_app(cohort::cuda::Engine&, Request&);
