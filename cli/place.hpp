// Where `cohort run` runs an app: what differs between the engines.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/registry.hpp"
#include "bench/load.hpp"

namespace cohort::cli {

/// Tasks beside an app.
struct TaskLoad {
  std::uint32_t groups = 0;
  std::uint32_t side = 0;                              ///< of the matrices
  std::shared_ptr<bench::MatrixProduct> product = {};  ///< that the load computes, on the CPU
  std::unique_ptr<bench::Load> load;
};

/// An engine, ready to run one app.
struct Place {
  std::uint32_t capacity = 0;
  std::function<apps::Outcome(apps::Request& request)> run;
  std::function<TaskLoad(const bench::LoadClass& kind, const std::string& share, Tracer* tracer)>
      tasks;
};

/// An OpenCL device. Throws Error{bad_options} for an app that is not written in the dialect.
[[nodiscard]] Place on_opencl(const std::string& app, const std::string& device,
                              std::optional<std::uint32_t> capacity, std::uint32_t local_size);

}  // namespace cohort::cli
