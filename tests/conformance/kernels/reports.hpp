// Kernels of reports_test.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Does not offer itself while it is busy.
struct Busy {
  std::uint32_t* stop;
  std::uint32_t* idle;

  auto twin() const { return twin_of("reports/busy", stop, idle); }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    hold(group, idle);
    while (!told(group, stop)) {
      if (group.offer(state)) return;
      pause(group);
    }
  }
};

using reports_kernels = KernelList<Busy>;

}  // namespace cohort::test
