// Input specs: a graph named in one word, as in `grid:1000x1000`.
#pragma once

#include <span>
#include <string_view>

#include "graph/csr.hpp"

namespace cohort {

/// One kind of input spec.
struct SpecKind {
  std::string_view syntax;
  std::string_view example;
  std::string_view summary;
};

/// All kinds there are.
[[nodiscard]] std::span<const SpecKind> graph_specs();

/// The graph that `spec` names. Throws Error{bad_options} when it names none, or one too large.
[[nodiscard]] Csr load_graph(std::string_view spec);

}  // namespace cohort
