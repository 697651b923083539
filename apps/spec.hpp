// Input specs of apps that do not work on graphs: `particles:3000000`, `connect4:6`.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "cohort/error.hpp"

namespace cohort::apps {

/// The number after `kind:`. Throws Error{bad_options} when `spec` is something else, or the number
/// is not in [least, most].
inline std::uint64_t numbered_spec(std::string_view spec, std::string_view kind,
                                   std::uint64_t least, std::uint64_t most) {
  const std::string start = std::string{kind} + ":";
  if (spec.starts_with(start)) {
    std::uint64_t number = 0;
    const char* const end = spec.data() + spec.size();
    const auto [stopped, error] = std::from_chars(spec.data() + start.size(), end, number);
    if (error == std::errc{} && stopped == end && number >= least && number <= most) return number;
  }
  throw Error{Errc::bad_options, "input '" + std::string{spec} + "': write " + start +
                                     "N with a whole number from " + std::to_string(least) +
                                     " to " + std::to_string(most)};
}

}  // namespace cohort::apps
