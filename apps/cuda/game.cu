#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"
#include "apps/game/app.hpp"

namespace cohort::apps {

template Outcome game_app(cuda::Engine&, Request&);
template GameResult run_game(cuda::Engine&, const Board&, const RunOptions&, const GameOptions&);
template GameResult run_game(PlainEngine&, const Board&, const RunOptions&, const GameOptions&);

}  // namespace cohort::apps
