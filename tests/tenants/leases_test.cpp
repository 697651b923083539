// What tenants are granted: units of jobs, shares by weight, and never more than the engine can
// spare.
#include <gmock/gmock.h>

#include <future>
#include <numeric>
#include <set>

#include "conformance/scale.hpp"
#include "tenant/server.hpp"
#include "tenants/processes.hpp"

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

class Leases : public TenantTest {
 protected:
  cpu::Engine engine{{.capacity = 4, .share = "e"}};
};

TEST_F(Leases, TakeUnitsFromAJobAndGiveThemBack) {
  const EndlessJob job{engine};
  ASSERT_TRUE(eventually([&] { return job.groups() == 4; }));
  const Tenant tenant;
  EXPECT_EQ(tenant.engine(), "e");
  {
    const auto lease = tenant.lease({.units = 2});
    EXPECT_EQ(lease.units(), 2U);
    EXPECT_LE(job.groups(), 2U);
    EXPECT_FALSE(lease.cpus().empty());
    EXPECT_EQ(number("\"granted\": "), 2U);
  }
  EXPECT_TRUE(eventually([&] { return job.groups() == 4; }));
  EXPECT_EQ(number("\"leases\": "), 1U);
}

TEST_F(Leases, LeaveEachJobItsMinimum) {
  const EndlessJob first{engine};
  const EndlessJob second{engine};
  const Tenant tenant;
  const auto lease = tenant.lease({.units = 4});
  EXPECT_EQ(lease.units(), 2U);
  EXPECT_TRUE(eventually([&] { return first.groups() == 1 && second.groups() == 1; }));
}

TEST_F(Leases, MakeWayForJobsAndTasksOfTheEngine) {
  const Tenant tenant;
  const auto lease = tenant.lease({.units = 4});
  EXPECT_EQ(lease.units(), 4U) << "no job runs";
  {
    const EndlessJob job{engine};
    EXPECT_TRUE(eventually([&] { return job.groups() == 1 && lease.units() == 3; }));
    engine.submit([] {}, {.groups = 3}).wait();
    EXPECT_TRUE(eventually([&] { return lease.units() == 3; }));
    engine.submit([] {}, {.groups = 4}).wait();  // the job is suspended during the task
    EXPECT_TRUE(eventually([&] { return lease.units() == 3; }));
    engine.set_capacity(2);
    EXPECT_TRUE(eventually([&] { return lease.units() == 1; }));
    engine.set_capacity(4);
  }
  {
    const EndlessJob fixed{engine, {.resizable = false}};
    EXPECT_TRUE(eventually([&] { return fixed.groups() == 4 && lease.units() == 0; }));
  }
  EXPECT_TRUE(eventually([&] { return lease.units() == 4; }));
}

TEST_F(Leases, AreEmptyWithoutAnEngine) {
  const Tenant tenant{{.engine = "missing"}};
  EXPECT_FALSE(tenant.connected());
  const auto lease = tenant.lease({.units = 2});
  EXPECT_FALSE(lease);
  EXPECT_EQ(lease.units(), 0U);
  EXPECT_TRUE(lease.cpus().empty());
  EXPECT_FALSE(tenant.wait_connected(1ms));
}

TEST_F(Leases, RefuseWhatCannotBe) {
  const Tenant tenant;
  EXPECT_THROW(static_cast<void>(tenant.lease({.units = 0})), Error);
  EXPECT_THROW(static_cast<void>(tenant.lease({.units = 5000})), Error);
  EXPECT_THROW(Tenant({.weight = 0}), Error);
  EXPECT_THROW(Tenant({.weight = 1001}), Error);
  EXPECT_THROW(Tenant({.priority = 101}), Error);
}

TEST_F(Leases, OfOneThreadAreNested) {
  const EndlessJob job{engine};
  const Tenant tenant;
  const auto outer = tenant.lease({.units = 2});
  EXPECT_EQ(outer.units(), 2U);
  {
    const auto inner = tenant.lease({.units = 2});
    EXPECT_EQ(inner.units(), 1U);
    EXPECT_EQ(tenant.lease({.units = 1}).units(), 0U) << "this thread holds all that there is";
  }
  EXPECT_EQ(outer.units(), 2U);
  EXPECT_EQ(tenant.lease({.units = 1}).units(), 1U);
}

