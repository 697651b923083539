// Tenants and an engine: the words of demands and grants, slots, and deaths.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "conformance/scale.hpp"
#include "explore/tenants_scenarios.hpp"

namespace cohort::test {
namespace {

using explore::Options;
using explore::Search;
using explore::Waiting;

class Tenants : public testing::TestWithParam<TenantsStory> {};

TEST_P(Tenants, LoseNoUnitSlotOrWakeUp) {
  for (const Search search : {Search::random, Search::pct}) {
    for (const Waiting waiting : {Waiting::notified, Waiting::polled}) {
      const explore::Result result = explore_tenants(GetParam(), {.search = search,
                                                                  .schedules = scaled(4000, 100),
                                                                  .weak_memory = true,
                                                                  .waiting = waiting});
      EXPECT_TRUE(result.ok) << result;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stories, Tenants, testing::ValuesIn(tenants_stories()),
                         [](const auto& each) {
                           std::string name = each.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(TenantsOfOneSlot, MustNotShareItsPages) {
  const explore::Result result =
      explore_tenants({.name = "pages are reused",
                       .tenants = 2,
                       .slots = 1,
                       .leases = {1, 2},
                       .tenant_dies = true,
                       .late_write = true,
                       .reuses_pages = true},
                      {.schedules = 4000, .weak_memory = true, .waiting = Waiting::notified});
  EXPECT_FALSE(result.ok);
  std::cout << "  found in schedule " << result.schedules << ": " << result.failure << '\n';
}

}  // namespace
}  // namespace cohort::test
