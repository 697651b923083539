// Alone here, so that a new commit recompiles only this.
#include "commit.hpp"

#include "tool/record.hpp"

namespace cohort::tool {

const char* commit() noexcept { return build_commit; }

}  // namespace cohort::tool
