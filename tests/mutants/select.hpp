// Switches mutants on: one binary contains all of them, and at most one is active.
#pragma once

#include <type_traits>

namespace cohort::mutants {

inline int selected = 0;      // id of the active mutant; 0: the unchanged protocol
inline bool reached = false;  // whether a run has executed the active mutant

/// Constant expressions keep their original meaning.
constexpr bool on(int id) {
  if (std::is_constant_evaluated()) return false;
  if (selected != id) return false;
  reached = true;
  return true;
}

template <class T>
constexpr T pick(int id, T original, T changed) {
  return on(id) ? changed : original;
}

}  // namespace cohort::mutants
