// Breadth-first search, the host side: run it, and check what came out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/run.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

struct BfsResult {
  std::vector<std::uint32_t> levels;  ///< by node; Bfs::unreached where there is no path
  Report report;
};

/// Distances from `source`. The levels are complete only when the job has finished. Throws
/// Error{bad_options} when there is no such node.
[[nodiscard]] BfsResult run_bfs(cpu::Engine& engine, const Csr& graph, Node source,
                                const RunOptions& options = {});

/// Compares with a sequential search that shares no code with the kernel. The first difference in
/// words, or nothing.
[[nodiscard]] std::optional<std::string> check_bfs(const Csr& graph, Node source,
                                                   const std::vector<std::uint32_t>& levels);

}  // namespace cohort::apps
