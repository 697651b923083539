// What joining groups receive: the choice of the command line.
#pragma once

namespace cohort::compiler {

/// Which variables a joining group receives, and from whom (appendix B of the paper).
enum class Transmit {
  annotated,   ///< those that say so, from thread 0
  live,        ///< those that a joining group can read, from thread 0
  all,         ///< every variable in scope, from thread 0
  per_thread,  ///< those that a joining group can read, from the thread of the same local id
};

}  // namespace cohort::compiler
