// Checks the events of a run as they happen: ids, M, and who must have arrived before anybody passes.
#pragma once

#include <string>
#include <vector>

#include "cohort/explore/world.hpp"

namespace cohort::explore {

class Monitor {
 public:
  void begin(const Rules& rules);
  /// What is wrong with this event; nothing if it is as it should be.
  [[nodiscard]] std::string check(const TraceEvent& event);

 private:
  struct Holder {
    bool in = false;       // a group has this id and is in the kernel
    bool arrived = false;  // at the barrier that ends its interval
    std::uint64_t interval = 0;
  };
  Rules rules_;
  std::vector<Holder> holders_;
};

}  // namespace cohort::explore
