// The modelled resizing barrier (section 3.1, rule RESIZING-BARRIER) by exhaustive search: applies
// the rules BARRIER, FORK, BARRIER, KILL or KILL-NO-OP, BARRIER in every possible order.
#include <algorithm>
#include <set>
#include <utility>

#include "cohort/trace_check.hpp"

namespace cohort {

std::vector<Resizing> modelled_outcomes(std::uint32_t before, std::uint32_t max_groups) {
  if (before == 0 || before > max_groups) return {};
  std::set<Resizing> outcomes;
  for (std::uint32_t forked = 0; forked <= max_groups - before; ++forked) {  // FORK, by group 0
    // A state is the set of groups that have yet to offer (group i is bit i), and M. Each group but
    // 0 offers once.
    using State = std::pair<std::vector<bool>, std::uint32_t>;
    std::vector<bool> all(before + forked, true);
    all[0] = false;
    std::set<State> seen{{all, before + forked}};
    std::vector<State> open{*seen.begin()};
    while (!open.empty()) {
      const auto [offers, active] = std::move(open.back());
      open.pop_back();
      bool last = true;
      const auto reach = [&seen, &open](State next) {
        if (seen.insert(next).second) open.push_back(std::move(next));
      };
      for (std::uint32_t id = 1; id < offers.size(); ++id) {
        if (!offers[id]) continue;
        last = false;
        std::vector<bool> rest = offers;
        rest[id] = false;
        reach({rest, active});                                          // KILL-NO-OP
        if (id + 1 == active && active > 1) reach({rest, active - 1});  // KILL
      }
      if (last) outcomes.insert({.before = before, .after = active, .forked = forked});
    }
  }
  return {outcomes.begin(), outcomes.end()};
}

}  // namespace cohort
