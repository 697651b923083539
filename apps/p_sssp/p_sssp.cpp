#include "apps/p_sssp/p_sssp.hpp"

#include "apps/p_sssp/app.hpp"
#include "cohort/cpu.hpp"

namespace cohort::apps {

template SsspResult run_p_sssp(cpu::Engine&, const Csr&, Node, const RunOptions&,
                               const PullSsspOptions&);
template Outcome p_sssp_app(cpu::Engine&, Request&);

}  // namespace cohort::apps
