// The switch of the mutants: one binary holds all of them, and at most one is on.
#pragma once

#include <type_traits>

namespace cohort::mutants {

inline int selected = 0;      // 0: the protocol as it is
inline bool reached = false;  // whether a run has come to the mutant that is on

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
