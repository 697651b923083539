// Graphs as text, in every format that can be read: for tests, measurements and other programs.
#pragma once

#include <string>

#include "graph/read.hpp"

namespace cohort {

/// The text of a graph. Reading it gives the same graph, with two exceptions: an edge list forgets
/// nodes after the last one that has edges, and .wel has a weight of 1 where there is none. For
/// METIS the graph must be symmetric without self loops, as `symmetrise` makes it.
[[nodiscard]] std::string to_text(const Csr& graph, Format format);

}  // namespace cohort
