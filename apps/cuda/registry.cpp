#include "apps/cuda/registry.hpp"

#include <algorithm>
#include <array>

#include "apps/degrees.hpp"
#include "apps/known_graph.hpp"

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

/// How many threads suit an app on an SM. More hide more latency, and make barriers longer.
template <std::uint32_t threads>
std::uint32_t always(const std::string& /*input*/) {
  return threads;
}
/// Searches of graphs with few edges are mostly barriers.
template <Edges edges>
std::uint32_t by_edges(const std::string& input) {
  return has_many_edges(known_graph(input, edges)->csr()) ? 1024 : 256;
}

struct CudaApp {
  std::string_view name;
  Outcome (*run)(cuda::Engine& engine, Request& request);
  std::uint32_t (*threads_on_sm)(const std::string& input);
};

constexpr std::array apps{
    CudaApp{.name = "bfs",
            .run = &bfs_app<cuda::Engine>,
            .threads_on_sm = &by_edges<Edges::as_they_are>},
    CudaApp{.name = "color", .run = &color_app<cuda::Engine>, .threads_on_sm = &always<1024>},
    CudaApp{.name = "mis", .run = &mis_app<cuda::Engine>, .threads_on_sm = &always<1024>},
    CudaApp{.name = "p-sssp", .run = &p_sssp_app<cuda::Engine>, .threads_on_sm = &always<1024>},
    CudaApp{.name = "l-sssp",
            .run = &l_sssp_app<cuda::Engine>,
            .threads_on_sm = &by_edges<Edges::weighted>},
    CudaApp{.name = "cc", .run = &cc_app<cuda::Engine>, .threads_on_sm = &always<1024>},
    CudaApp{.name = "octree", .run = &octree_app<cuda::Engine>, .threads_on_sm = &always<512>},
    CudaApp{.name = "game", .run = &game_app<cuda::Engine>, .threads_on_sm = &always<1024>},
};

const CudaApp& find(std::string_view name) {
  for (const CudaApp& app : apps) {
    if (app.name == name) return app;
  }
  throw Error{Errc::bad_options, "'" + std::string{name} + "' is not built for CUDA"};
}

/// How many groups of that size are `threads`, if a job can have so many on each of `sms` SMs.
constexpr std::uint32_t groups_of(std::uint32_t threads, std::uint32_t local_size,
                                  std::uint32_t sms) {
  const std::uint32_t in_warps = (local_size + 31) / 32 * 32;  // that is how an SM counts them
  return std::clamp(threads / in_warps, 1U, std::max(max_groups_limit / sms, 1U));
}
static_assert(groups_of(1024, 256, 132) == 4 && groups_of(256, 1024, 132) == 1);
static_assert(groups_of(1024, 100, 132) == 8 && groups_of(1024, 1, 132) == 31);

}  // namespace

std::uint32_t groups_on_sm(std::string_view name, const std::string& input,
                           std::uint32_t local_size, std::uint32_t sms) {
  return groups_of(find(name).threads_on_sm(input), local_size, sms);
}

Outcome run_on_cuda(std::string_view name, cuda::Engine& engine, Request& request) {
  return find(name).run(engine, request);
}

}  // namespace cohort::apps
