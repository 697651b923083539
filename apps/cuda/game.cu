#include "apps/cuda/registry.hpp"
#include "apps/game/app.hpp"

template cohort::apps::Outcome cohort::apps::game_app(cohort::cuda::Engine&, Request&);
