#include "apps/registry.hpp"

#include <array>

#include "apps/bfs/app.hpp"

namespace cohort::apps {
namespace {

constexpr std::array apps{
    App{.name = "bfs",
        .summary = "breadth-first search, one resizing barrier a level",
        .options = "algorithm=one-barrier|paper direction=auto|both|down source=NODE|hub chunk=N "
                   "solo=N",
        .run = &bfs_app<cpu::Engine>},
};

}  // namespace

std::span<const App> all() { return apps; }

}  // namespace cohort::apps
