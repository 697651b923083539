#include "apps/cc/app.hpp"
#include "apps/cuda/registry.hpp"

template cohort::apps::Outcome cohort::apps::cc_app(cohort::cuda::Engine&, Request&);
