// The measurements of the CUDA scenarios as plain functions: nvcc compiles the kernels, but not the
// code that writes records.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace cohort::bench::device {

/// Name, SMs, driver and so on.
struct Description {
  std::string name;
  std::uint32_t sms = 0;
  std::uint32_t threads = 0;    ///< room on an SM
  std::uint32_t registers = 0;  ///< of an SM
  int driver = 0;               ///< as CUDA counts, e.g. 13000
  int runtime = 0;              ///< likewise
};

/// Throws Error{unsupported} where there is no device.
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
    std::uint32_t barriers = 1000;  ///< in a batch
  };
  /// Nanoseconds per barrier in each batch.
  [[nodiscard]] std::vector<double> grid_sync(const Load& load);
  [[nodiscard]] std::vector<double> global_barrier(const Load& load);
  [[nodiscard]] std::vector<double> resizing_barrier(const Load& load);
  /// The same in a __global__ function.
  [[nodiscard]] std::vector<double> grid_function(const Load& load);
  [[nodiscard]] std::vector<double> static_barrier(const Load& load);

  /// The solver of examples/cuda, or its original: nanoseconds per step, and the solution.
  [[nodiscard]] std::vector<double> solve(bool ported, std::uint32_t steps,
                                          std::vector<double>& solution);

  /// The kernel that fills the GPU while SMs are requested.
  enum class Beside : std::uint8_t { nothing, any, highest_first, barrier, solver };
  /// How SMs are requested: by a lease around a kernel of the caller's, or by submit().
  enum class By : std::uint8_t { lease, submit };
  struct Demand {
    Beside beside = Beside::nothing;
    std::uint32_t sms = 1;
    std::uint32_t trials = 50;
    std::uint32_t interval_ns = 10'000;  ///< between a group's offers
    By by = By::lease;
  };
  /// Times from the request until all the SMs are held together, in nanoseconds.
  [[nodiscard]] std::vector<double> gather(const Demand& demand, const std::stop_token& stop);

  struct Products {
    std::vector<double> alone;   ///< ns from the call to the result, on the idle GPU
    std::vector<double> leased;  ///< with a lease, next to a kernel that fills the GPU
    bool verified = false;       ///< of that kernel's result
    std::uint64_t leaves = 0;
  };
  /// cuBLAS products of `size`³; empty where there is no cuBLAS.
  [[nodiscard]] Products products(std::uint32_t size, std::uint32_t sms, std::uint32_t trials);

  /// Whether the same kernel of global barriers, with `times` as many groups as fit, finishes.
  [[nodiscard]] bool many_groups_finish(std::uint32_t times, std::uint32_t rounds,
                                        std::uint32_t* groups);

  /// A __global__ function with barriers, started while another kernel holds SMs until it is done.
  struct NextToHeld {
    bool finishes = false;
    std::uint32_t groups = 0;  ///< at the start
    double seconds = 0;
  };
  [[nodiscard]] NextToHeld function_next_to(std::uint32_t sms, std::uint32_t rounds);

 private:
  struct Inside;
  Inside* inside_;
};

/// Whether the same kernel finishes with a fixed number of blocks, as many as fit on the whole GPU.
/// Gives up after a second.
[[nodiscard]] bool fixed_finishes_next_to(std::uint32_t sms, std::uint32_t rounds);

/// A spin barrier of plain CUDA with one block more than fit at a time. Does not return.
void spin_for_ever();

}  // namespace cohort::bench::device
