// The option that chooses which variables joining groups receive.
#pragma once

namespace cohort::compiler {

/// Which variables a joining group receives, and from which threads (appendix B of the paper).
enum class Transmit {
  annotated,   ///< variables declared `transmit`, from thread 0
  live,        ///< variables that a joining group may read, from thread 0
  all,         ///< every variable in scope, from thread 0
  per_thread,  ///< variables that a joining group may read, from the thread with the same local id
};

}  // namespace cohort::compiler
