// Every message of cohortc about a kernel, in one table. Messages are reported through Clang's
// diagnostics, with location, caret, notes and fix-its. Invariant: a pass reports a message by its
// name and never contains its text.
#pragma once

#include <clang/Basic/Diagnostic.h>

namespace cohort::compiler {

/// Names of the diagnostics; diagnostics.cpp has the texts.
enum class Say {
  // A kernel and its parameters.
  parameter_assigned,
  parameter_address,
  unknown_kill_order,
  unknown_survivors,
  trait_not_on_kernel,
  kernel_called,
  program_scope_variable,
  constant_address,
  undeclared_dimension,
  // Valid OpenCL C that cohortc does not support.
  unsupported_type,
  unsupported_builtin,
  unsupported_construct,
  recursion,
  not_defined,
  indirect_call,
  goto_among_points,
  // Places where primitives are allowed.
  primitive_not_a_statement,
  helper_not_a_statement,
  divergent_primitive,
  group_divergent_primitive,
  depends_on_thread_here,
  depends_on_group_here,
  any_order_barrier,
  any_order_stride,
  // transmit
  transmit_scope,
  transmit_parameter,
  transmit_array,
  transmit_local_memory,
  transmit_event,
  transmit_local_pointer,
  transmit_private_pointer,
  transmit_not_uniform,
  transmit_group_dependent,
  transmit_no_points,
  transmit_unused,
  not_transmitted,
  maybe_not_transmitted,
  not_transmittable,
  local_memory_read,
  read_here,
  also_at,
  declare_transmit,
  keep_array,
  set_again,
  compute_again,
  not_root_scope,
  in_helper,
  called_here,
  declared_here,
  becomes_so_here,
  // remarks
  live_transmits,
  live_transmits_nothing,
  not_suspendable,
};

/// Starts a diagnostic. Arguments and fix-its are streamed into the result.
clang::DiagnosticBuilder report(clang::DiagnosticsEngine& engine, clang::SourceLocation at,
                                Say what);

}  // namespace cohort::compiler
