// Lookup by name. An unknown name is answered with the known ones.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "cohort/error.hpp"

namespace cohort {

/// The entry of `choices` with that `name`. Throws Error{bad_options}, which calls it a `kind`.
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
