// Writes graphs as text in every format that can be read. For tests, measurements and other
// programs.
#pragma once

#include <string>

#include "graph/read.hpp"

namespace cohort {

/// The graph as text. Reading it yields the same graph, with two exceptions: an edge list loses
/// nodes after the last one that has edges, and .wel stores a weight of 1 for unweighted edges. For
/// METIS, the graph must be symmetric without self loops, as `symmetrise` makes it.
[[nodiscard]] std::string to_text(const Csr& graph, Format format);

}  // namespace cohort
