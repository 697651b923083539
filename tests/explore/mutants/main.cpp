// One mutant of the protocol: compiled with a header that has a planted bug, and explored until the
// bug is found. Exit status 0: found.
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "explore/scenarios.hpp"

#ifndef MUTANT_WEAK
#define MUTANT_WEAK false
#endif
#ifndef MUTANT_WAITING
#define MUTANT_WAITING polled
#endif
#ifndef MUTANT_PLATFORM
#define MUTANT_PLATFORM Platform
#endif
#ifndef MUTANT_MAX
#define MUTANT_MAX MUTANT_UNITS
#endif
#ifndef MUTANT_DEADLINE
#define MUTANT_DEADLINE false
#endif
#ifndef MUTANT_START
#define MUTANT_START gathered
#endif
#ifndef MUTANT_SEARCH
#define MUTANT_SEARCH random
#endif
#ifndef MUTANT_VISITS
#define MUTANT_VISITS 2
#endif

using cohort::KillOrder;
using cohort::ResizingBarrier;

int main() {
  using namespace cohort::test;
  std::uint64_t schedules = 0;
  for (const Search search : {Search::MUTANT_SEARCH, Search::pct}) {
    const Result result = explore_kernel<MUTANT_KERNEL, cohort::explore::MUTANT_PLATFORM>(
        {.search = search,
         .schedules = search == Search::exhaustive ? 500000U : 100000U,
         .depth = 4,
         .capacity = MUTANT_UNITS,
         .max_groups = MUTANT_MAX,
         .start_groups = MUTANT_FIRST,
         .visits = search == Search::exhaustive ? 1U : unsigned{MUTANT_VISITS},
         .host = MUTANT_HOST,
         .weak_memory = MUTANT_WEAK,
         .waiting = Waiting::MUTANT_WAITING,
         .start = Start::MUTANT_START,
         .start_deadline = MUTANT_DEADLINE},
        MUTANT_COUNT);
    schedules += result.schedules;
    if (result.ok) continue;
    std::cout << "found in schedule " << schedules << ": " << result.failure << '\n';
    if (std::getenv("COHORT_MUTANT_TIMELINE") != nullptr) std::cout << result << '\n';  // NOLINT
    return 0;
  }
  std::cout << "not found in " << schedules << " schedules\n";
  return 1;
}
