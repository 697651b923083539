// The processes of scenario "tenants": a job, and a renderer next to it. Each of them is this
// program, started again.
#pragma once

#include <cstdint>
#include <string>

namespace cohort::bench {

/// Arguments of one of the processes. Each prints JSON at its end.
struct TenantsPart {
  std::string what = "job";  ///< "job" or "renderer"
  /// The job shares its engine under this name, and the renderer leases from it.
  std::string engine = {};
  std::uint64_t begin = 0;    ///< start of the measurement, by cpu::now()
  std::uint64_t length = 0;   ///< length of the measurement in nanoseconds
  std::uint64_t work = 0;     ///< steps of arithmetic in a frame, or in a step of the job
  std::uint32_t workers = 1;  ///< number of workers of the job
  double rate = 0;            ///< mean number of frames per second
  std::uint64_t seed = 0;     ///< seed for the arrival times
  int nice = 0;
  bool apart = false;       ///< whether the renderer gets the last CPU, and the job the others
  std::string cgroup = {};  ///< folder of the cgroup to join; empty if none
};
void tenants_part(const TenantsPart& part);

}  // namespace cohort::bench
