#include "apps/dialect/table.hpp"
#include "cohort/opencl.hpp"

namespace cohort::apps {

template <>
std::span<const DialectApp<opencl::Engine>> dialect_apps() {
  return detail::dialect_table<opencl::Engine>;
}

}  // namespace cohort::apps
