// In a source of its own, so that a new commit recompiles nothing else.
#include "commit.hpp"

#include "tool/record.hpp"

namespace cohort::tool {

const char* commit() noexcept { return build_commit; }

}  // namespace cohort::tool
