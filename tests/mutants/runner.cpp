// Explores the protocol with one mutant switched on until an error is found.
//   mutant_runner ID [LOOKS]   ID 0: the unchanged protocol. LOOKS: run only the first, shorter
//   looks
// Exit status 0: killed; the error is on standard output. 1: survived everything.
#include <sys/time.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "explore/checks.hpp"
#include "explore/ranks_scenarios.hpp"
#include "explore/scenarios.hpp"
#include "explore/tenants_scenarios.hpp"
#include "mutants/select.hpp"

namespace cohort::test {
namespace {

/// Ends a mutant that loops for ever by SIGPROF. No scenario takes this much CPU time.
void limit_time() {
  const itimerval limit{{}, {.tv_sec = 20, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

/// One pass over all scenarios, with one search and its options. Everything is fixed, so that a
/// mutant has the same result every time.
struct Look {
  Search search;
  std::uint64_t schedules;
  bool weak_memory;
  Waiting waiting;
};

constexpr Look looks[] = {
    {Search::random, 20, true, Waiting::polled},
    {Search::pct, 20, true, Waiting::notified},
    {Search::random, 100, true, Waiting::notified},
    {Search::pct, 100, true, Waiting::polled},
    {Search::random, 1000, true, Waiting::polled},
    {Search::random, 1000, true, Waiting::notified},
    {Search::pct, 1000, true, Waiting::polled},
    {Search::exhaustive, 3000, false, Waiting::polled},
    {Search::random, 3000, true, Waiting::polled},
    {Search::random, 3000, true, Waiting::notified},
};

bool killed(std::size_t most) {
  limit_time();
  for (const Check& check : checks) {
    const std::string wrong = check.run();
    if (wrong.empty()) continue;
    std::cout << check.name << ": " << wrong << '\n';
    return true;
  }
  if (const std::string wrong = check_placement(); !wrong.empty()) {
    std::cout << "placement: " << wrong << '\n';
    return true;
  }
  for (const RanksStory& story : ranks_stories()) {
    limit_time();
    const Result result = explore_ranks(story, 2000);
    if (result.ok) continue;
    std::cout << story.name << ": " << result.failure << '\n';
    return true;
  }
  for (const TenantsStory& story : tenants_stories()) {
    for (const Waiting waiting : {Waiting::notified, Waiting::polled}) {
      limit_time();
      const Result result =
          explore_tenants(story, {.schedules = 1000, .weak_memory = true, .waiting = waiting});
      if (result.ok) continue;
      std::cout << story.name << ": " << result.failure << '\n';
      return true;
    }
  }
  std::vector<Scenario> all = all_scenarios();
  // Large scenarios find most mutants, so they run first.
  std::reverse(all.begin(), all.end());
  for (std::size_t i = 0; i < std::min(most, std::size(looks)); ++i) {
    std::vector<Scenario> reach_it;
    for (const Scenario& scenario : all) {
      limit_time();
      mutants::reached = false;
      const Look& look = looks[i];
      const Result result = scenario.run({.search = look.search,
                                          .schedules = look.schedules,
                                          .depth = 4,
                                          .visits = 2,
                                          .weak_memory = look.weak_memory,
                                          .waiting = look.waiting,
                                          .shrink = false});
      if (!result.ok) {
        std::cout << scenario << ": " << result.failure << '\n';
        return true;
      }
      if (mutants::reached) reach_it.push_back(scenario);
    }
    // A scenario that did not reach the mutant in the second look is assumed not to reach it in
    // longer looks, and is skipped.
    if (i == 1 && mutants::selected != 0) all = reach_it;
  }
  return false;
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  cohort::mutants::selected = argc > 1 ? std::atoi(argv[1]) : 0;  // NOLINT(cert-err34-c)
  const std::size_t most = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : ~std::size_t{0};
  return cohort::test::killed(most) ? 0 : 1;
}
