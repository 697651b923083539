#include "apps/registry.hpp"

#include <array>

#include "apps/bfs/app.hpp"
#include "apps/cc/app.hpp"
#include "apps/color/app.hpp"
#include "apps/game/app.hpp"
#include "apps/l_sssp/app.hpp"
#include "apps/mis/app.hpp"
#include "apps/octree/app.hpp"
#include "apps/p_sssp/app.hpp"

namespace cohort::apps {
namespace {

constexpr std::array apps{
    App{.name = "bfs",
        .summary = "breadth-first search, level by level",
        .options = "algorithm=one-barrier|paper direction=auto|both|down source=NODE|hub chunk=N "
                   "solo=N lists=slots|shared",
        .run = &bfs_app<cpu::Engine>},
    App{.name = "color",
        .summary = "graph colouring by priorities",
        .options = "algorithm=eager|paper priority=hashed|id chunk=N",
        .run = &color_app<cpu::Engine>},
    App{.name = "mis",
        .summary = "maximal independent set by priorities",
        .options = "algorithm=eager|paper priority=hashed|id chunk=N",
        .run = &mis_app<cpu::Engine>},
    App{.name = "p-sssp",
        .summary = "shortest paths, pulled over all incoming edges",
        .options = "algorithm=in-place|paper source=NODE|hub chunk=N",
        .run = &p_sssp_app<cpu::Engine>},
    App{.name = "l-sssp",
        .summary = "shortest paths with worklists",
        .options = "algorithm=delta|paper source=NODE|hub delta=N piles=N budget=N chunk=N "
                   "lists=slots|shared",
        .run = &l_sssp_app<cpu::Engine>},
    App{.name = "cc",
        .summary = "connected components by linking trees",
        .options = "chunk=N",
        .run = &cc_app<cpu::Engine>},
    App{.name = "octree",
        .summary = "octree partitioning by work stealing; on particles:N",
        .options =
            "pools=deque|mutex kill=highest|any max-leaf=N max-depth=N boxes=N chunk=N pool-room=N",
        .run = &octree_app<cpu::Engine>},
    App{.name = "game",
        .summary = "connect four by work stealing; on connect4:DEPTH",
        .options = "pools=deque|mutex kill=highest|any grain=N positions=N pool-room=N",
        .run = &game_app<cpu::Engine>},
};

}  // namespace

std::span<const App> all() { return apps; }

}  // namespace cohort::apps
