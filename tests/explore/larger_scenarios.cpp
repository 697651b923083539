// The larger scenarios, once for each of the explorer's platforms.
#include "explore/larger_scenarios.hpp"

namespace cohort::test {
namespace {

template <class P>
struct On {
  template <class Kernel>
  static constexpr auto explore = &explore_kernel<Kernel, P>;
  template <class Kernel>
  static constexpr auto misuse = &explore_misuse<Kernel, P>;
};

}  // namespace

#ifdef COHORT_TEST_FENCED
const std::vector<Scenario>& larger_fenced_scenarios() {
  static const std::vector<Scenario> all =
      on_fences(larger::scenarios<On<explore::FencedPlatform>>());
  return all;
}
#else
const std::vector<Scenario>& larger_scenarios() {
  static const std::vector<Scenario> all = larger::scenarios<On<explore::Platform>>();
  return all;
}
#endif

}  // namespace cohort::test
