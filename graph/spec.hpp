// Input specs: a graph named in one word, as in `grid:1000x1000`, or a file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "graph/arguments.hpp"
#include "graph/csr.hpp"

namespace cohort {

/// All kinds there are; the last one is a file.
[[nodiscard]] std::span<const SpecKind> graph_specs();

/// The graph that `spec` names. Throws Error{bad_options} when it names none, or one too large, and
/// Error{bad_file} for a file that is not right.
[[nodiscard]] Csr load_graph(std::string_view spec);

/// The file that `spec` names: as it is, or in the folder $COHORT_DATA; in both places also with
/// .gz or .xz after it.
[[nodiscard]] std::optional<std::filesystem::path> find_input(std::string_view spec);

}  // namespace cohort
