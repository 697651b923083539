// Octree partitioning as an entry of the registry.
#pragma once

#include "apps/inputs.hpp"
#include "apps/kept.hpp"
#include "apps/octree/host.hpp"
#include "apps/outcome.hpp"

namespace cohort::apps {

template <class Engine>
Outcome octree_app(Engine& engine, Request& request) {
  Settings& settings = request.settings;
  OctreeOptions how;
  how.pools = PoolOptions::from(settings);
  how.max_leaf = static_cast<std::uint32_t>(settings.number("max-leaf", 5, 1, 1U << 20U));
  how.max_depth = static_cast<std::uint32_t>(settings.number("max-depth", 40, 1, 1000));
  how.boxes = static_cast<std::uint32_t>(settings.number("boxes", 0, 0, 1U << 31U));
  how.chunk = settings.number_if_given("chunk");
  settings.check_all_used();
  const auto count = static_cast<std::uint32_t>(
      number_in(request.input, particles_spec, "the number of particles", 0, 1U << 28U));
  const auto all =
      kept<std::vector<Particle>>(request.input, [=] { return make_particles(count); });
  const std::vector<Particle>& particles = *all;
  const OctreeResult result = run_octree(engine, particles, request.options, how);
  return outcome(
      std::to_string(count) + " particles", result.report, request,
      [&] {
        const TreeSize size = tree_size(result);
        return std::vector<std::pair<std::string, std::int64_t>>{
            {"tasks", size.tasks},
            {"depth", size.depth},
            {"leaves", size.leaves},
            {"empty_leaves", size.empty_leaves}};
      },
      [&] { return check_octree(particles, result, how); });
}

extern template Outcome octree_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
