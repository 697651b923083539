// A shift: one launch of the megakernel, from its workers' check-in until all of them have exited.
#pragma once

#include <array>
#include <chrono>
#include <span>

#include "opencl/layout.hpp"
#include "opencl/megakernel.hpp"

namespace cohort::opencl {

/// The threads of a group in three dimensions.
using Shape = std::array<std::uint32_t, 3>;

class Shift {
 public:
  struct Size {
    std::uint32_t workers = 1;
    /// Whether this number of workers is known to run at the same time. If not, the megakernel
    /// first counts how many do, and the shift has no more than that.
    bool counted = false;
    Shape shape{};
    std::uint32_t more_local = 0;  ///< bytes of local memory of a worker, for parameters of kernels
    /// The number of jobs and tasks that a scheduler group serves; 0: there is no such group.
    std::uint32_t contexts = 0;
    /// For a CPU device: how long the shift waits for workers.
    std::chrono::milliseconds patience{0};
  };

  Shift(const cl::Context& context, const Chosen& device, const Megakernel& megakernel,
        const std::shared_ptr<SharedMemory>& memory, const Size& size);

  [[nodiscard]] Shape shape() const { return shape_; }
  [[nodiscard]] std::uint32_t more_local() const { return more_local_; }
  /// Number of workers that will check in.
  [[nodiscard]] std::uint32_t workers() const {
    return pool().desk_count - (schedules_itself() ? 1 : 0);
  }
  /// Number of workers that have checked in and can be sent.
  [[nodiscard]] std::uint32_t here() const;
  [[nodiscard]] Desk& desk(std::uint32_t worker) const { return pool().desks[worker]; }
  [[nodiscard]] bool schedules_itself() const { return pool().context_count != 0; }
  [[nodiscard]] std::uint32_t context_count() const { return pool().context_count; }
  [[nodiscard]] cohort::opencl::Context& context(std::uint32_t which) const {
    return pool().contexts[which];
  }
  /// Limits the number of workers that the scheduler group keeps busy at a time.
  void limit(std::uint32_t workers) { pool().limit.store(workers, std::memory_order_relaxed); }
  /// Sends all workers home: each exits when it is idle.
  void dismiss();
  /// Waits for the end of the launch. Returns false on a timeout.
  [[nodiscard]] bool over(std::chrono::milliseconds patience) const;

 private:
  std::uint32_t take_census(std::uint32_t groups, std::chrono::milliseconds quiet);
  void enqueue(std::uint32_t groups);
  [[nodiscard]] Pool& pool() const { return *reinterpret_cast<Pool*>(memory_.data()); }

  Block memory_;
  Shape shape_;
  std::uint32_t more_local_;
  cl::Kernel kernel_;
  cl::CommandQueue queue_;
  cl::Event ended_;
};

}  // namespace cohort::opencl
