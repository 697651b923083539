// Faults in words, for the errors of every engine.
#pragma once

#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {

inline const char* explain(Fault fault) {
  switch (fault) {
    case Fault::none: return "no fault";
    case Fault::cancelled: return "cancelled";
    case Fault::exception: return "the kernel threw an exception";
    case Fault::returned_in_barrier:
      return "a group returned while others waited for it in a barrier";
    case Fault::barrier_after_return:
      return "a group arrived at a barrier after another group had returned";
    case Fault::divergent_barrier:
      return "groups met at different barriers: some at global_barrier, others at "
             "resizing_global_barrier";
    case Fault::divergent_group:
      return "the threads of a group called different group-level functions";
    case Fault::used_after_leaving: return "a group went on after a primitive had told it to leave";
    case Fault::lost_group: return "a group was lost: this is a bug in cohort, please report it";
  }
  return "unknown fault";
}

}  // namespace cohort::protocol
