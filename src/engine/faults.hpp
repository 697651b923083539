// The text of faults in the error messages of every engine.
#pragma once

#include <string>

#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

/// Says what happened, to which group, and at which barrier. Barriers count from 0, as in traces.
inline std::string describe(FaultRecord record) {
  const bool known = record.group() != no_id;
  const std::string group = known ? "group " + std::to_string(record.group()) : "a group";
  const std::string barrier = "barrier " + std::to_string(record.gen());
  switch (record.fault()) {
    case Fault::none: return "no fault";
    case Fault::cancelled: return "cancelled";
    case Fault::exception:
      return std::string{"the kernel threw an exception"} +
             (known ? " in " + group + " before " + barrier : "");
    case Fault::returned_in_barrier:
      return group + " returned while others waited for it at " + barrier;
    case Fault::barrier_after_return:
      return group + " is at " + barrier + ", but another group has already returned";
    case Fault::divergent_barrier:
      return "groups met at different barriers: at " + barrier + " some called global_barrier, " +
             "others resizing_global_barrier; " + group + " noticed";
    case Fault::divergent_group:
      return "the threads of " + group + " called different group-level functions before " +
             barrier;
    case Fault::used_after_leaving:
      return group + " continued before " + barrier + ", although a primitive had told it to leave";
    case Fault::lost_group: return "a group was lost: this is a bug in cohort, please report it";
  }
  return "unknown fault";
}

/// The same text. If the contract was broken, also says how to find the cause.
inline std::string explain(FaultRecord record) {
  const Fault fault = record.fault();
  const bool broken = fault >= Fault::returned_in_barrier && fault <= Fault::used_after_leaving;
  return describe(record) +
         (broken ? "; to see a schedule that leads there, run the kernel under the explorer: "
                   "cohort::explore::check() in a test of a C++ kernel, or `cohort check APP` for "
                   "an app (docs/explorer.md)"
                 : "");
}

}  // namespace cohort::protocol
