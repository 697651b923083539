// Scenarios with four groups and runs long enough for vote slots, deposits and kinds of barriers to
// be used several times over. Once for each platform.
#include "explore/scenarios.hpp"

namespace cohort::test {
namespace {

constexpr auto plain = ResizingBarrier::plain;
constexpr auto query = ResizingBarrier::query;
constexpr auto modelled = ResizingBarrier::modelled;
constexpr auto highest = KillOrder::highest_first;
constexpr auto any = KillOrder::any;
using PoolThatMayEmpty = Pool<any, Survivors::may_all_leave>;
using StackThatMayEmpty = Pool<highest, Survivors::may_all_leave>;

// clang-format off
template <class P>
std::vector<Scenario> larger() {
  constexpr auto gathered = Start::gathered;
  constexpr auto polled = Waiting::polled;
  constexpr auto by_itself = Start::by_itself;
  constexpr auto sent = Start::sent;
  return {
      {"barriers, M still", 4, 4, 1, 9, &nothing, &explore_kernel<Barriers<here>, P>},
      {"barriers, M may change", 4, 4, 1, 9, &nothing, &explore_kernel<Barriers<anywhere>, P>},
      {"barriers, groups of two threads", 3, 3, 2, 5, &nothing, &explore_kernel<Barriers<here>, P>},
      {"resizing barriers", 4, 2, 1, 9, &restless<4>, &explore_kernel<Resizing<here, one_pass>, P>},
      {"resizing barriers and a fork", 4, 2, 1, 9, &restless<4>, &explore_kernel<Resizing<anywhere, one_pass, true>, P>},
      {"shares of rounds", 4, 3, 1, 12, &restless<4>, &explore_kernel<Shares<here, one_pass>, P>},
      {"shares of rounds, M may change", 4, 3, 1, 9, &restless<4>, &explore_kernel<Shares<anywhere, one_pass>, P>},
      {"shares of rounds, groups of two threads", 3, 2, 2, 5, &restless<3>, &explore_kernel<Shares<here, one_pass>, P>},
      {"shares of rounds, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, &explore_kernel<Shares<here, one_pass>, P>, sent},
      {"shares of rounds, M may change, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, &explore_kernel<Shares<anywhere, one_pass>, P>, sent},
      {"shares of rounds, plain barrier", 4, 2, 1, 9, &restless<4>, &explore_kernel<Shares<anywhere, plain>, P>},
      {"shares of rounds, query barrier", 4, 2, 1, 9, &restless<4>, &explore_kernel<Shares<anywhere, query>, P>},
      {"shares of rounds, modelled barrier", 4, 2, 1, 9, &restless<4>, &explore_kernel<Shares<anywhere, modelled>, P>},
      {"shares of rounds, plain barrier, suspended and resumed", 3, 2, 1, 5, &suspended_and_resumed, &explore_kernel<Shares<anywhere, plain>, P>, sent},
      {"shares of rounds, query barrier, suspended and resumed", 3, 2, 1, 5, &suspended_and_resumed, &explore_kernel<Shares<anywhere, query>, P>, sent},
      {"shares of rounds, modelled barrier, suspended and resumed", 3, 2, 1, 5, &suspended_and_resumed, &explore_kernel<Shares<anywhere, modelled>, P>, sent},
      {"query barrier and a fork", 4, 2, 1, 3, &restless<4>, &explore_kernel<Resizing<anywhere, query, true>, P>},
      {"plain barrier and a fork", 4, 2, 1, 3, &restless<4>, &explore_kernel<Resizing<anywhere, plain, true>, P>},
      {"steps with one voter", 4, 2, 1, 12, &restless<4>, &explore_kernel<Elected<>, P>},
      {"steps with one voter, check-in", 4, 2, 1, 6, &restless<4>, &explore_kernel<Elected<>, P>, sent},
      {"steps with one voter, groups of two threads", 3, 2, 2, 6, &restless<3>, &explore_kernel<Elected<>, P>},
      {"steps with one voter, plain barrier", 4, 2, 1, 9, &restless<4>, &explore_kernel<Elected<plain>, P>},
      {"steps with one voter, query barrier", 4, 2, 1, 9, &restless<4>, &explore_kernel<Elected<query>, P>},
      {"steps with one voter, modelled barrier", 4, 2, 1, 5, &restless<4>, &explore_kernel<Elected<modelled>, P>},
      {"steps that all vote for", 4, 2, 1, 9, &restless<4>, &explore_kernel<Steps, P>},
      {"steps that group 0 votes for", 4, 3, 1, 9, &restless<4>, &explore_kernel<Led, P>},
      {"offers and barriers", 4, 4, 1, 1, &to_one, &explore_kernel<OffersAndBarriers, P>, gathered, polled, true},
      {"offers and barriers, several", 4, 4, 1, 5, &to_two, &explore_kernel<OffersAndBarriers, P>, gathered, polled, true},
      {"offers and barriers, no waiting", 4, 4, 1, 3, &to_one, &explore_kernel<OffersAndBarriers, P>},
      {"offers", 4, 4, 1, 2, &to_one, &explore_kernel<Offers<highest>, P>, gathered, polled, true},
      {"offers and forks", 4, 2, 1, 6, &restless<4>, &explore_kernel<Offers<highest>, P>, gathered, polled, true},
      {"offers and forks, any order", 4, 2, 1, 6, &restless<4>, &explore_kernel<Offers<any>, P>},
      {"offers and forks, five units for three groups", 5, 1, 1, 4, &restless<3>, &explore_kernel<Offers<highest>, P>},
      {"a pool of items", 4, 3, 1, 6, &restless<4>, &explore_kernel<Pool<highest>, P>, gathered, polled, true},
      {"a pool of items, offers apart", 4, 3, 1, 5, &restless<4>, &explore_kernel<Pool<highest>, P>, gathered, polled, true},
      {"a pool of items, sent", 4, 3, 1, 6, &restless<4>, &explore_kernel<Pool<highest>, P>, sent, polled, true},
      {"a pool of items, groups of two threads", 3, 2, 2, 6, &restless<3>, &explore_kernel<Pool<highest>, P>, gathered, polled, true},
      {"a pool of items, any order", 4, 3, 1, 6, &restless<4>, &explore_kernel<Pool<any>, P>},
      {"a pool of items, any order, offers apart", 4, 3, 1, 5, &restless<4>, &explore_kernel<Pool<any>, P>},
      {"a pool of items, any order, deadline", 4, 3, 1, 6, &restless<4>, &explore_kernel<Pool<any>, P>, by_itself, polled, false, true},
      {"a pool of items, deadline", 4, 3, 1, 6, &restless<4>, &explore_kernel<Pool<highest>, P>, by_itself, polled, true, true},
      {"a pool of items that all may leave", 4, 3, 1, 8, &restless<3, 0>, &explore_kernel<StackThatMayEmpty, P>, gathered, polled, true},
      {"a pool of items that all may leave, any order", 4, 3, 1, 8, &restless<3, 0>, &explore_kernel<PoolThatMayEmpty, P>},
      {"a pool of items, suspended", 4, 3, 1, 6, &down_and_suspended, &explore_kernel<Pool<highest>, P>, gathered, polled, true},
      {"a pool of items, any order, suspended", 4, 3, 1, 6, &down_and_suspended, &explore_kernel<Pool<any>, P>},
      {"a pool of items, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, &explore_kernel<Pool<highest>, P>, sent, polled, true},
      {"a pool of items, any order, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, &explore_kernel<Pool<any>, P>, sent},
      {"everything mixed", 4, 2, 1, 6, &restless<4>, &explore_kernel<Mixed, P>, gathered, polled, true},
      {"everything mixed, sent", 4, 2, 1, 5, &restless<4>, &explore_kernel<Mixed, P>, sent, polled, true},
      {"everything mixed, groups of two threads", 3, 2, 2, 4, &restless<3>, &explore_kernel<Mixed, P>, gathered, polled, true},
      {"everything mixed, suspended", 4, 3, 1, 6, &down_and_suspended, &explore_kernel<Mixed, P>, gathered, polled, true},
      {"join against finish", 4, 2, 1, 3, &restless<4>, &explore_kernel<ForkAndReturn, P>},
      {"join against finish, check-in with a deadline", 4, 3, 1, 3, &restless<4>, &explore_kernel<ForkAndReturn, P>, by_itself, polled, false, true},
      {"until grown, here, one_pass", 4, 1, 1, 4, &to_four, &explore_kernel<UntilResized<here, one_pass>, P>, sent, polled, false, false, 50},
      {"until shrunk, here, one_pass", 4, 4, 1, 1, &to_one, &explore_kernel<UntilResized<here, one_pass>, P>, sent, polled, false, false, 50},
      {"until suspended, here, one_pass", 4, 3, 1, 0, &suspended, &explore_kernel<UntilResized<here, one_pass>, P>, sent, polled, false, false, 50},
      {"until grown, anywhere, one_pass", 4, 1, 1, 4, &to_four, &explore_kernel<UntilResized<anywhere, one_pass>, P>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, one_pass", 4, 4, 1, 1, &to_one, &explore_kernel<UntilResized<anywhere, one_pass>, P>, sent, polled, false, false, 50},
      {"until suspended, anywhere, one_pass", 4, 3, 1, 0, &suspended, &explore_kernel<UntilResized<anywhere, one_pass>, P>, sent, polled, false, false, 50},
      {"until grown, anywhere, plain", 4, 1, 1, 4, &to_four, &explore_kernel<UntilResized<anywhere, plain>, P>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, plain", 4, 4, 1, 1, &to_one, &explore_kernel<UntilResized<anywhere, plain>, P>, sent, polled, false, false, 50},
      {"until suspended, anywhere, plain", 4, 3, 1, 0, &suspended, &explore_kernel<UntilResized<anywhere, plain>, P>, sent, polled, false, false, 50},
      {"until grown, anywhere, query", 4, 1, 1, 4, &to_four, &explore_kernel<UntilResized<anywhere, query>, P>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, query", 4, 4, 1, 1, &to_one, &explore_kernel<UntilResized<anywhere, query>, P>, sent, polled, false, false, 50},
      {"until suspended, anywhere, query", 4, 3, 1, 0, &suspended, &explore_kernel<UntilResized<anywhere, query>, P>, sent, polled, false, false, 50},
      {"until grown, anywhere, modelled", 4, 1, 1, 4, &to_four, &explore_kernel<UntilResized<anywhere, modelled>, P>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, modelled", 4, 4, 1, 1, &to_one, &explore_kernel<UntilResized<anywhere, modelled>, P>, sent, polled, false, false, 50},
      {"until suspended, anywhere, modelled", 4, 3, 1, 0, &suspended, &explore_kernel<UntilResized<anywhere, modelled>, P>, sent, polled, false, false, 50},
      {"until grown, offers, highest", 4, 1, 1, 4, &to_four, &explore_kernel<UntilOffered<highest>, P>, sent, polled, true, false, 50},
      {"until shrunk, offers, highest", 4, 4, 1, 1, &to_one, &explore_kernel<UntilOffered<highest>, P>, sent, polled, true, false, 50},
      {"until suspended, offers, highest", 4, 3, 1, 0, &suspended, &explore_kernel<UntilOffered<highest>, P>, sent, polled, true, false, 50},
      {"until grown, offers, any", 4, 1, 1, 4, &to_four, &explore_kernel<UntilOffered<any>, P>, sent, polled, true, false, 50},
      {"until shrunk, offers, any", 4, 4, 1, 1, &to_one, &explore_kernel<UntilOffered<any>, P>, sent, polled, true, false, 50},
      {"until suspended, offers, any", 4, 3, 1, 0, &suspended, &explore_kernel<UntilOffered<any>, P>, sent, polled, true, false, 50},
      {"only forks, until cancelled", 3, 2, 1, 0, &cancelled_at_once, &explore_kernel<UntilCancelled<anywhere>, P>, gathered, polled, true, false, 3},
      {"only offers, until cancelled", 3, 2, 2, 1, &cancelled_at_once, &explore_kernel<UntilCancelled<anywhere>, P>, gathered, polled, true, false, 3},
      {"only offers and forks, until cancelled", 3, 2, 1, 2, &cancelled_at_once, &explore_kernel<UntilCancelled<anywhere>, P>, gathered, polled, true, false, 3},
      {"only queries, until cancelled", 3, 2, 1, 3, &cancelled_at_once, &explore_kernel<UntilCancelled<anywhere>, P>, gathered, polled, true, false, 3},
      {"only barriers, until cancelled", 3, 2, 1, 4, &cancelled_at_once, &explore_kernel<UntilCancelled<anywhere>, P>, gathered, polled, true, false, 3},
      {"only resizing barriers, until cancelled", 3, 2, 1, 5, &cancelled_at_once, &explore_kernel<UntilCancelled<anywhere>, P>, gathered, polled, true, false, 3},
      {"only barriers, M still, until cancelled", 3, 2, 1, 4, &cancelled_at_once, &explore_kernel<UntilCancelled<here>, P>, gathered, polled, false, false, 3},
      {"only resizing barriers, M still, until cancelled", 3, 2, 1, 5, &cancelled_at_once, &explore_kernel<UntilCancelled<here>, P>, gathered, polled, false, false, 3},
      {"cancelled in barriers", 3, 3, 1, 6, &cancelled, &explore_kernel<Barriers<here>, P>},
      {"cancelled in barriers, M may change", 3, 2, 1, 6, &cancelled, &explore_kernel<Mixed, P>, gathered, polled, true},
      {"cancelled in steps", 3, 2, 1, 6, &cancelled, &explore_kernel<Elected<>, P>, sent},
      {"cancelled in a pool", 3, 2, 1, 6, &cancelled, &explore_kernel<Pool<highest>, P>, by_itself, polled, true, true},
      {"cancelled in a pool, any order", 3, 2, 1, 6, &cancelled, &explore_kernel<Pool<any>, P>, by_itself},
      {"cancelled in plain barriers", 3, 2, 1, 4, &cancelled, &explore_kernel<Shares<anywhere, plain>, P>},
      {"cancelled in query barriers", 3, 3, 1, 4, &cancelled, &explore_kernel<Shares<anywhere, query>, P>},
      {"cancelled in modelled barriers", 3, 2, 1, 4, &cancelled, &explore_kernel<Shares<anywhere, modelled>, P>},
      {"cancelled while offering", 4, 4, 1, 6, &cancelled, &explore_kernel<Offers<highest>, P>, gathered, polled, true},
      {"misuse: returns early, M still", 3, 3, 1, 0, &nothing, &explore_misuse<ReturnsEarly<here>, P>},
      {"misuse: returns early, M may change", 3, 3, 1, 0, &nothing, &explore_misuse<ReturnsEarly<anywhere>, P>},
      {"misuse: returns early, resizing barrier", 3, 3, 1, 1, &nothing, &explore_misuse<ReturnsEarly<here>, P>},
      {"misuse: returns early, plain barrier", 3, 3, 1, 1, &nothing, &explore_misuse<ReturnsEarly<anywhere, plain>, P>},
      {"misuse: different barriers, group 0, M still", 3, 3, 1, 0, &nothing, &explore_misuse<Diverges<here>, P>},
      {"misuse: different barriers, group 2, M still", 3, 3, 1, 2, &nothing, &explore_misuse<Diverges<here>, P>},
      {"misuse: different barriers, group 0", 3, 3, 1, 0, &nothing, &explore_misuse<Diverges<anywhere>, P>},
      {"misuse: different barriers, group 2", 3, 3, 1, 2, &nothing, &explore_misuse<Diverges<anywhere>, P>},
      {"misuse: different barriers, group 0, plain", 3, 3, 1, 0, &nothing, &explore_misuse<Diverges<anywhere, plain>, P>},
      {"misuse: different barriers, group 2, query", 3, 3, 1, 2, &nothing, &explore_misuse<Diverges<anywhere, query>, P>},
      {"misuse: a barrier after leaving", 2, 2, 1, 0, &to_one, &explore_misuse<GoesOnAfterLeaving, P>},
      {"misuse: an offer after leaving", 2, 2, 1, 1, &to_one, &explore_misuse<GoesOnAfterLeaving, P>},
      {"misuse: a fork after leaving", 2, 2, 1, 2, &to_one, &explore_misuse<GoesOnAfterLeaving, P>},
      {"misuse: a query after leaving", 2, 2, 1, 3, &to_one, &explore_misuse<GoesOnAfterLeaving, P>},
      {"misuse: a resizing barrier after leaving", 2, 2, 1, 4, &to_one, &explore_misuse<GoesOnAfterLeaving, P>},
      {"misuse: an offer and fork after leaving", 2, 2, 1, 5, &to_one, &explore_misuse<GoesOnAfterLeaving, P>},
  };
}
// clang-format on

}  // namespace

#ifdef COHORT_TEST_FENCED
const std::vector<Scenario>& larger_fenced_scenarios() {
  static const std::vector<Scenario> all = on_fences(larger<explore::FencedPlatform>());
  return all;
}
#else
const std::vector<Scenario>& larger_scenarios() {
  static const std::vector<Scenario> all = larger<explore::Platform>();
  return all;
}
#endif

}  // namespace cohort::test
