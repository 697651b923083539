// Inputs of apps that do not work on graphs (`particles:3000000`, `connect4:6`, `llama:1b`), and
// sharing of loaded inputs.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "graph/arguments.hpp"

namespace cohort::apps {

inline constexpr SpecKind particles_spec{.syntax = "particles:<count>",
                                         .example = "particles:3000000",
                                         .summary = "particles in clusters of 100, for octree"};
inline constexpr SpecKind connect4_spec{
    .syntax = "connect4:<depth>",
    .example = "connect4:6",
    .summary = "connect four, looking that many moves ahead, for game"};
inline constexpr SpecKind llama_spec{
    .syntax = "llama:<size>[,seed=<n>]",
    .example = "llama:1b",
    .summary = "a Llama of random weights: tiny, 100m, 1b or 8b, for decode"};
/// All kinds of such inputs.
inline constexpr std::array other_specs{particles_spec, connect4_spec, llama_spec};

/// The number in a spec of that kind. Throws Error{bad_options} for a spec of another kind, or a
/// number outside [least, most].
inline std::uint64_t number_in(std::string_view spec, const SpecKind& kind, const char* what,
                               std::uint64_t least, std::uint64_t most) {
  const SpecArguments arguments{spec, kind};
  if (kind_of(spec) != kind_of(kind.syntax)) arguments.refuse("this app takes another input");
  arguments.finish();
  return arguments.number(what, least, most);
}

/// Returns the shared input with that key, and calls load() if no user holds it any more.
/// Thread-safe.
template <class T, class Load>
std::shared_ptr<const T> shared_input(const std::string& key, Load load) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const T>> all;
  const std::scoped_lock lock{mutex};
  if (auto found = all[key].lock()) return found;
  auto loaded = std::make_shared<const T>(load());
  all[key] = loaded;
  return loaded;
}

}  // namespace cohort::apps
