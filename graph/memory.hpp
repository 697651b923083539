// Size of this machine's memory.
#pragma once

#include <unistd.h>

namespace cohort {

/// Physical memory, in bytes.
[[nodiscard]] inline double machine_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace cohort
