// The processes of scenario "tenants": a job, and a renderer next to it. Each is this program
// again.
#pragma once

#include <cstdint>
#include <string>

namespace cohort::bench {

/// One of the processes. It prints JSON at its end.
struct TenantsPart {
  std::string what = "job";   ///< job or renderer
  std::string engine = {};    ///< job: shares its engine under this name; renderer: leases from it
  std::uint64_t begin = 0;    ///< of the measurement, by cpu::now()
  std::uint64_t length = 0;   ///< in nanoseconds
  std::uint64_t work = 0;     ///< steps of arithmetic of a frame, or of a step of the job
  std::uint32_t workers = 1;  ///< of the job
  double rate = 0;            ///< mean frames per second
  std::uint64_t seed = 0;     ///< of the arrivals
  int nice = 0;
  std::string cgroup = {};  ///< the folder of the one to join; empty: none
};
void tenants_part(const TenantsPart& part);

}  // namespace cohort::bench
