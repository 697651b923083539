// The scenarios of the protocol whose schedules are all explored.
#include "explore/scenarios.hpp"

namespace cohort::test {

// clang-format off
const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"barrier, M still", 2, 2, 1, 2, &nothing, &explore_kernel<Barriers<here>>},
      {"barrier, M still", 3, 3, 1, 1, &nothing, &explore_kernel<Barriers<here>>},
      {"barrier, M still, groups of two threads", 2, 2, 2, 1, &nothing, &explore_kernel<Barriers<here>>},
      {"barrier, M may change", 2, 2, 1, 2, &nothing, &explore_kernel<Barriers<anywhere>>},
      {"barrier, M may change", 3, 3, 1, 1, &nothing, &explore_kernel<Barriers<anywhere>>},
      {"resizing barrier, shrinking", 2, 2, 1, 1, &to<1>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, shrinking", 3, 3, 1, 1, &to<1>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, shrinking, groups of two threads", 2, 2, 2, 1, &to<1>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, growing", 2, 1, 1, 1, &to<2>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, growing", 3, 2, 1, 1, &to<3>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, growing, groups of two threads", 2, 1, 2, 1, &to<2>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, shrinking and growing in a row", 2, 2, 1, 2, &to<1, 2>, &explore_kernel<Resizing<here, one_pass>>},
      {"resizing barrier, shrinking and growing in a row", 3, 2, 1, 2, &to<1, 2>, &explore_kernel<Resizing<here, one_pass>>},
      {"votes against growth", 2, 1, 1, 1, &to<2>, &explore_kernel<Steps>},
      {"kill against fork", 2, 1, 1, 2, &to<2, 1>, &explore_kernel<Offers<KillOrder::highest_first>>},
      {"kill against fork", 3, 2, 1, 1, &to<1, 3>, &explore_kernel<Offers<KillOrder::highest_first>>},
      {"kill against fork, any order", 2, 1, 1, 2, &to<2, 1>, &explore_kernel<Offers<KillOrder::any>>},
      {"kill against fork, groups of two threads", 2, 2, 2, 1, &to<1>, &explore_kernel<Offers<KillOrder::highest_first>>},
      {"kill against barrier", 2, 2, 1, 1, &to<1>, &explore_kernel<OffersAndBarriers>},
      {"kill against barrier", 3, 3, 1, 1, &to<1>, &explore_kernel<OffersAndBarriers>},
      {"kill against barrier, waiting in the offer", 3, 3, 1, 1, &to<1>, &explore_kernel<OffersAndBarriers>, Start::gathered, Waiting::polled, true},
      {"kills in a row, waiting in the offer", 3, 3, 1, 1, &to<1>, &explore_kernel<Offers<KillOrder::highest_first>>, Start::gathered, Waiting::polled, true},
      {"kill against barrier, asleep until notified", 2, 2, 1, 1, &to<1>, &explore_kernel<OffersAndBarriers>, Start::gathered, Waiting::notified},
      {"join against finish", 2, 1, 1, 1, &to<2>, &explore_kernel<ForkAndReturn>},
      {"join against finish", 3, 2, 1, 1, &to<3>, &explore_kernel<ForkAndReturn>},
      {"join against finish, asleep until notified", 2, 1, 1, 1, &to<2>, &explore_kernel<ForkAndReturn>, Start::gathered, Waiting::notified},
      {"suspend against fork", 2, 1, 1, 2, &suspended<3>, &explore_kernel<Offers<KillOrder::highest_first>>},
      {"suspend against fork", 3, 2, 1, 1, &suspended<3>, &explore_kernel<Offers<KillOrder::highest_first>>},
      {"suspend against a resizing barrier", 2, 2, 1, 1, &suspended<>, &explore_kernel<Resizing<here, one_pass>>},
      {"check-in", 2, 2, 1, 0, &nothing, &explore_kernel<Barriers<here>>, Start::by_itself},
      {"check-in", 3, 3, 1, 0, &nothing, &explore_kernel<Barriers<here>>, Start::by_itself},
      {"check-in with a deadline", 2, 2, 1, 1, &nothing, &explore_kernel<Barriers<here>>, Start::by_itself, Waiting::polled, false, true},
      {"check-in with a deadline, more come than may", 3, 2, 1, 0, &nothing, &explore_kernel<Barriers<here>>, Start::by_itself, Waiting::polled, false, true},
      {"lobby during the check-in, asleep until notified", 2, 1, 1, 0, &to<2>, &explore_kernel<Barriers<here>>, Start::by_itself, Waiting::notified},
      {"fork right after a growing resizing barrier", 2, 1, 1, 1, &to<2>, &explore_kernel<Resizing<anywhere, one_pass, true>>},
      {"fork right after a shrinking resizing barrier", 3, 2, 1, 1, &to<1, 3>, &explore_kernel<Resizing<anywhere, one_pass, true>>},
      {"query barrier, its leavers against a fork", 3, 2, 1, 1, &to<1, 3>, &explore_kernel<Resizing<anywhere, ResizingBarrier::query, true>>},
      {"plain barrier of the paper, growing", 2, 1, 1, 1, &to<2>, &explore_kernel<Resizing<anywhere, ResizingBarrier::plain>>},
      {"modelled barrier of the paper, shrinking", 2, 2, 1, 1, &to<1>, &explore_kernel<Resizing<anywhere, ResizingBarrier::modelled>>},
  };
  return all;
}
// clang-format on

}  // namespace cohort::test
