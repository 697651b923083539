// Alone here, so that a new commit recompiles only this.
#include "commit.hpp"

#include "bench/record.hpp"

namespace cohort::bench {

const char* commit() noexcept { return build_commit; }

}  // namespace cohort::bench
