// Finds the OpenCL devices, and decides which of them can run the engine.
#pragma once

#include <string>

#include "cohort/opencl.hpp"
#include "opencl/cl.hpp"

namespace cohort::opencl {

/// A device that has everything the engine needs.
struct Chosen {
  cl::Device device;
  Device info;
  std::uint32_t most_groups = 1;   ///< upper limit on work-groups
  std::uint32_t usual_groups = 1;  ///< the default: as many as can run at the same time
  std::string standard;            ///< value of the compiler's option -cl-std
};

/// Properties that the engine queries from a device.
struct Features {
  int version = 0;  ///< e.g. 30 for OpenCL 3.0
  bool compiler = false;
  bool wide = false;           ///< 64-bit addresses
  bool little_endian = false;  ///< the same byte order as this machine
  bool shared_memory = false;  ///< fine-grained
  bool shared_atomics = false;
  bool wide_atomics = false;
  bool ordered_atomics = false;  ///< atomics with acquire and release
  bool host_atomics = false;     ///< atomics in the scope of all devices
};

/// The missing features as text; empty if there are none.
[[nodiscard]] std::string missing(const Features& features);

/// Chooses a device by EngineOptions::device. Throws as the engine's constructor does.
[[nodiscard]] Chosen choose_device(const std::string& wanted);

}  // namespace cohort::opencl
