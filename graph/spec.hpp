// Input specs: a graph named in one word, as in `grid:1000x1000`, or a file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "graph/arguments.hpp"
#include "graph/build.hpp"
#include "graph/csr.hpp"

namespace cohort {

/// All kinds there are; the last one is a file.
[[nodiscard]] std::span<const SpecKind> graph_specs();

/// The graph that `spec` names. Throws Error{bad_options} when it names none, or one too large, and
/// Error{bad_file} for a file that is not right.
[[nodiscard]] Csr load_graph(std::string_view spec);

/// One of `parts` parts of the edges that a generator draws, in one direction, if this kind of
/// graph can be made in parts: rmat and grid can. symmetrise() of all parts is load_graph(spec).
[[nodiscard]] std::optional<EdgeList> load_edges(std::string_view spec, std::uint32_t part,
                                                 std::uint32_t parts);

/// The file that `spec` names: as it is, or in the folder $COHORT_DATA; in both places also with
/// .gz or .xz after it.
[[nodiscard]] std::optional<std::filesystem::path> find_input(std::string_view spec);

}  // namespace cohort
