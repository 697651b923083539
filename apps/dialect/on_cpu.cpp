#include "apps/dialect/table.hpp"
#include "cohort/cpu.hpp"

namespace cohort::apps {

template <>
std::span<const DialectApp<cpu::Engine>> dialect_apps() {
  return detail::dialect_table<cpu::Engine>;
}

}  // namespace cohort::apps
