// The apps of the dialect on an OpenCL device, with products of matrices beside them.
#include <algorithm>
#include <limits>

#include "apps/dialect/dialect.hpp"
#include "cli/choices.hpp"
#include "cli/place.hpp"

namespace cohort::cli {
namespace {

/// A product that the device computes.
class DeviceProduct {
 public:
  DeviceProduct(opencl::Engine& engine, ProgramKernel kernel, std::uint32_t side)
      : engine_(engine),
        kernel_(std::move(kernel)),
        product_(side),
        left_(engine.upload(product_.left())),
        right_(engine.upload(product_.right_factor())),
        result_(engine.fill<float>(std::size_t{side} * side, 0)) {
    kernel_.set("left", left_.data()).set("right", right_.data());
    kernel_.set("product", result_.data()).set("side", side);
  }
  bench::Load::Served serve(const TaskOptions& options) {
    result_.fill(-1);
    TaskReport report = kernel_.submit(engine_, options).wait();
    return {std::move(report), result_.read() == product_.expected()};
  }

 private:
  opencl::Engine& engine_;
  ProgramKernel kernel_;
  bench::MatrixProduct product_;
  Buffer<float> left_;
  Buffer<float> right_;
  Buffer<float> result_;
};

double seconds_of(opencl::Engine& engine, const ProgramKernel& multiply, std::uint32_t side,
                  const TaskOptions& options) {
  DeviceProduct product{engine, multiply, side};
  double fastest = std::numeric_limits<double>::max();
  for (int i = 0; i < 7; ++i) {
    const std::chrono::duration<double> took = product.serve(options).report.run_time;
    fastest = std::min(fastest, took.count());
  }
  return fastest;
}

}  // namespace

Place on_opencl(const std::string& app, const std::string& device,
                std::optional<std::uint32_t> capacity, std::uint32_t local_size) {
  const apps::DialectApp& chosen = choose("app for opencl", app, apps::dialect_apps());
  auto engine = std::make_shared<opencl::Engine>(
      opencl::EngineOptions{.device = device, .capacity = capacity});
  const ProgramKernel kernel = apps::dialect_kernel(chosen.file);
  engine->load(kernel);
  Place place;
  place.capacity = engine->capacity();
  place.run = [engine, kernel, &chosen](apps::Request& request) {
    return chosen.run(*engine, kernel, request);
  };
  place.tasks = [engine, local_size](const bench::LoadClass& kind, const std::string& share,
                                     Tracer* tracer) {
    const ProgramKernel multiply = apps::dialect_kernel("multiply");
    engine->load(multiply);
    const std::uint32_t all = engine->capacity();
    TaskLoad result;
    result.groups = bench::groups_of(share, all);
    result.side = bench::side_for(kind.work, [&](std::uint32_t side) {
      return seconds_of(*engine, multiply, side, {.groups = all, .local_size = local_size});
    });
    const auto product = std::make_shared<DeviceProduct>(*engine, multiply, result.side);
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
