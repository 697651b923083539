// Restricts threads to CPUs, so that a scenario means the same on every machine.
#pragma once

#include <sched.h>

#include <cstdint>
#include <vector>

namespace cohort::bench {

/// The CPUs the calling thread may use.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Binds the calling thread to one CPU.
void pin(int cpu);

/// Restricts the calling thread, and all threads and processes it starts, to the first `count` of
/// its CPUs until the end of the scope.
class Confined {
 public:
  explicit Confined(std::uint32_t count);
  Confined(const Confined&) = delete;
  Confined& operator=(const Confined&) = delete;
  ~Confined();

 private:
  cpu_set_t before_{};
};

}  // namespace cohort::bench
