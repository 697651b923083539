// Small scenarios for the protocol's GPU branches: fences instead of ordered accesses, votes read
// while waiting, stale targets.
#include "explore/scenarios.hpp"

namespace cohort::test {
namespace {

template <class Kernel>
constexpr auto fenced = &explore_kernel<Kernel, explore::FencedPlatform>;

}  // namespace

// clang-format off
const std::vector<Scenario>& fenced_scenarios() {
  static const std::vector<Scenario> all = on_fences({
      {"barrier, M still", 3, 3, 1, 1, &nothing, fenced<Barriers<here>>},
      {"barrier, M may change", 3, 3, 1, 1, &nothing, fenced<Barriers<anywhere>>},
      {"resizing barrier, shrinking", 3, 3, 1, 1, &to<1>, fenced<Resizing<here, one_pass>>},
      {"resizing barrier, shrinking, groups of two threads", 2, 2, 2, 1, &to<1>, fenced<Resizing<here, one_pass>>},
      {"resizing barrier, growing", 3, 2, 1, 1, &to<3>, fenced<Resizing<here, one_pass>>},
      {"resizing barrier, shrinking and growing in a row", 2, 2, 1, 2, &to<1, 2>, fenced<Resizing<here, one_pass>>},
      {"suspend against a resizing barrier", 2, 2, 1, 1, &suspended<>, fenced<Resizing<here, one_pass>>},
      {"votes of group 0 against growth", 2, 1, 1, 2, &to<2>, fenced<Led>},
      {"votes of group 0, shrinking and growing in a row", 2, 2, 1, 2, &to<1, 2>, fenced<Led>},
      {"kill against barrier", 3, 3, 1, 1, &to<1>, fenced<OffersAndBarriers>},
      {"kill against barrier, waiting in the offer", 3, 3, 1, 1, &to<1>, fenced<OffersAndBarriers>, Start::gathered, Waiting::polled, true},
      {"kills in a row, waiting in the offer", 3, 3, 1, 1, &to<1>, fenced<Offers<KillOrder::highest_first>>, Start::gathered, Waiting::polled, true},
      {"kill against fork", 2, 1, 1, 2, &to<2, 1>, fenced<Offers<KillOrder::highest_first>>},
      {"kill against fork, any order", 2, 1, 1, 2, &to<2, 1>, fenced<Offers<KillOrder::any>>},
      {"fork right after a growing resizing barrier", 2, 1, 1, 1, &to<2>, fenced<Resizing<anywhere, one_pass, true>>},
      {"everything mixed, growing", 2, 1, 1, 2, &to<2>, fenced<Mixed>},
      {"everything mixed, shrinking and growing in a row", 2, 2, 1, 2, &to<1, 2>, fenced<Mixed>},
  });
  return all;
}
// clang-format on

}  // namespace cohort::test
