// A job of the OpenCL engine: a kernel of the megakernel, its arguments, and the memory that the
// job's groups share with each other and the host.
#pragma once

#include <optional>

#include "cohort/engine.hpp"
#include "opencl/layout.hpp"
#include "opencl/megakernel.hpp"
#include "opencl/shift.hpp"

namespace cohort::opencl {

/// A kernel with its arguments, as a job or a task runs it.
struct BoundKernel {
  KernelOf kernel;
  std::vector<std::byte> arguments;
  std::uint32_t more_local = 0;     // bytes of the kernel's local parameters
  std::optional<Shape> shape = {};  // the range over which it runs

  [[nodiscard]] const KernelInfo& info() const { return kernel.info(); }
};

/// What the groups of one job share with each other and the host.
class JobMemory {
 public:
  JobMemory(const std::shared_ptr<SharedMemory>& memory, const BoundKernel& bound,
            std::uint32_t state_size, std::uint32_t max_groups, const LaunchOptions& options);

  /// Passes the events since the last call to the tracer.
  void replay(Tracer& tracer);

  [[nodiscard]] Words& words() const { return *reinterpret_cast<Words*>(block_.data()); }

 private:
  Block block_;
  Block events_;
  std::uint32_t replayed_ = 0;
};

class WorkgroupBody final : public cohort::detail::JobBody {
 public:
  WorkgroupBody(BoundKernel kernel, std::uint32_t groups, const LaunchOptions& options);

  std::optional<cohort::detail::CheckpointParts> checkpoint_parts() override;
  [[nodiscard]] std::string why_not_suspendable() const override;
  [[nodiscard]] std::string label() const override { return "kernel " + bound.info().name + ": "; }

  [[nodiscard]] Words& words() const { return memory->words(); }

  const BoundKernel bound;
  const Shape shape;
  std::optional<JobMemory> memory;  // set once the kernel is compiled
  std::uint64_t fault_at = 0;       // when a fault was first seen
  /// Only with a scheduler group. While the job runs: the number of its context, whether its start
  /// is still pending, and the counts last read there.
  std::optional<std::uint32_t> context;
  bool ordered = false;
  std::uint32_t joins_seen = 0;
  std::uint32_t leaves_seen = 0;
};

}  // namespace cohort::opencl
