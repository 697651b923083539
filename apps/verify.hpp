// Compares an app's result with a reference, node by node.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cohort::apps {

/// Describes the first difference, if any: "node 3 has level 2 instead of none". `name` describes a
/// value.
template <class Found, class Expected, class Name>
std::optional<std::string> first_difference(const std::string& what,
                                            const std::vector<Found>& found,
                                            const std::vector<Expected>& expected, Name name) {
  if (found.size() != expected.size())
    return std::to_string(found.size()) + " results for " + std::to_string(expected.size()) +
           " nodes";
  for (std::size_t node = 0; node < found.size(); ++node) {
    if (found[node] != expected[node])
      return "node " + std::to_string(node) + " has " + what + " " + name(found[node]) +
             " instead of " + name(expected[node]);
  }
  return std::nullopt;
}

}  // namespace cohort::apps
