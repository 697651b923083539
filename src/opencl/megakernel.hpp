// The megakernel: the protocol, the programs and the pool as one OpenCL program, built for a device.
// Invariant: once it is built, host and device agree on the layout of everything they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cohort/program.hpp"
#include "opencl/cl.hpp"
#include "opencl/device.hpp"
#include "opencl/memory.hpp"

namespace cohort::opencl {

using Modules = std::vector<std::shared_ptr<const cohort::detail::Module>>;

/// The texts it is made of, from the .cl files beside this one.
extern const char* const protocol_source;
extern const char* const collectives_source;
extern const char* const pool_source;

class Megakernel {
 public:
  /// Throws Error{bad_file} with the compiler's text if it refuses a program.
  Megakernel(const cl::Context& context, const Chosen& device, const std::string& build_options,
             Modules modules, const std::shared_ptr<SharedMemory>& memory);

  [[nodiscard]] bool has(const cohort::detail::Module& module) const;
  /// The number of a kernel among all.
  [[nodiscard]] std::uint32_t index_of(const cohort::detail::Module& module,
                                       std::size_t kernel) const;
  [[nodiscard]] std::uint32_t state_size(std::uint32_t which) const { return state_sizes_[which]; }
  /// The largest of all.
  [[nodiscard]] std::uint32_t state_room() const;
  [[nodiscard]] const Modules& modules() const { return modules_; }
  [[nodiscard]] const cl::Program& program() const { return program_; }

 private:
  [[nodiscard]] std::string source() const;
  void learn_layout(const cl::Context& context, const cl::Device& device,
                    const std::shared_ptr<SharedMemory>& memory);

  Modules modules_;
  cl::Program program_;
  std::vector<std::uint32_t> state_sizes_;
};

/// The options that every program of ours is compiled with.
[[nodiscard]] std::string standard_options(const Chosen& device);

}  // namespace cohort::opencl
