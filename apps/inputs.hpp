// Inputs of apps that do not work on graphs: `particles:3000000`, `connect4:6`.
#pragma once

#include "graph/arguments.hpp"

namespace cohort::apps {

inline constexpr SpecKind particles_spec{.syntax = "particles:<count>",
                                         .example = "particles:3000000",
                                         .summary = "particles in clusters of 100, for octree"};
inline constexpr SpecKind connect4_spec{.syntax = "connect4:<depth>",
                                        .example = "connect4:6",
                                        .summary = "connect four so many moves ahead, for game"};

/// The number in a spec of that kind. Throws Error{bad_options} when `spec` is something else, or
/// the number is not in [least, most].
inline std::uint64_t number_in(std::string_view spec, const SpecKind& kind, const char* what,
                               std::uint64_t least, std::uint64_t most) {
  const SpecArguments arguments{spec, kind};
  if (kind_of(spec) != kind_of(kind.syntax)) arguments.refuse("this app takes another input");
  arguments.finish();
  return arguments.number(what, least, most);
}

}  // namespace cohort::apps
