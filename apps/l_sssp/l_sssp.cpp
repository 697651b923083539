#include "apps/l_sssp/l_sssp.hpp"

#include <algorithm>
#include <cmath>

#include "apps/l_sssp/app.hpp"
#include "cohort/cpu.hpp"

namespace cohort::apps {

template SsspResult run_l_sssp(cpu::Engine&, const Csr&, Node, const RunOptions&,
                               const ListSsspOptions&);
template Outcome l_sssp_app(cpu::Engine&, Request&);

Distance fitting_delta(const Csr& graph) {
  if (graph.num_edges() == 0) return 1;
  double weight = 0;
  for (const Weight each : graph.weights) weight += each;
  const auto edges = static_cast<double>(graph.num_edges());
  const double average = graph.weights.empty() ? 1 : weight / edges;
  const double degree = std::max(1.0, edges / graph.num_nodes());
  // Found by trying: 2 to 4 is best for R-MAT graphs with weights to 255, about 8000 for New York.
  return static_cast<Distance>(std::max(1.0, 96 * average / std::pow(degree, 2.5)));
}

}  // namespace cohort::apps
