// A matrix product that an OpenCL device computes as a task: the kernel is
// compiler/apps/multiply.cl.
#pragma once

#include "apps/dialect/dialect.hpp"
#include "bench/load.hpp"
#include "cohort/opencl.hpp"

namespace cohort::bench {

class DeviceProduct {
 public:
  DeviceProduct(opencl::Engine& engine, ProgramKernel multiply, std::uint32_t side);

  /// Runs it, and compares the result.
  Load::Served serve(const TaskOptions& options);

 private:
  opencl::Engine& engine_;
  ProgramKernel kernel_;
  MatrixProduct product_;
  Buffer<float> left_;
  Buffer<float> right_;
  Buffer<float> result_;
};

/// The side of a product that takes `work` as such a task while nothing else runs.
[[nodiscard]] std::uint32_t side_for(opencl::Engine& engine, const ProgramKernel& multiply,
                                     std::chrono::nanoseconds work, const TaskOptions& options);

}  // namespace cohort::bench
