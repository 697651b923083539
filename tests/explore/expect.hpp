// How the checks of the protocol say what is wrong: mutants run them too, without GoogleTest.
#pragma once

#include <sstream>
#include <stdexcept>

namespace cohort::test {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws what is wrong, unless the condition holds.
template <class... Parts>
void expect(bool holds, const Parts&... otherwise) {
  if (holds) return;
  std::ostringstream sentence;
  (sentence << ... << otherwise);
  throw Wrong{sentence.str()};
}

}  // namespace cohort::test
