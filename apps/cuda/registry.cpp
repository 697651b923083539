#include "apps/cuda/registry.hpp"

#include <array>

namespace cohort::apps {

template <class Engine>
Outcome bfs_app(Engine& engine, Request& request);
extern template Outcome bfs_app(cuda::Engine&, Request&);
template <class Engine>
Outcome color_app(Engine& engine, Request& request);
extern template Outcome color_app(cuda::Engine&, Request&);
template <class Engine>
Outcome mis_app(Engine& engine, Request& request);
extern template Outcome mis_app(cuda::Engine&, Request&);
template <class Engine>
Outcome p_sssp_app(Engine& engine, Request& request);
extern template Outcome p_sssp_app(cuda::Engine&, Request&);
template <class Engine>
Outcome l_sssp_app(Engine& engine, Request& request);
extern template Outcome l_sssp_app(cuda::Engine&, Request&);
template <class Engine>
Outcome cc_app(Engine& engine, Request& request);
extern template Outcome cc_app(cuda::Engine&, Request&);
template <class Engine>
Outcome octree_app(Engine& engine, Request& request);
extern template Outcome octree_app(cuda::Engine&, Request&);
template <class Engine>
Outcome game_app(Engine& engine, Request& request);
extern template Outcome game_app(cuda::Engine&, Request&);

namespace {

struct CudaApp {
  std::string_view name;
  Outcome (*run)(cuda::Engine& engine, Request& request);
  /// More hide more latency, and make barriers longer: searches of road networks like few, those of
  /// R-MAT graphs would like more.
  std::uint32_t threads_on_sm = 256;
};

constexpr std::array apps{
    CudaApp{.name = "bfs", .run = &bfs_app<cuda::Engine>},
    CudaApp{.name = "color", .run = &color_app<cuda::Engine>, .threads_on_sm = 1024},
    CudaApp{.name = "mis", .run = &mis_app<cuda::Engine>, .threads_on_sm = 1024},
    CudaApp{.name = "p-sssp", .run = &p_sssp_app<cuda::Engine>, .threads_on_sm = 1024},
    CudaApp{.name = "l-sssp", .run = &l_sssp_app<cuda::Engine>},
    CudaApp{.name = "cc", .run = &cc_app<cuda::Engine>, .threads_on_sm = 1024},
    CudaApp{.name = "octree", .run = &octree_app<cuda::Engine>, .threads_on_sm = 512},
    CudaApp{.name = "game", .run = &game_app<cuda::Engine>, .threads_on_sm = 1024},
};

const CudaApp& find(std::string_view name) {
  for (const CudaApp& app : apps) {
    if (app.name == name) return app;
  }
  throw Error{Errc::bad_options, "'" + std::string{name} + "' is not built for CUDA"};
}

}  // namespace

std::uint32_t threads_on_sm(std::string_view name) { return find(name).threads_on_sm; }

Outcome run_on_cuda(std::string_view name, cuda::Engine& engine, Request& request) {
  return find(name).run(engine, request);
}

}  // namespace cohort::apps
