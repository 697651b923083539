// Measures the time to obtain SMs: a lease around a kernel that stays until it holds all of them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cohort/cuda.hpp"

namespace cohort::bench {

class Holder {
 public:
  explicit Holder(cuda::Engine& engine);
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder();

  /// Nanoseconds from the request until `sms` SMs are held at the same time and the host knows it.
  /// Throws Error{bad_state} after a second.
  double hold(std::uint32_t sms) { return hold(sms, false); }

  struct Stamped {
    double held;          ///< nanoseconds from the call
    std::uint64_t asked;  ///< the device's clock when the stream reached the request
  };
  Stamped hold_stamped(std::uint32_t sms) {
    const double held = hold(sms, true);
    return {held, *static_cast<volatile std::uint64_t*>(asked_)};
  }

 private:
  double hold(std::uint32_t sms, bool stamped);

  cuda::Engine& engine_;
  cudaStream_t stream_ = nullptr;
  std::uint32_t* told_ = nullptr;   // pinned memory
  std::uint64_t* asked_ = nullptr;  // pinned memory
  Buffer<std::uint32_t> count_;
  std::uint32_t held_ = 0;  // number of blocks so far
};

}  // namespace cohort::bench
