#include "bench/opencl/product.hpp"

#include <algorithm>
#include <limits>

namespace cohort::bench {

DeviceProduct::DeviceProduct(opencl::Engine& engine, ProgramKernel multiply, std::uint32_t side)
    : engine_(engine),
      kernel_(std::move(multiply)),
      product_(side),
      left_(engine.upload(product_.left())),
      right_(engine.upload(product_.right_factor())),
      result_(engine.fill<float>(std::size_t{side} * side, 0)) {
  kernel_.set("left", left_.data()).set("right", right_.data());
  kernel_.set("product", result_.data()).set("side", side);
}

Load::Served DeviceProduct::serve(const TaskOptions& options) {
  result_.fill(-1);
  TaskReport report = kernel_.submit(engine_, options).wait();
  return {std::move(report), result_.read() == product_.expected()};
}

std::uint32_t side_for(opencl::Engine& engine, const ProgramKernel& multiply,
                       std::chrono::nanoseconds work, const TaskOptions& options) {
  return side_for(work, [&](std::uint32_t side) {
    DeviceProduct product{engine, multiply, side};
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < 7; ++i) {
      const std::chrono::duration<double> took = product.serve(options).report.run_time;
      fastest = std::min(fastest, took.count());
    }
    return fastest;
  });
}

}  // namespace cohort::bench
