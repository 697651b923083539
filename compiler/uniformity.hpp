// Third pass: which values are the same for all groups, for all threads of a group, or for neither;
// and so which primitives are reached by some threads only. An abstract run of each kernel, calls
// included. Private memory is followed through pointers. Other memory is trusted: a value read from
// one address is the same for all its readers, because a race-free kernel has a barrier there.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// How far a value is shared; a larger one differs more.
enum class Level : unsigned char { kernel, group, thread };

/// A value's level and the place that made it so; at a point, what it may point to or hold a
/// pointer to.
struct Fact {
  Level level = Level::kernel;
  clang::SourceLocation why;
  bool to_private = false;
  bool to_local = false;
};

/// The levels of the kernel's variables at one of its points.
using Facts = std::map<Variable, Fact>;

/// Runs a kernel. Reports primitives that not all reach. Returns what is known at each point, in
/// their order.
[[nodiscard]] std::vector<Facts> check_uniformity(Program& program, const Kernel& kernel);

}  // namespace cohort::compiler
