// How much memory there is to ask for.
#pragma once

#include <unistd.h>

namespace cohort {

/// Of this machine, in bytes.
[[nodiscard]] inline double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace cohort
