#include "apps/bfs/app.hpp"
#include "apps/cuda/registry.hpp"

template cohort::apps::Outcome cohort::apps::bfs_app(cohort::cuda::Engine&, Request&);