TEST_F(Leases, OfSeveralThreadsWaitForEachOther) {
  const EndlessJob job{engine};
  const Tenant tenant;
  std::atomic<std::uint32_t> in_use{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::uint32_t k = 0; k < scaled(50, 5); ++k) {
        const auto lease = tenant.lease({.units = 2});
        const std::uint32_t units = lease.units();
        EXPECT_THAT(units, AllOf(Ge(1U), Le(2U)));
        EXPECT_LE(in_use.fetch_add(1) + 1, 3U);
        in_use.fetch_sub(1);
      }
    });
  }
  threads.clear();
  EXPECT_TRUE(eventually([&] { return number("\"demand\": ") == 0 && job.groups() == 4; }));
}

TEST_F(Leases, WaitOnlyUntilTheirDeadline) {
  const EndlessJob fixed{engine, {.resizable = false}};
  ASSERT_TRUE(eventually([&] { return fixed.groups() == 4; }));
  const Tenant tenant;
  ASSERT_TRUE(tenant.connected());
  EXPECT_FALSE(tenant.lease_for(20ms, {.units = 1}));
  EXPECT_FALSE(tenant.lease_for(0ms, {.units = 1}));
  EXPECT_FALSE(tenant.try_lease({.units = 1}));
  EXPECT_TRUE(eventually([&] { return number("\"demand\": ") == 0; }));
}

TEST_F(Leases, AreTriedWithoutWaiting) {
  const Tenant tenant;
  // On a busy machine an idle worker may come too late for one try.
  EXPECT_TRUE(eventually([&] { return tenant.try_lease({.units = 1}).units() == 1; }));
}

TEST_F(Leases, AreMoved) {
  const Tenant tenant;
  TenantLease lease = tenant.lease();
  TenantLease other = std::move(lease);
  EXPECT_EQ(lease.units(), 0U);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(other.units(), 1U);
  lease = std::move(other);
  EXPECT_EQ(lease.units(), 1U);
  lease.give_back();
  EXPECT_EQ(lease.units(), 0U);
}

TEST_F(Leases, AreEmptyOnceTheTenantIsDestroyed) {
  auto tenant = std::make_unique<Tenant>();
  const auto lease = tenant->lease({.units = 4});
  EXPECT_EQ(lease.units(), 4U);
  tenant.reset();
  EXPECT_EQ(lease.units(), 0U);
  EXPECT_TRUE(eventually([] { return seated() == 0; }));
}

TEST_F(Leases, AreSharedByWeight) {
  std::vector<std::unique_ptr<Tenant>> tenants;
  std::vector<TenantLease> leases;
  engine.set_capacity(19);
  const EndlessJob job{engine};
  constexpr std::array<std::uint32_t, 8> weights{1, 1, 2, 2, 3, 3, 3, 3};  // 18 in total
  for (const std::uint32_t weight : weights) {
    tenants.push_back(std::make_unique<Tenant>(TenantOptions{.weight = weight}));
    leases.push_back(tenants.back()->lease({.units = 4096}));
  }
  EXPECT_TRUE(eventually([&] {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (leases[i].units() != weights[i]) return false;
    }
    return true;
  })) << engine_status();
  EXPECT_TRUE(eventually([&] { return job.groups() == 1; }));
  leases[0].give_back();  // its unit goes to other leases
  EXPECT_TRUE(eventually([&] {
    return std::accumulate(
               leases.begin(), leases.end(), 0U,
               [](std::uint32_t sum, const auto& each) { return sum + each.units(); }) == 18;
  }));
}

TEST_F(Leases, TakeTurnsWhereUnitsAreShort) {
  engine.set_capacity(2);
  const EndlessJob job{engine};
  const Tenant greedy{{.priority = 100}};
  const Tenant modest{{.priority = -100}};
  const auto first = greedy.lease({.units = 1000});
  std::future<bool> second =
      std::async(std::launch::async, [&] { return modest.lease_for(1min).units() == 1; });
  EXPECT_TRUE(second.get()) << "it waits for its turn, and gets it";
  EXPECT_TRUE(eventually([&] { return first.units() == 1; }));
}

