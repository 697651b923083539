// An OpenCL device as a place for experiments: the apps of the dialect, and
// compiler/apps/multiply.cl beside them.
#pragma once

#include "bench/place.hpp"
#include "cohort/opencl.hpp"

namespace cohort::bench {

/// A device, for the head of a record.
[[nodiscard]] nlohmann::ordered_json describe(const opencl::Engine& engine);

[[nodiscard]] std::unique_ptr<Place> make_opencl_place(const PlaceOptions& options);

}  // namespace cohort::bench
