// Lookup by name. For an unknown name, the error lists the known ones.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "cohort/error.hpp"

namespace cohort {

/// The element of `choices` with that name. Throws Error{bad_options} if there is none; the message
/// calls the elements `kind`.
template <class Choices>
const auto& choose(const std::string& kind, std::string_view name, const Choices& choices) {
  const auto found =
      std::ranges::find_if(choices, [&](const auto& each) { return each.name == name; });
  if (found != choices.end()) return *found;
  std::string known;
  for (const auto& each : choices) known += (known.empty() ? "" : ", ") + std::string{each.name};
  throw Error{Errc::bad_options,
              "no " + kind + " '" + std::string{name} + "'; choose one of " + known};
}

}  // namespace cohort