TEST_F(Leases, QueueForASlot) {
  std::vector<std::unique_ptr<Tenant>> tenants;
  for (std::uint32_t i = 0; i < tenant::slots + 2; ++i)
    tenants.push_back(std::make_unique<Tenant>());
  ASSERT_TRUE(eventually([&] { return tenants.back()->connected(); }));
  EXPECT_EQ(seated(), tenant::slots);
  EXPECT_EQ(number("\"queued\": "), 2U);
  EXPECT_FALSE(tenants.back()->lease_for(20ms));
  EXPECT_FALSE(tenants.back()->try_lease());
  std::future<bool> later =
      std::async(std::launch::async, [&] { return tenants.back()->lease_for(1min).units() == 1; });
  tenants[3].reset();
  tenants[5].reset();
  EXPECT_TRUE(later.get());
  EXPECT_EQ(number("\"queued\": "), 0U);
  EXPECT_EQ(seated(), tenant::slots);
}

TEST_F(Leases, OfChildProcessesAreAllCounted) {
  const EndlessJob job{engine};
  const std::uint32_t each = scaled(2500, 50);
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(std::make_unique<Child>(
        std::vector<std::string>{"leases", "e", std::to_string(each), std::to_string(1 + i % 2)}));
  }
  for (const auto& child : children) {
    EXPECT_EQ(child->line(), "leases " + std::to_string(each));
    EXPECT_EQ(child->wait(), 0);
  }
  EXPECT_TRUE(eventually([] { return seated() == 0; }));
  EXPECT_EQ(number("\"leases\": "), 4 * each) << engine_status();
  EXPECT_TRUE(eventually([&] { return job.groups() == 4; }));
}

TEST_F(Leases, NameTheCpusOfPinnedWorkers) {
  const cpu::Engine pinned{{.capacity = 2, .pin_workers = true, .share = "pinned"}};
  const Tenant tenant{{.engine = "pinned"}};
  const auto one = tenant.lease();
  EXPECT_EQ(one.cpus().size(), 1U);
  const auto two = tenant.lease();
  if (cpu::usable_cpus() < 2) GTEST_SKIP() << "both workers are on the only CPU";
  ASSERT_EQ(two.cpus().size(), 1U);
  EXPECT_NE(one.cpus(), two.cpus());
}

TEST_F(Leases, EndWithTheEngine) {
  auto ending = std::make_unique<cpu::Engine>(cpu::EngineOptions{.capacity = 2, .share = "ending"});
  const Tenant tenant{{.engine = "ending"}};
  const auto lease = tenant.lease({.units = 2});
  EXPECT_EQ(lease.units(), 2U);
  ending.reset();
  EXPECT_TRUE(eventually([&] { return !tenant.connected(); }));
  EXPECT_EQ(lease.units(), 0U);
  // A new engine of that name appears later, and the open lease gets units from it.
  const cpu::Engine next{{.capacity = 2, .share = "ending"}};
  EXPECT_TRUE(tenant.wait_connected(1min));
  EXPECT_TRUE(eventually([&] { return lease.units() == 2; }));
}

TEST_F(Leases, ThatWaitEndWithTheEngine) {
  auto ending = std::make_unique<cpu::Engine>(cpu::EngineOptions{.capacity = 1, .share = "ending"});
  auto fixed = std::make_unique<EndlessJob>(*ending, LaunchOptions{.resizable = false});
  const Tenant tenant{{.engine = "ending"}};
  std::future<bool> waiting =
      std::async(std::launch::async, [&] { return static_cast<bool>(tenant.lease()); });
  EXPECT_TRUE(eventually([] { return number("\"demand\": ", "ending") == 1; }));
  fixed.reset();  // now the lease gets its unit, or the test hangs
  ending.reset();
  static_cast<void>(waiting.get());
}

TEST_F(Leases, AreDescribedByTheStatus) {
  const EndlessJob job{engine};
  const Tenant tenant{{.name = "a \"name\"\n\xff", .weight = 7, .priority = -3}};
  const auto lease = tenant.lease({.units = 3});
  const std::string status = engine_status();
  EXPECT_THAT(status, AllOf(HasSubstr(R"("protocol": 1)"), HasSubstr(R"("kind": "cpu")"),
                            HasSubstr(R"("capacity": 4, "lendable": 3)"),
                            HasSubstr(R"("name": "a \"name\"\u000a\u00ff")"),
                            HasSubstr(R"("weight": 7, "priority": -3, "demand": 3)"),
                            HasSubstr(R"("status": "running")"), HasSubstr(R"("slots": 32)")));
  EXPECT_THAT(status, HasSubstr("\"pid\": " + std::to_string(::getpid())));
}

}  // namespace
}  // namespace cohort::test
