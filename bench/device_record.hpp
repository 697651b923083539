// Describes a device, for the head of a record.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cohort/any_engine.hpp"

namespace cohort::bench {

/// Null for the CPU engine, because every record describes the CPU anyway.
[[nodiscard]] nlohmann::ordered_json device_record(const AnyEngine& engine);
#ifdef COHORT_WITH_OPENCL
[[nodiscard]] nlohmann::ordered_json device_record(const opencl::Engine& engine);
#endif

}  // namespace cohort::bench
