#include "apps/dialect/table.hpp"
#include "cohort/cuda.hpp"

namespace cohort::apps {

template <>
std::span<const DialectApp<cuda::Engine>> dialect_apps() {
  return detail::dialect_table<cuda::Engine>;
}

}  // namespace cohort::apps
