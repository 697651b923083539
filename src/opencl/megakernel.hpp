// The megakernel: the protocol, the programs and the pool as one OpenCL program, built for a
// device.
// Invariant: once it is built, host and device agree on the layout of everything they share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cohort/program.hpp"
#include "opencl/cl.hpp"
#include "opencl/device.hpp"
#include "opencl/memory.hpp"

namespace cohort::opencl {

/// A kernel of a program.
struct KernelOf {
  std::shared_ptr<const cohort::detail::Module> module;
  std::size_t index = 0;

  [[nodiscard]] const KernelInfo& info() const { return module->kernels[index]; }
  friend bool operator==(const KernelOf&, const KernelOf&) = default;
};

/// The sources that every megakernel consists of, from the .cl files in this folder.
extern const char* const protocol_source;
extern const char* const collectives_source;
extern const char* const scheduler_source;
extern const char* const pool_source;

class Megakernel {
 public:
  /// `alone`: for groups of one thread. Throws Error{bad_file} with the compiler's text if the
  /// compiler rejects a program.
  Megakernel(const cl::Context& context, const Chosen& device, const std::string& build_options,
             std::vector<KernelOf> kernels, bool alone,
             const std::shared_ptr<SharedMemory>& memory);

  /// The number of a kernel; empty if it is not part of this megakernel.
  [[nodiscard]] std::optional<std::uint32_t> find(const KernelOf& kernel) const;
  [[nodiscard]] std::uint32_t state_size(std::uint32_t which) const { return state_sizes_[which]; }
  /// The size of the largest State.
  [[nodiscard]] std::uint32_t state_room() const;
  [[nodiscard]] const std::vector<KernelOf>& kernels() const { return kernels_; }
  [[nodiscard]] bool alone() const { return alone_; }
  [[nodiscard]] const cl::Program& program() const { return program_; }

 private:
  [[nodiscard]] std::string source() const;
  void learn_layout(const cl::Context& context, const cl::Device& device,
                    const std::shared_ptr<SharedMemory>& memory);

  std::vector<KernelOf> kernels_;
  bool alone_;
  cl::Program program_;
  std::vector<std::uint32_t> state_sizes_;
};

/// The options for compiling any program of the engine.
[[nodiscard]] std::string standard_options(const Chosen& device);

}  // namespace cohort::opencl
