// Looking something up by name; a name that is not there is answered with those that are.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "cohort/error.hpp"

namespace cohort {

/// The one of `choices` whose `name` is `name`. Throws Error{bad_options}; `kind` says what it is.
template <class Choices>
const auto& choose(const std::string& kind, std::string_view name, const Choices& choices) {
  const auto found =
      std::ranges::find_if(choices, [&](const auto& each) { return each.name == name; });
  if (found != choices.end()) return *found;
  std::string known;
  for (const auto& each : choices) known += (known.empty() ? "" : ", ") + std::string{each.name};
  throw Error{Errc::bad_options, "no " + kind + " '" + std::string{name} + "'; there is " + known};
}

}  // namespace cohort
