// Calls that an engine refuses.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>

#include "cohort/error.hpp"

namespace cohort::test {

/// Expects `call` to throw an Error of this code whose message contains `text`.
template <class Call>
void expect_error(Call call, Errc code, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "no error, but it should say: " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

/// Returns the code of the Error that `call` throws.
template <class Call>
std::optional<Errc> refused(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return {};
}

}  // namespace cohort::test
