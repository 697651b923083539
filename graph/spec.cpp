#include "graph/spec.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "cohort/error.hpp"
#include "graph/generators.hpp"

namespace cohort {
namespace {

constexpr std::array kinds{
    SpecKind{.syntax = "grid:<width>x<height>",
             .example = "grid:1000x1000",
             .summary = "undirected grid, up to four neighbours a node"},
};

[[noreturn]] void refuse(std::string_view spec, const std::string& why) {
  throw Error{Errc::bad_options, "input '" + std::string{spec} + "': " + why};
}

/// A whole number and nothing else; the largest there is when it is larger than that.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return error == std::errc{} && stopped == end ? std::optional{value} : std::nullopt;
}

Csr load_grid(std::string_view spec, std::string_view size) {
  const std::size_t cross = size.find('x');
  if (cross == std::string_view::npos) refuse(spec, "write it as grid:<width>x<height>");
  const auto width = number(size.substr(0, cross));
  const auto height = number(size.substr(cross + 1));
  if (!width || !height || *width == 0 || *height == 0)
    refuse(spec, "width and height must be whole numbers from 1, as in grid:1000x1000");
  constexpr std::uint64_t most = std::numeric_limits<Node>::max();
  if (*width > most / *height)
    refuse(spec, "a graph has at most " + std::to_string(most) + " nodes: choose a smaller grid");

  const std::uint64_t nodes = *width * *height;
  const std::uint64_t bytes = nodes * (sizeof(std::uint64_t) + 4 * sizeof(Node));
  const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > memory) {
    refuse(spec, "needs " + std::to_string(bytes >> 20U) + " MiB, and this machine has " +
                     std::to_string(memory >> 20U) + " MiB: choose a smaller grid");
  }
  return grid(static_cast<Node>(*width), static_cast<Node>(*height));
}

}  // namespace

std::span<const SpecKind> graph_specs() { return kinds; }

Csr load_graph(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  const std::string_view kind = spec.substr(0, colon);
  if (kind == "grid")
    return load_grid(spec, colon == std::string_view::npos ? "" : spec.substr(colon + 1));
  std::string known;
  for (const SpecKind& each : kinds)
    known += (known.empty() ? "" : ", ") + std::string{each.syntax};
  refuse(spec, "no such kind of input; there is " + known);
}

}  // namespace cohort
