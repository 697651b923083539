// The CPU engine's memory: the process's own.
#pragma once

#include <memory>

#include "cohort/buffer.hpp"

namespace cohort::cpu {

[[nodiscard]] std::shared_ptr<cohort::detail::Memory> host_memory();

}  // namespace cohort::cpu
