#include "bench/affinity.hpp"

namespace cohort::bench {

std::vector<int> allowed_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(cpu), &mask);
  ::sched_setaffinity(0, sizeof mask, &mask);
}

Confined::Confined(std::uint32_t count) {
  CPU_ZERO(&before_);
  ::sched_getaffinity(0, sizeof before_, &before_);
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : allowed_cpus()) {
    if (count-- == 0) break;
    CPU_SET(static_cast<std::size_t>(cpu), &mask);
  }
  ::sched_setaffinity(0, sizeof mask, &mask);
}

Confined::~Confined() { ::sched_setaffinity(0, sizeof before_, &before_); }

}  // namespace cohort::bench
