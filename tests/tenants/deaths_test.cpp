// Killed tenants and killed engines: units come back, no slot is lost, and the other processes
// continue. COHORT_TEST_SCALE=34 kills a thousand of each.
#include <gmock/gmock.h>

#include <iostream>

#include "conformance/scale.hpp"
#include "tenants/processes.hpp"

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

class Deaths : public TenantTest {};

TEST_F(Deaths, OfTenantsGiveTheirUnitsBack) {
  cpu::Engine engine{{.capacity = 4, .share = "e"}};
  const EndlessJob job{engine};
  const std::uint32_t deaths = scaled(30, 5);
  Samples cleared;
  for (std::uint32_t i = 0; i < deaths; ++i) {
    Child child{{i % 3 == 2 ? "fork" : "hold", "e", std::to_string(1 + i % 4)}};
    ASSERT_EQ(child.line(), "held " + std::to_string(std::min(1 + i % 4, 3U)));
    EXPECT_EQ(seated(), 1U);
    const std::uint64_t before = cpu::now();
    child.kill();
    ASSERT_TRUE(eventually([] { return seated() == 0; })) << "after " << i << " deaths";
    cleared.add(cpu::now() - before);
  }
  // Only printed, because other programs may use this machine.
  const Summary took = cleared.summary();
  std::cout << "  demands of killed tenants were gone after " << took.p50 / 1000 << " us (p50), "
            << took.max / 1000 << " us (max)\n";
  EXPECT_TRUE(eventually([&] { return job.groups() == 4; }));
  EXPECT_EQ(number("\"leases\": "), deaths);
  const Tenant tenant;
  EXPECT_EQ(tenant.lease({.units = 3}).units(), 3U);
}

TEST_F(Deaths, OfTenantsLetTheNextInTheQueueIn) {
  cpu::Engine engine{{.capacity = 2, .share = "e"}};
  std::vector<std::unique_ptr<Tenant>> tenants;
  for (int i = 0; i < 31; ++i) tenants.push_back(std::make_unique<Tenant>());
  Child child{{"hold", "e", "2"}};
  ASSERT_EQ(child.line(), "held 2");
  const Tenant queued;
  EXPECT_FALSE(queued.lease_for(10ms));
  child.kill();
  EXPECT_EQ(queued.lease_for(1min, {.units = 2}).units(), 2U);
}

TEST_F(Deaths, OfEnginesAreSurvivedByTenants) {
  const Tenant tenant{{.engine = "e"}};
  EXPECT_FALSE(tenant.connected());
  for (std::uint32_t i = 0; i < scaled(30, 5); ++i) {
    Child child{{"engine", "e", "2"}};
    ASSERT_EQ(child.line(), "ready");  // its job keeps one worker
    ASSERT_TRUE(tenant.wait_connected(1min));
    const auto lease = tenant.lease_for(1min, {.units = 2});
    ASSERT_EQ(lease.units(), 1U);
    std::jthread waiting{[&] {  // asks for more units than there are
      EXPECT_FALSE(tenant.lease_for(1min, {.units = 4096}).units() > 1);
    }};
    if (i % 2 == 0) std::this_thread::sleep_for(1ms);
    child.kill();
    ASSERT_TRUE(eventually([&] { return !tenant.connected(); })) << "after " << i << " deaths";
    EXPECT_EQ(lease.units(), 0U);
    EXPECT_FALSE(tenant.lease({.units = 1})) << "empty at once";
  }
}

TEST_F(Deaths, OfAForkedTenantsChildAreOfNoConcern) {
  cpu::Engine engine{{.capacity = 2, .share = "e"}};
  Tenant tenant;
  auto lease = tenant.lease({.units = 1});
  const pid_t child = ::fork();
  if (child == 0) {
    // The child has no connection, and nothing there may wait or crash.
    const bool empty = !tenant.connected() && lease.units() == 0 && lease.cpus().empty() &&
                       !tenant.lease({.units = 1}) && !tenant.try_lease() &&
                       tenant.engine().empty() && !tenant.wait_connected(1ms);
    lease.give_back();
    ::_exit(empty ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(lease.units(), 1U);
  EXPECT_EQ(seated(), 1U);
}

TEST_F(Deaths, OfTenantsThatAreBeingSeatedLoseNoSlot) {
  cpu::Engine engine{{.capacity = 2, .share = "e"}};
  for (std::uint32_t i = 0; i < scaled(60, 10); ++i) {
    Child child{{"hold", "e", "1"}};
    // Varies the moment of the kill.
    std::this_thread::sleep_for(std::chrono::microseconds{300 * (i % 60)});
    child.kill();
  }
  ASSERT_TRUE(eventually([] { return seated() == 0; }));
  const Tenant tenant;
  EXPECT_EQ(tenant.lease({.units = 2}).units(), 2U);
}

}  // namespace
}  // namespace cohort::test
