#include "bench/openmp_barrier.hpp"

#include <omp.h>

#include <stdexcept>

#include "bench/affinity.hpp"
#include "bench/barrier_loop.hpp"
#include "cohort/cpu.hpp"

namespace cohort::bench {

std::vector<double> openmp_barrier(const BarrierLoad& load) {
  const std::vector<int> cpus = allowed_cpus();
  std::vector<std::uint64_t> marks(load.batches + 1);
  int threads = 0;
  omp_set_dynamic(0);
#pragma omp parallel num_threads(static_cast <int>(load.threads)) default(shared)
  {
    const auto id = static_cast<std::size_t>(omp_get_thread_num());
    if (load.pinned) pin(cpus[id % cpus.size()]);
    if (id == 0) threads = omp_get_num_threads();
    for (std::uint64_t& mark : marks) {
      for (std::uint32_t i = 0; i < load.barriers; ++i) {
#pragma omp barrier
      }
      if (id == 0) mark = cpu::now();
    }
  }
  if (threads != static_cast<int>(load.threads))
    throw std::runtime_error{"OpenMP gave fewer threads than asked for: see OMP_THREAD_LIMIT"};
  return per_barrier(load.barriers, marks);
}

}  // namespace cohort::bench
