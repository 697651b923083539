// The measurements of the CUDA scenarios as plain functions: nvcc compiles the kernels, but not the
// code that writes records.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace cohort::bench::device {

/// The name, the number of SMs, the driver and other facts about a device.
struct Description {
  std::string name;
  std::uint32_t sms = 0;
  std::uint32_t threads = 0;    ///< maximum number of threads on an SM
  std::uint32_t registers = 0;  ///< number of registers of an SM
  int driver = 0;               ///< as CUDA numbers versions, e.g. 13000
  int runtime = 0;              ///< as CUDA numbers versions
};

/// Throws Error{unsupported} if there is no device.
[[nodiscard]] Description describe();

/// One engine for a whole scenario.
class Bench {
 public:
  Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench();

  struct Load {
    std::uint32_t blocks = 132;
    std::uint32_t threads = 256;
    std::uint32_t batches = 20;
    std::uint32_t barriers = 1000;  ///< number of barriers in a batch
  };
  /// Nanoseconds per barrier in each batch.
  [[nodiscard]] std::vector<double> grid_sync(const Load& load);
  [[nodiscard]] std::vector<double> global_barrier(const Load& load);
  [[nodiscard]] std::vector<double> resizing_barrier(const Load& load);
  /// The same for a __global__ function.
  [[nodiscard]] std::vector<double> grid_function(const Load& load);
  [[nodiscard]] std::vector<double> static_barrier(const Load& load);

  /// The solver of examples/cuda, or its original: nanoseconds per step, and the solution.
  [[nodiscard]] std::vector<double> solve(bool ported, std::uint32_t steps,
                                          std::vector<double>& solution);

  /// The kernel that fills the GPU while SMs are requested.
  enum class Beside : std::uint8_t { nothing, any, highest_first, barrier, solver };
  /// How SMs are requested: by a lease around the caller's own kernel, or by submit().
  enum class By : std::uint8_t { lease, submit };
  struct Demand {
    Beside beside = Beside::nothing;
    std::uint32_t sms = 1;
    std::uint32_t trials = 50;
    std::uint32_t interval_ns = 10'000;  ///< time between two offers of a group
    By by = By::lease;
  };
  /// Times from the request until all the SMs are held together, in nanoseconds.
  [[nodiscard]] std::vector<double> gather(const Demand& demand, const std::stop_token& stop);

  struct Products {
    std::vector<double> alone;   ///< nanoseconds from the call to the result, on the idle GPU
    std::vector<double> leased;  ///< the same with a lease, next to a kernel that fills the GPU
    bool verified = false;       ///< whether the results of that kernel were right
    std::uint64_t leaves = 0;
  };
  /// Times of cuBLAS products of `size`³; empty if there is no cuBLAS.
  [[nodiscard]] Products products(std::uint32_t size, std::uint32_t sms, std::uint32_t trials);

  /// Whether a kernel with global barriers finishes if it has `times` as many groups as fit.
  [[nodiscard]] bool many_groups_finish(std::uint32_t times, std::uint32_t rounds,
                                        std::uint32_t* groups);

  /// A __global__ function with barriers that starts while another kernel holds SMs. That kernel
  /// holds them until the function is done.
  struct NextToHeld {
    bool finishes = false;
    std::uint32_t groups = 0;  ///< number of groups at the start
    double seconds = 0;
  };
  [[nodiscard]] NextToHeld function_next_to(std::uint32_t sms, std::uint32_t rounds);

 private:
  struct Inside;
  Inside* inside_;
};

/// Whether such a kernel finishes with a fixed number of blocks: as many as fit on the whole GPU.
/// Gives up after a second.
[[nodiscard]] bool fixed_finishes_next_to(std::uint32_t sms, std::uint32_t rounds);

/// A spin barrier of plain CUDA with one block more than fit at the same time. Does not return.
void spin_for_ever();

}  // namespace cohort::bench::device
