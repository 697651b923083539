// Input specs: a graph described by one word such as `grid:1000x1000`, or a file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "graph/arguments.hpp"
#include "graph/build.hpp"
#include "graph/csr.hpp"
#include "graph/selection.hpp"

namespace cohort {

/// All kinds of specs; the last one is a file.
[[nodiscard]] std::span<const SpecKind> graph_specs();

/// Creates or reads the graph that `spec` describes. Throws Error{bad_options} if the spec is
/// invalid or the graph too large, and Error{bad_file} for a file with errors.
[[nodiscard]] Csr load_graph(std::string_view spec);

/// The selected rows of the graph in the file that `spec` names; the others are empty. Returns
/// nothing if it names no file.
[[nodiscard]] std::optional<Csr> load_rows(std::string_view spec, Selection& selection);

/// One of `parts` parts of the edges that a generator draws, in one direction. Returns nothing for
/// kinds of graphs that cannot be made in parts; rmat and grid can. symmetrise() of all parts
/// equals load_graph(spec).
[[nodiscard]] std::optional<EdgeList> load_edges(std::string_view spec, std::uint32_t part,
                                                 std::uint32_t parts);

/// The file that `spec` names: as given, or in the folder $COHORT_DATA. In both places .gz or .xz
/// may be appended.
[[nodiscard]] std::optional<std::filesystem::path> find_input(std::string_view spec);

}  // namespace cohort
