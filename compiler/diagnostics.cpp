#include "compiler/diagnostics.hpp"

namespace cohort::compiler {
namespace {

struct Text {
  clang::DiagnosticIDs::Level level;
  const char* text;
};

Text text_of(Say what) {
  using enum clang::DiagnosticIDs::Level;
  switch (what) {
    case Say::parameter_assigned:
      return {Error,
              "parameter %0 of a kernel is immutable: groups that join read it again; copy it into "
              "a variable"};
    case Say::parameter_address:
      return {Error,
              "address of parameter %0 taken: parameters of a kernel are immutable; copy it into a "
              "variable"};
    case Say::unknown_kill_order:
      return {Error, "unknown kill_order(%0): use kill_order(highest_first) or kill_order(any)"};
    case Say::unknown_survivors:
      return {Error, "unknown survivors(%0): use survivors(keep_one) or survivors(may_all_leave)"};
    case Say::trait_not_on_kernel:
      return {Error, "%0 applies to kernels only, and %1 is not a kernel"};
    case Say::kernel_called:
      return {Error,
              "kernel %0 is called like a function, but has local memory of its own; move its body "
              "into a function that both call with their local memory"};
    case Say::program_scope_variable:
      return {Error,
              "variable %0 in program scope is not supported unless it is 'constant'; pass a "
              "pointer to the kernel"};
    case Say::constant_address:
      return {Error, "the address of %0 is used, so declare it 'constant'"};
    case Say::undeclared_dimension:
      return {Error,
              "kernel %1 uses dimension %0, but groups join and leave along dimension 0: declare "
              "the shape of a group with reqd_work_group_size"};
    case Say::unsupported_type: return {Error, "type %0 is not supported"};
    case Say::unsupported_builtin: return {Error, "built-in function %0 is not supported"};
    case Say::unsupported_construct: return {Error, "%0 is not supported"};
    case Say::recursion:
      return {Error,
              "recursion is not allowed in OpenCL C: %0 calls itself, directly or indirectly"};
    case Say::not_defined: return {Error, "function %0 is called but not defined in this file"};
    case Say::indirect_call:
      return {Error, "calls through function pointers are not allowed in OpenCL C"};
    case Say::goto_among_points:
      return {Error,
              "goto is not supported in %0, where groups can join or leave; use loops and break"};
    case Say::primitive_not_a_statement:
      return {Error, "%0 must be a statement by itself: groups continue after it"};
    case Say::helper_not_a_statement:
      return {Error,
              "groups can join or leave in %0, so its call must be a statement by itself, or all "
              "of the right-hand side of one"};
    case Say::divergent_primitive:
      return {Error,
              "%0 must be reached by all threads of a group, but control flow depends on the "
              "thread here"};
    case Say::group_divergent_primitive:
      return {Error,
              "%0 must be reached by all groups, but control flow depends on the group here"};
    case Say::depends_on_thread_here: return {Note, "this differs between the threads of a group"};
    case Say::depends_on_group_here: return {Note, "this differs between groups"};
    case Say::any_order_barrier:
      return {Error,
              "%0 in a kernel of kill_order(any): groups join and leave in any order, so there is "
              "no set of groups to wait for"};
    case Say::any_order_stride:
      return {Error,
              "%0 in a kernel of kill_order(any): its ids are not dense, so a stride would skip "
              "items; take work from a queue"};
    case Say::transmit_scope:
      return {Error,
              "'transmit' is for variables of the root scope of a kernel, and %0 is not one"};
    case Say::transmit_parameter:
      return {Error,
              "'transmit' on parameter %0: joining groups have the kernel's parameters anyway"};
    case Say::transmit_array:
      return {
          Error,
          "'transmit' on array %0: keep it in global memory, or transmit its elements one by one"};
    case Say::transmit_local_memory:
      return {Error,
              "'transmit' on %0, which is in local memory: a joining group has local memory of its "
              "own"};
    case Say::transmit_event:
      return {Error, "'transmit' on %0: wait for the event before groups may join or leave"};
    case Say::transmit_local_pointer:
      return {Error,
              "%0 points to local memory, so it cannot be transmitted: a joining group has local "
              "memory of its own"};
    case Say::transmit_private_pointer:
      return {Error,
              "%0 points to private memory, so it cannot be transmitted: a joining group has "
              "variables of its own"};
    case Say::transmit_not_uniform:
      return {Error,
              "%0 is transmitted here, but differs between the threads of a group: joining threads "
              "would all get thread 0's value"};
    case Say::transmit_group_dependent:
      return {Warning,
              "%0 is transmitted here, but differs between groups: joining groups get the value of "
              "the group that forks"};
    case Say::transmit_no_points:
      return {Warning, "'transmit' on %0 has no effect: no group can join kernel %1"};
    case Say::transmit_unused:
      return {Warning, "'transmit' on %0 has no effect: no joining group reads it"};
    case Say::not_transmitted:
      return {Error,
              "%0 is read by groups that join at this %1, but is neither 'transmit' nor computed "
              "again"};
    case Say::maybe_not_transmitted:
      return {Warning,
              "%0 may be read by groups that join at this %1, but is neither 'transmit' nor "
              "certainly written before"};
    case Say::not_transmittable:
      return {Error,
              "%0 cannot be transmitted: it points to %select{private|local}1 memory here, which a "
              "joining group does not share"};
    case Say::local_memory_read:
      return {Warning,
              "%0 is in local memory, and groups that join at this %1 may read theirs before they "
              "write it"};
    case Say::read_here: return {Note, "read here"};
    case Say::also_at: return {Note, "or join at this %0"};
    case Say::keep_array:
      return {Note,
              "%0 is an array: keep it in global memory, or compile with --transmit=live to "
              "transmit it"};
    case Say::set_again:
      return {Note,
              "%0 points to %select{private|local}1 memory, which a joining group does not share: "
              "set it again after this %2"};
    case Say::declare_transmit:
      return {Note, "declare %0 'transmit' to hand its value to joining groups"};
    case Say::compute_again:
      return {Note, "%0 depends on the %select{thread|group}1: compute it again after this %2"};
    case Say::not_root_scope:
      return {Note,
              "%0 is not in the root scope of the kernel: move it there and declare it 'transmit', "
              "or compile with --transmit=live"};
    case Say::in_helper:
      return {Note,
              "%0 belongs to a function that the kernel calls: compile with --transmit=live to "
              "transmit it"};
    case Say::called_here: return {Note, "reached through this call of %0"};
    case Say::declared_here: return {Note, "%0 is declared here"};
    case Say::becomes_so_here: return {Note, "%0 gets a value that differs here"};
    case Say::live_transmits: return {Remark, "kernel %0 transmits %1"};
    case Say::live_transmits_nothing: return {Remark, "kernel %0 transmits nothing"};
    case Say::not_suspendable:
      return {Remark,
              "kernel %0 cannot be suspended: %1 is needed after this offer_kill, but is not "
              "transmitted"};
  }
  return {Error, "unknown diagnostic"};
}

}  // namespace

clang::DiagnosticBuilder report(clang::DiagnosticsEngine& engine, clang::SourceLocation at,
                                Say what) {
  const Text text = text_of(what);
  return engine.Report(at, engine.getDiagnosticIDs()->getCustomDiagID(text.level, text.text));
}

}  // namespace cohort::compiler
