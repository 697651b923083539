#include "apps/color/app.hpp"
#include "apps/cuda/registry.hpp"

template cohort::apps::Outcome cohort::apps::color_app(cohort::cuda::Engine&, Request&);
