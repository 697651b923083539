// Graphs with every edge turned round.
#pragma once

#include "graph/csr.hpp"

namespace cohort::apps {

/// The graph with an edge from v to u for each edge from u to v, its weight included. The edges of
/// each node are sorted by target.
[[nodiscard]] Csr reversed(const Csr& graph);

/// Whether there is an edge from v to u for each edge from u to v, and as often.
[[nodiscard]] bool symmetric(const Csr& graph);

}  // namespace cohort::apps
