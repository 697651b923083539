// Connect four as an entry of the registry.
#pragma once

#include "apps/game/host.hpp"
#include "apps/inputs.hpp"
#include "apps/outcome.hpp"

namespace cohort::apps {

template <class Engine>
Outcome game_app(Engine& engine, Request& request) {
  Settings& settings = request.settings;
  GameOptions how;
  how.pools = PoolOptions::from(settings);
  how.grain = settings.number_if_given("grain");
  how.positions = static_cast<std::uint32_t>(settings.number("positions", 0, 0, 1U << 28U));
  settings.check_all_used();
  how.depth =
      static_cast<std::uint32_t>(number_in(request.input, connect4_spec, "the depth", 1, 38));
  const Board start = start_board();
  const GameResult result = run_game(engine, start, request.options, how);
  return outcome(
      "connect four to depth " + std::to_string(how.depth), result.report, request,
      [&] {
        std::vector<std::pair<std::string, std::int64_t>> numbers;
        for (std::size_t i = 0; i < result.values.size(); ++i) {
          if (result.values[i]) numbers.emplace_back("move" + std::to_string(i), *result.values[i]);
        }
        numbers.emplace_back("positions", static_cast<std::int64_t>(result.positions));
        return numbers;
      },
      [&] { return check_game(start, how.depth, result); });
}

extern template Outcome game_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
