// A GPU as a place for experiments: the apps as the CUDA engine runs them, with our own algorithms.
#pragma once

#include "bench/place.hpp"

namespace cohort::bench {

[[nodiscard]] std::unique_ptr<Place> make_cuda_place(const PlaceOptions& options);

}  // namespace cohort::bench
