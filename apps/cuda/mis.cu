#include "apps/cuda/registry.hpp"
#include "apps/mis/app.hpp"

template cohort::apps::Outcome cohort::apps::mis_app(cohort::cuda::Engine&, Request&);
