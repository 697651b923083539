// A GPU as a place for experiments: the apps as the CUDA engine runs them, with our own algorithms.
#pragma once

#include <charconv>

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

[[nodiscard]] std::unique_ptr<Place> make_cuda_place(const PlaceOptions& options);

}  // namespace cohort::bench
