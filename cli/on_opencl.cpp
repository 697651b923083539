// The apps of the dialect on an OpenCL device, with products of matrices beside them.
#include "bench/opencl/product.hpp"
#include "cli/choices.hpp"
#include "cli/place.hpp"

namespace cohort::cli {

Place on_opencl(const std::string& app, const std::string& device,
                std::optional<std::uint32_t> capacity, std::uint32_t local_size) {
  const auto& chosen = choose("app for opencl", app, apps::dialect_apps<opencl::Engine>());
  auto engine = std::make_shared<opencl::Engine>(
      opencl::EngineOptions{.device = device, .capacity = capacity});
  const ProgramKernel kernel = apps::dialect_kernel(chosen.file, "opencl");
  engine->load(kernel);
  Place place;
  place.capacity = engine->capacity();
  place.run = [engine, kernel, &chosen](apps::Request& request) {
    return chosen.run(*engine, kernel, request);
  };
  place.tasks = [engine, local_size](const bench::LoadClass& kind, const std::string& share,
                                     Tracer* tracer) {
    const ProgramKernel multiply = apps::dialect_kernel("multiply", "opencl");
    engine->load(multiply);
    const std::uint32_t all = engine->capacity();
    TaskLoad result;
    result.groups = bench::groups_of(share, all);
    result.side =
        bench::side_for(*engine, multiply, kind.work, {.groups = all, .local_size = local_size});
    const auto product = std::make_shared<bench::DeviceProduct>(*engine, multiply, result.side);
    const TaskOptions options{.groups = result.groups,
                              .priority = 1,
                              .local_size = local_size,
                              .stop = {},
                              .tracer = tracer};
    result.load = std::make_unique<bench::Load>(
        [engine, product, options] { return product->serve(options); }, kind.period);
    return result;
  };
  return place;
}

}  // namespace cohort::cli
