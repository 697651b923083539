#include "apps/cuda/registry.hpp"
#include "apps/p_sssp/app.hpp"

template cohort::apps::Outcome cohort::apps::p_sssp_app(cohort::cuda::Engine&, Request&);
