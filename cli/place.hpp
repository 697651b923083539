// Where `cohort run` runs an app: what differs between the engines.
#pragma once

#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apps/registry.hpp"
#include "bench/load.hpp"
#include "cohort/error.hpp"

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

/// The number of a GPU, as --device says it; 0 for nothing. Throws Error{bad_options}.
[[nodiscard]] inline int cuda_device(const std::string& text) {
  int device = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, device);
  if (!text.empty() && (error != std::errc{} || rest != end))
    throw Error{Errc::bad_options,
                "run: --device " + text + "; with --engine cuda it is the number of a GPU, e.g. 0"};
  return device;
}

/// An OpenCL device. Throws Error{bad_options} for an app that is not written in the dialect.
[[nodiscard]] Place on_opencl(const std::string& app, const std::string& device,
                              std::optional<std::uint32_t> capacity, std::uint32_t local_size);

}  // namespace cohort::cli
