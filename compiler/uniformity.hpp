// Third pass: determines which values are the same in all groups, and which are the same in all
// threads of a group. From this follows which primitives only some threads reach. Each kernel is
// run abstractly, including its calls. Pointers into private memory are tracked. For other memory
// the pass assumes that a value read from one address is the same for all its readers, because a
// race-free kernel has a barrier in between.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

/// How widely a value is shared. A greater level means that it differs more.
enum class Level : unsigned char { kernel, group, thread };

/// A value's level and the place that caused the level. At a point, also the memory to which the
/// value may point.
struct Fact {
  Level level = Level::kernel;
  clang::SourceLocation why;
  bool to_private = false;
  bool to_local = false;
};

/// The levels of the kernel's variables at one of its points.
using Facts = std::map<Variable, Fact>;

/// Runs a kernel abstractly and reports primitives that only some threads or groups reach. Returns
/// the knowledge at each point, in the order of the points.
[[nodiscard]] std::vector<Facts> check_uniformity(Program& program, const Kernel& kernel);

}  // namespace cohort::compiler
