// A GPU as a place for experiments: the apps as the CUDA engine runs them, with our own algorithms.
#pragma once

#include <algorithm>
#include <charconv>

#include "bench/cuda/pairs.hpp"
#include "bench/place.hpp"
#include "cohort/error.hpp"

namespace cohort::bench {

/// A GPU as --device says it; 0 for nothing. Throws Error{bad_options}.
[[nodiscard]] inline int cuda_number(const std::string& device) {
  int number = 0;
  const char* const end = device.data() + device.size();
  const auto [rest, error] = std::from_chars(device.data(), end, number);
  if (!device.empty() && (error != std::errc{} || rest != end)) {
    throw Error{Errc::bad_options,
                "--device " + device + "; with --engine cuda it is the number of a GPU, e.g. 0"};
  }
  return number;
}

/// How many blocks of that size are `threads` on an SM, if a job can have so many on `sms`.
[[nodiscard]] constexpr std::uint32_t blocks_on_sm(std::uint32_t threads, std::uint32_t local_size,
                                                   std::uint32_t sms) {
  const std::uint32_t size = local_size > 1 ? local_size : cuda_local_size;
  const std::uint32_t in_warps = (size + 31) / 32 * 32;  // that is how an SM counts them
  return std::clamp(threads / in_warps, 1U, std::max(max_groups_limit / sms, 1U));
}
static_assert(blocks_on_sm(1024, 256, 132) == 4 && blocks_on_sm(1024, 1, 132) == 4);
static_assert(blocks_on_sm(256, 1024, 132) == 1 && blocks_on_sm(1024, 0, 132) == 4);
static_assert(blocks_on_sm(1024, 100, 132) == 8 && blocks_on_sm(1024, 2, 132) == 31);

[[nodiscard]] std::unique_ptr<Place> make_cuda_place(const PlaceOptions& options);

}  // namespace cohort::bench
