// The order of priorities, for the verifiers, which share no code with the kernels.
#pragma once

#include <vector>

#include "graph/csr.hpp"

namespace cohort::apps {

/// All nodes by ascending priority: their ids, or the ids hashed.
[[nodiscard]] std::vector<Node> ascending(Node num_nodes, bool hashed);

}  // namespace cohort::apps
