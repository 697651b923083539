// The apps of the dialect by name, for the source that compiles them for one engine.
#pragma once

#include "apps/dialect/dialect.hpp"
#include "apps/dialect/graphs.hpp"
#include "apps/dialect/stealing.hpp"

namespace cohort::apps::detail {

template <class Engine>
inline constexpr std::array dialect_table{
    DialectApp<Engine>{"bfs", "bfs", &dialect_bfs<Engine>},
    DialectApp<Engine>{"color", "color", &dialect_color<Engine>},
    DialectApp<Engine>{"mis", "mis", &dialect_mis<Engine>},
    DialectApp<Engine>{"p-sssp", "p_sssp", &dialect_p_sssp<Engine>},
    DialectApp<Engine>{"l-sssp", "l_sssp", &dialect_l_sssp<Engine>},
    DialectApp<Engine>{"octree", "octree", &dialect_octree<Engine>},
    DialectApp<Engine>{"game", "game", &dialect_game<Engine>},
};

}  // namespace cohort::apps::detail
