// Failure reports of the protocol's checks. They do not use GoogleTest, because mutants run the
// checks too.
#pragma once

#include <sstream>
#include <stdexcept>

namespace cohort::test {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws a description of what is wrong unless the condition holds.
template <class... Parts>
void expect(bool holds, const Parts&... otherwise) {
  if (holds) return;
  std::ostringstream sentence;
  (sentence << ... << otherwise);
  throw Wrong{sentence.str()};
}

}  // namespace cohort::test
