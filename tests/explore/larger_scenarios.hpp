// Scenarios with four groups. Their runs are so long that vote slots, deposits and kinds of
// barriers are used several times. Every form of the protocol uses the same table.
#pragma once

#include "explore/scenarios.hpp"

namespace cohort::test {
namespace larger {

constexpr auto plain = ResizingBarrier::plain;
constexpr auto query = ResizingBarrier::query;
constexpr auto modelled = ResizingBarrier::modelled;
constexpr auto highest = KillOrder::highest_first;
constexpr auto any = KillOrder::any;
using PoolThatMayEmpty = Pool<any, Survivors::may_all_leave>;
using StackThatMayEmpty = Pool<highest, Survivors::may_all_leave>;
using SharesThatMayEmpty = Shares<here, one_pass, Survivors::may_all_leave>;
using UntilEmpty = UntilResized<here, one_pass, Survivors::may_all_leave>;

// clang-format off
/// `On::explore<Kernel>` and `On::misuse<Kernel>` explore a kernel; null if it cannot run there.
template <class On>
std::vector<Scenario> scenarios() {
  constexpr auto gathered = Start::gathered;
  constexpr auto polled = Waiting::polled;
  constexpr auto by_itself = Start::by_itself;
  constexpr auto sent = Start::sent;
  std::vector<Scenario> all{
      {"barriers, M still", 4, 4, 1, 9, &nothing, On::template explore<Barriers<here>>},
      {"barriers, M may change", 4, 4, 1, 9, &nothing, On::template explore<Barriers<anywhere>>},
      {"barriers, groups of two threads", 3, 3, 2, 5, &nothing, On::template explore<Barriers<here>>},
      {"resizing barriers", 4, 2, 1, 9, &restless<4>, On::template explore<Resizing<here, one_pass>>},
      {"resizing barriers and a fork", 4, 2, 1, 9, &restless<4>, On::template explore<Resizing<anywhere, one_pass, true>>},
      {"shares of rounds", 4, 3, 1, 12, &restless<4>, On::template explore<Shares<here, one_pass>>},
      {"shares of rounds, M may change", 4, 3, 1, 9, &restless<4>, On::template explore<Shares<anywhere, one_pass>>},
      {"shares of rounds, groups of two threads", 3, 2, 2, 5, &restless<3>, On::template explore<Shares<here, one_pass>>},
      {"shares of rounds, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, On::template explore<Shares<here, one_pass>>, sent},
      {"shares of rounds, M may change, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, On::template explore<Shares<anywhere, one_pass>>, sent},
      {"shares of rounds, plain barrier", 4, 2, 1, 9, &restless<4>, On::template explore<Shares<anywhere, plain>>},
      {"shares of rounds, query barrier", 4, 2, 1, 9, &restless<4>, On::template explore<Shares<anywhere, query>>},
      {"shares of rounds, modelled barrier", 4, 2, 1, 9, &restless<4>, On::template explore<Shares<anywhere, modelled>>},
      {"shares of rounds, plain barrier, suspended and resumed", 3, 2, 1, 5, &suspended_and_resumed, On::template explore<Shares<anywhere, plain>>, sent},
      {"shares of rounds, query barrier, suspended and resumed", 3, 2, 1, 5, &suspended_and_resumed, On::template explore<Shares<anywhere, query>>, sent},
      {"shares of rounds, modelled barrier, suspended and resumed", 3, 2, 1, 5, &suspended_and_resumed, On::template explore<Shares<anywhere, modelled>>, sent},
      {"query barrier and a fork", 4, 2, 1, 3, &restless<4>, On::template explore<Resizing<anywhere, query, true>>},
      {"plain barrier and a fork", 4, 2, 1, 3, &restless<4>, On::template explore<Resizing<anywhere, plain, true>>},
      {"steps with one voter", 4, 2, 1, 12, &restless<4>, On::template explore<Elected<>>},
      {"steps with one voter, check-in", 4, 2, 1, 6, &restless<4>, On::template explore<Elected<>>, sent},
      {"steps with one voter, groups of two threads", 3, 2, 2, 6, &restless<3>, On::template explore<Elected<>>},
      {"steps with one voter, plain barrier", 4, 2, 1, 9, &restless<4>, On::template explore<Elected<plain>>},
      {"steps with one voter, query barrier", 4, 2, 1, 9, &restless<4>, On::template explore<Elected<query>>},
      {"steps with one voter, modelled barrier", 4, 2, 1, 5, &restless<4>, On::template explore<Elected<modelled>>},
      {"steps that all vote for", 4, 2, 1, 9, &restless<4>, On::template explore<Steps>},
      {"steps that group 0 votes for", 4, 3, 1, 9, &restless<4>, On::template explore<Led>},
      {"offers and barriers", 4, 4, 1, 1, &to<1>, On::template explore<OffersAndBarriers>, gathered, polled, true},
      {"offers and barriers, several", 4, 4, 1, 5, &to<2>, On::template explore<OffersAndBarriers>, gathered, polled, true},
      {"offers and barriers, no waiting", 4, 4, 1, 3, &to<1>, On::template explore<OffersAndBarriers>},
      {"offers", 4, 4, 1, 2, &to<1>, On::template explore<Offers<highest>>, gathered, polled, true},
      {"offers and forks", 4, 2, 1, 6, &restless<4>, On::template explore<Offers<highest>>, gathered, polled, true},
      {"offers and forks, any order", 4, 2, 1, 6, &restless<4>, On::template explore<Offers<any>>},
      {"offers and forks, five units for two groups", 5, 1, 1, 6, &restless<2>, On::template explore<Offers<highest>>, gathered, polled, true, false, 6, 2},
      {"offers and forks, any order, five units for two groups", 5, 1, 1, 6, &restless<2>, On::template explore<Offers<any>>, gathered, polled, false, false, 6, 2},
      {"a pool of items, five units for three groups, sent", 5, 2, 1, 8, &restless<3>, On::template explore<Pool<highest>>, sent, polled, true, false, 8, 3},
      {"shares of rounds, five units for three groups, sent", 5, 2, 1, 12, &restless<3>, On::template explore<Shares<here, one_pass>>, sent, polled, false, false, 8, 3},
      {"steps with one voter, suspended and resumed", 4, 2, 1, 6, &suspended_and_resumed, On::template explore<Elected<>>, sent},
      {"barriers, check-in with a deadline", 4, 3, 1, 4, &nothing, On::template explore<Barriers<here>>, by_itself, polled, false, true},
      {"barriers, check-in", 4, 4, 1, 4, &nothing, On::template explore<Barriers<anywhere>>, by_itself},
      {"shares of rounds, check-in with a deadline", 4, 3, 1, 6, &restless<4>, On::template explore<Shares<here, one_pass>>, by_itself, polled, false, true},
      {"cancelled during the check-in", 3, 3, 1, 3, &cancelled<>, On::template explore<Barriers<anywhere>>, by_itself},
      {"cancelled during the check-in with a deadline", 4, 3, 1, 3, &cancelled<>, On::template explore<Offers<any>>, by_itself, polled, false, true},
      {"a pool of items", 4, 3, 1, 6, &restless<4>, On::template explore<Pool<highest>>, gathered, polled, true},
      {"a pool of items, offers apart", 4, 3, 1, 5, &restless<4>, On::template explore<Pool<highest>>, gathered, polled, true},
      {"a pool of items, sent", 4, 3, 1, 6, &restless<4>, On::template explore<Pool<highest>>, sent, polled, true},
      {"a pool of items, groups of two threads", 3, 2, 2, 6, &restless<3>, On::template explore<Pool<highest>>, gathered, polled, true},
      {"a pool of items, any order", 4, 3, 1, 6, &restless<4>, On::template explore<Pool<any>>},
      {"a pool of items, any order, offers apart", 4, 3, 1, 5, &restless<4>, On::template explore<Pool<any>>},
      {"a pool of items, any order, deadline", 4, 3, 1, 6, &restless<4>, On::template explore<Pool<any>>, by_itself, polled, false, true},
      {"a pool of items, deadline", 4, 3, 1, 6, &restless<4>, On::template explore<Pool<highest>>, by_itself, polled, true, true},
      {"a pool of items that all may leave", 4, 3, 1, 8, &restless<3, 0>, On::template explore<StackThatMayEmpty>, gathered, polled, true},
      {"a pool of items that all may leave, any order", 4, 3, 1, 8, &restless<3, 0>, On::template explore<PoolThatMayEmpty>},
      {"a pool of items, suspended", 4, 3, 1, 6, &suspended<2>, On::template explore<Pool<highest>>, gathered, polled, true},
      {"a pool of items, any order, suspended", 4, 3, 1, 6, &suspended<2>, On::template explore<Pool<any>>},
      {"a pool of items, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, On::template explore<Pool<highest>>, sent, polled, true},
      {"a pool of items, any order, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, On::template explore<Pool<any>>, sent},
      {"everything mixed", 4, 2, 1, 6, &restless<4>, On::template explore<Mixed>, gathered, polled, true},
      {"everything mixed, sent", 4, 2, 1, 5, &restless<4>, On::template explore<Mixed>, sent, polled, true},
      {"everything mixed, groups of two threads", 3, 2, 2, 4, &restless<3>, On::template explore<Mixed>, gathered, polled, true},
      {"everything mixed, suspended", 4, 3, 1, 6, &suspended<2>, On::template explore<Mixed>, gathered, polled, true},
      {"join against finish", 4, 2, 1, 3, &restless<4>, On::template explore<ForkAndReturn>},
      {"join against finish, check-in with a deadline", 4, 3, 1, 3, &restless<4>, On::template explore<ForkAndReturn>, by_itself, polled, false, true},
      {"until grown, here, one_pass", 4, 1, 1, 4, &to<4>, On::template explore<UntilResized<here, one_pass>>, sent, polled, false, false, 50},
      {"until shrunk, here, one_pass", 4, 4, 1, 1, &to<1>, On::template explore<UntilResized<here, one_pass>>, sent, polled, false, false, 50},
      {"until suspended, here, one_pass", 4, 3, 1, 0, &suspended<>, On::template explore<UntilResized<here, one_pass>>, sent, polled, false, false, 50},
      {"until grown, anywhere, one_pass", 4, 1, 1, 4, &to<4>, On::template explore<UntilResized<anywhere, one_pass>>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, one_pass", 4, 4, 1, 1, &to<1>, On::template explore<UntilResized<anywhere, one_pass>>, sent, polled, false, false, 50},
      {"until suspended, anywhere, one_pass", 4, 3, 1, 0, &suspended<>, On::template explore<UntilResized<anywhere, one_pass>>, sent, polled, false, false, 50},
      {"until grown, anywhere, plain", 4, 1, 1, 4, &to<4>, On::template explore<UntilResized<anywhere, plain>>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, plain", 4, 4, 1, 1, &to<1>, On::template explore<UntilResized<anywhere, plain>>, sent, polled, false, false, 50},
      {"until suspended, anywhere, plain", 4, 3, 1, 0, &suspended<>, On::template explore<UntilResized<anywhere, plain>>, sent, polled, false, false, 50},
      {"until grown, anywhere, query", 4, 1, 1, 4, &to<4>, On::template explore<UntilResized<anywhere, query>>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, query", 4, 4, 1, 1, &to<1>, On::template explore<UntilResized<anywhere, query>>, sent, polled, false, false, 50},
      {"until suspended, anywhere, query", 4, 3, 1, 0, &suspended<>, On::template explore<UntilResized<anywhere, query>>, sent, polled, false, false, 50},
      {"until grown, anywhere, modelled", 4, 1, 1, 4, &to<4>, On::template explore<UntilResized<anywhere, modelled>>, sent, polled, false, false, 50},
      {"until shrunk, anywhere, modelled", 4, 4, 1, 1, &to<1>, On::template explore<UntilResized<anywhere, modelled>>, sent, polled, false, false, 50},
      {"until suspended, anywhere, modelled", 4, 3, 1, 0, &suspended<>, On::template explore<UntilResized<anywhere, modelled>>, sent, polled, false, false, 50},
      {"until grown, offers, highest", 4, 1, 1, 4, &to<4>, On::template explore<UntilOffered<highest>>, sent, polled, true, false, 50},
      {"until shrunk, offers, highest", 4, 4, 1, 1, &to<1>, On::template explore<UntilOffered<highest>>, sent, polled, true, false, 50},
      {"until suspended, offers, highest", 4, 3, 1, 0, &suspended<>, On::template explore<UntilOffered<highest>>, sent, polled, true, false, 50},
      {"until grown, offers, any", 4, 1, 1, 4, &to<4>, On::template explore<UntilOffered<any>>, sent, polled, true, false, 50},
      {"until shrunk, offers, any", 4, 4, 1, 1, &to<1>, On::template explore<UntilOffered<any>>, sent, polled, true, false, 50},
      {"until suspended, offers, any", 4, 3, 1, 0, &suspended<>, On::template explore<UntilOffered<any>>, sent, polled, true, false, 50},
      {"only forks, until cancelled", 3, 2, 1, 0, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only offers, until cancelled", 3, 2, 2, 1, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only offers and forks, until cancelled", 3, 2, 1, 2, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only queries, until cancelled", 3, 2, 1, 3, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only offers after it was cancelled", 3, 2, 1, 6, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only barriers, until cancelled", 3, 2, 1, 4, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only resizing barriers, until cancelled", 3, 2, 1, 5, &cancelled<>, On::template explore<UntilCancelled<anywhere>>, gathered, polled, true, false, 3},
      {"only barriers, M still, until cancelled", 3, 2, 1, 4, &cancelled<>, On::template explore<UntilCancelled<here>>, gathered, polled, false, false, 3},
      {"only resizing barriers, M still, until cancelled", 3, 2, 1, 5, &cancelled<>, On::template explore<UntilCancelled<here>>, gathered, polled, false, false, 3},
      {"until joined, offers", 3, 1, 1, 5, &pumped, On::template explore<UntilJoined<Traits{}>>, sent, polled, true, false, 90, 2},
      {"until joined, offers of any order", 3, 1, 1, 5, &pumped, On::template explore<UntilJoined<Traits{.kill_order = any}>>, sent, polled, true, false, 90, 2},
      {"until joined, resizing barriers", 3, 1, 1, 5, &pumped, On::template explore<UntilJoined<Traits{.resizes = here}>>, sent, polled, false, false, 90, 2},
      {"until all have come, offers, check-in with a deadline", 4, 4, 1, 4, &nothing, On::template explore<UntilOffered<highest>>, sent, polled, false, true, 50},
      {"until all have come, offers of any order, check-in with a deadline", 4, 4, 1, 4, &nothing, On::template explore<UntilOffered<any>>, sent, polled, false, true, 50},
      {"a pool of items, at least two groups", 4, 4, 1, 8, &restless<4, 2>, On::template explore<Pool<highest>>, gathered, polled, true, false, 4},
      {"a pool of items, any order, at least two groups", 4, 4, 1, 8, &restless<4, 2>, On::template explore<Pool<any>>, gathered, polled, false, false, 4},
      {"a pool of items, any order, at least two groups, sent", 4, 4, 1, 8, &restless<4, 2>, On::template explore<Pool<any>>, sent, polled, false, false, 4},
      {"shares of rounds, at least two groups", 4, 4, 1, 9, &restless<4, 2>, On::template explore<Shares<here, one_pass>>},
      {"cancelled in barriers", 3, 3, 1, 6, &cancelled<2>, On::template explore<Barriers<here>>},
      {"cancelled in barriers, M may change", 3, 2, 1, 6, &cancelled<2>, On::template explore<Mixed>, gathered, polled, true},
      {"cancelled in steps", 3, 2, 1, 6, &cancelled<2>, On::template explore<Elected<>>, sent},
      {"cancelled in a pool", 3, 2, 1, 6, &cancelled<2>, On::template explore<Pool<highest>>, by_itself, polled, true, true},
      {"cancelled in a pool, any order", 3, 2, 1, 6, &cancelled<2>, On::template explore<Pool<any>>, by_itself},
      {"cancelled in plain barriers", 3, 2, 1, 4, &cancelled<2>, On::template explore<Shares<anywhere, plain>>},
      {"cancelled in query barriers", 3, 3, 1, 4, &cancelled<2>, On::template explore<Shares<anywhere, query>>},
      {"cancelled in modelled barriers", 3, 2, 1, 4, &cancelled<2>, On::template explore<Shares<anywhere, modelled>>},
      {"cancelled while offering", 4, 4, 1, 6, &cancelled<2>, On::template explore<Offers<highest>>, gathered, polled, true},
      {"misuse: returns early, M still", 3, 3, 1, 0, &nothing, On::template misuse<ReturnsEarly<here>>},
      {"misuse: returns early, M may change", 3, 3, 1, 0, &nothing, On::template misuse<ReturnsEarly<anywhere>>},
      {"misuse: returns early, resizing barrier", 3, 3, 1, 1, &nothing, On::template misuse<ReturnsEarly<here>>},
      {"misuse: returns early, plain barrier", 3, 3, 1, 1, &nothing, On::template misuse<ReturnsEarly<anywhere, plain>>},
      {"misuse: different barriers, group 0, M still", 3, 3, 1, 0, &nothing, On::template misuse<Diverges<here>>},
      {"misuse: different barriers, group 2, M still", 3, 3, 1, 2, &nothing, On::template misuse<Diverges<here>>},
      {"misuse: different barriers, group 0", 3, 3, 1, 0, &nothing, On::template misuse<Diverges<anywhere>>},
      {"misuse: different barriers, group 2", 3, 3, 1, 2, &nothing, On::template misuse<Diverges<anywhere>>},
      {"misuse: different barriers, group 0, plain", 3, 3, 1, 0, &nothing, On::template misuse<Diverges<anywhere, plain>>},
      {"misuse: different barriers, group 2, query", 3, 3, 1, 2, &nothing, On::template misuse<Diverges<anywhere, query>>},
      {"misuse: a barrier after leaving", 2, 2, 1, 0, &to<1>, On::template misuse<GoesOnAfterLeaving>},
      {"misuse: an offer after leaving", 2, 2, 1, 1, &to<1>, On::template misuse<GoesOnAfterLeaving>},
      {"misuse: a fork after leaving", 2, 2, 1, 2, &to<1>, On::template misuse<GoesOnAfterLeaving>},
      {"misuse: a query after leaving", 2, 2, 1, 3, &to<1>, On::template misuse<GoesOnAfterLeaving>},
      {"misuse: a resizing barrier after leaving", 2, 2, 1, 4, &to<1>, On::template misuse<GoesOnAfterLeaving>},
      {"misuse: an offer and fork after leaving", 2, 2, 1, 5, &to<1>, On::template misuse<GoesOnAfterLeaving>},
      {"barriers of both kinds", 3, 2, 1, 10, &restless<3>, On::template explore<Kinds<here>>},
      {"barriers of both kinds, M may change", 3, 2, 1, 10, &restless<3>, On::template explore<Kinds<anywhere>>},
      {"misuse: different barriers, group 2, shrinking", 3, 3, 1, 2, &to<1>, On::template misuse<Diverges<here>>},
      {"misuse: different barriers, group 2 resizing alone", 3, 3, 1, 12, &to<2>, On::template misuse<Diverges<here>>},
      {"misuse: different barriers, group 2 resizing alone, M may change", 3, 3, 1, 12, &to<2>, On::template misuse<Diverges<anywhere>>},
      {"resizing barriers, one group fewer", 3, 3, 1, 4, &to<2>, On::template explore<Resizing<here, one_pass>>},
      {"shares of rounds that all may leave", 4, 2, 1, 8, &restless<3, 0>, On::template explore<SharesThatMayEmpty>},
      {"shares of rounds that all may leave, suspended and resumed", 4, 3, 1, 6, &suspended_and_resumed, On::template explore<SharesThatMayEmpty>, sent},
      {"forks after resizing barriers", 4, 2, 1, 4, &to<4>, On::template explore<ForksAfterBarriers>},
      {"until all have left", 3, 2, 1, 0, &to<0>, On::template explore<UntilEmpty>, sent, polled, false, false, 50},
      {"misuse: returns early, plain barrier, two groups", 2, 2, 1, 1, &nothing, On::template misuse<ReturnsEarly<anywhere, plain>>},
      {"a pool of items that all may leave, suspended", 4, 3, 1, 8, &suspended<>, On::template explore<StackThatMayEmpty>, gathered, polled, true},
      {"a pool of items that all may leave, any order, suspended", 4, 3, 1, 8, &suspended<>, On::template explore<PoolThatMayEmpty>},
  };
  std::erase_if(all, [](const Scenario& scenario) { return scenario.explore == nullptr; });
  return all;
}
// clang-format on

}  // namespace larger

}  // namespace cohort::test
