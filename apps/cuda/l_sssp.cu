#include "apps/cuda/registry.hpp"
#include "apps/l_sssp/app.hpp"

template cohort::apps::Outcome cohort::apps::l_sssp_app(cohort::cuda::Engine&, Request&);
