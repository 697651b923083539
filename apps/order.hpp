// The order of priorities as the verifiers compute it. They share no code with the kernels.
#pragma once

#include <vector>

#include "apps/priority.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

/// All nodes by ascending priority.
[[nodiscard]] std::vector<Node> ascending(const Csr& graph, Priority priority);

}  // namespace cohort::apps
