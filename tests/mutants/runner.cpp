// Explores the protocol with one mutant switched on, until something is wrong.
//   mutant_runner ID       0: the protocol as it is
// Exit status 0: killed, with what was found on the standard output. 1: survived everything.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "explore/checks.hpp"
#include "explore/scenarios.hpp"
#include "mutants/select.hpp"

namespace cohort::test {
namespace {

/// One look at a scenario. Everything is fixed, so that a mutant meets the same fate every time.
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

bool killed() {
  for (const Check& check : checks) {
    const std::string wrong = check.run();
    if (wrong.empty()) continue;
    std::cout << check.name << ": " << wrong << '\n';
    return true;
  }
  std::vector<Scenario> all = all_scenarios();
  // Most of the large ones find most of the mutants.
  std::reverse(all.begin(), all.end());
  for (std::size_t i = 0; i < std::size(looks); ++i) {
    std::vector<Scenario> reach_it;
    for (const Scenario& scenario : all) {
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
        std::cout << scenario.name << (scenario.fenced ? ", fences: " : ": ") << result.failure
                  << '\n';
        return true;
      }
      if (mutants::reached) reach_it.push_back(scenario);
    }
    // What does not come to the mutant in short looks does not in long ones.
    if (i == 3 && mutants::selected != 0) all = reach_it;
  }
  return false;
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  cohort::mutants::selected = argc > 1 ? std::atoi(argv[1]) : 0;  // NOLINT(cert-err34-c)
  // A mutant that never ends is killed as well, by its use of the processor.
  const rlimit limit{600, 600};
  ::setrlimit(RLIMIT_CPU, &limit);
  return cohort::test::killed() ? 0 : 1;
}
