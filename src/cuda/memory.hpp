// Device memory behind Buffer. Invariant: nothing here waits for a running kernel.
#pragma once

#include <memory>

#include "cohort/buffer.hpp"

namespace cohort::cuda {

[[nodiscard]] std::shared_ptr<cohort::detail::Memory> device_memory(int device);

}  // namespace cohort::cuda
