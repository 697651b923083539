// The scheduler's policy: a pure function, tested by its properties over random jobs.
#include "scheduler/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "conformance/scale.hpp"

namespace cohort::scheduler {
namespace {

using testing::ElementsAre;
using Claims = std::vector<Claim>;
using Shares = std::vector<std::uint32_t>;

std::uint64_t total(const Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
}

std::uint32_t least(const Claim& claim) {
  return claim.rigid ? claim.max_groups : std::min(claim.max_groups, 1U);
}

/// A machine and its jobs. The minimum shares of the running jobs fit the machine.
struct Scene {
  std::uint32_t capacity = 0;
  Claims claims;
};

std::ostream& operator<<(std::ostream& out, const Scene& scene) {
  out << "capacity " << scene.capacity;
  for (const Claim& each : scene.claims) {
    out << ", " << each.max_groups << " groups of weight " << each.weight
        << (each.rigid ? ", rigid" : "") << (each.running ? ", running" : "");
  }
  return out;
}

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>(random_() % (most + 1));
  }

  Scene scene(bool with_rigid) {
    Scene result{.capacity = 1 + upto(40), .claims = {}};
    std::uint32_t room = result.capacity;
    for (std::uint32_t jobs = upto(8); jobs > 0; --jobs) {
      Claim claim{.max_groups = upto(20) == 0 ? 0 : 1 + upto(25),
                  .weight = upto(3) == 0 ? 1 + upto(1000) : 1 + upto(4),
                  .rigid = with_rigid && upto(4) == 0,
                  .running = upto(1) == 0};
      if (claim.rigid) claim.max_groups = std::clamp(claim.max_groups, 1U, result.capacity);
      if (least(claim) > room) claim.running = false;
      if (claim.running) room -= least(claim);
      result.claims.push_back(claim);
    }
    return result;
  }

 private:
  std::mt19937 random_;
};

/// Calls `property(scene, shares)` for many random scenes.
void for_all(bool with_rigid, const std::function<void(const Scene&, const Shares&)>& property) {
  for (unsigned seed = 0; seed < test::scaled(20000, 500); ++seed) {
    const Scene scene = Dice{seed}.scene(with_rigid);
    const Shares shares = share_out(scene.capacity, scene.claims);
    ASSERT_EQ(shares.size(), scene.claims.size());
    property(scene, shares);
    if (testing::Test::HasFailure()) {
      FAIL() << "seed " << seed << ": " << testing::PrintToString(scene) << "; shares "
             << testing::PrintToString(shares);
    }
  }
}

TEST(Policy, NobodyThereNothingShared) { EXPECT_TRUE(share_out(16, {}).empty()); }

TEST(Policy, AJobAloneGetsWhatItCanUse) {
  EXPECT_THAT(share_out(16, Claims{{.max_groups = 5}}), ElementsAre(5));
  EXPECT_THAT(share_out(16, Claims{{.max_groups = 100}}), ElementsAre(16));
  EXPECT_THAT(share_out(16, Claims{{.max_groups = 0, .running = true}}), ElementsAre(0));
}

TEST(Policy, SharesByWeight) {
  EXPECT_THAT(share_out(16, Claims{{.max_groups = 16, .weight = 3}, {.max_groups = 16}}),
              ElementsAre(12, 4));
  EXPECT_THAT(share_out(16, Claims{{.max_groups = 2, .weight = 3}, {.max_groups = 16}}),
              ElementsAre(2, 14));
}

TEST(Policy, PostponesInTheOrderOfLaunch) {
  EXPECT_THAT(share_out(2, Claims{{.max_groups = 4}, {.max_groups = 4}, {.max_groups = 4}}),
              ElementsAre(1, 1, 0));
  EXPECT_THAT(share_out(4, Claims{{.max_groups = 4, .running = true},
                                  {.max_groups = 4, .rigid = true},
                                  {.max_groups = 1}}),
              ElementsAre(4, 0, 0));
}

TEST(Policy, MakesRoomForARigidJobWhereItCan) {
  EXPECT_THAT(
      share_out(8, Claims{{.max_groups = 8, .running = true}, {.max_groups = 6, .rigid = true}}),
      ElementsAre(2, 6));
}

TEST(Policy, IsNeverOverCapacityNorOverAClaim) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    EXPECT_LE(total(shares), scene.capacity);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_LE(shares[i], scene.claims[i].max_groups);
    }
  });
}

TEST(Policy, GivesARigidJobAllOrNothing) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Claim& claim = scene.claims[i];
      if (claim.rigid) {
        EXPECT_TRUE(shares[i] == claim.max_groups || (shares[i] == 0 && !claim.running));
      }
    }
  });
}

TEST(Policy, RunningJobsKeepAtLeastOneUnit) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (!scene.claims[i].running) continue;
      EXPECT_GE(shares[i], least(scene.claims[i]));
    }
  });
}

TEST(Policy, NobodyOvertakesAPostponedJob) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    bool postponed = false;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Claim& claim = scene.claims[i];
      if (claim.running || claim.max_groups == 0) continue;
      EXPECT_TRUE(!postponed || shares[i] == 0) << "job " << i;
      postponed = postponed || shares[i] == 0;
    }
  });
}

TEST(Policy, PostponesOnlyForWantOfRoom) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    std::uint64_t needed = 0;  // the sum of the minimum shares of all jobs that have units
    for (std::size_t i = 0; i < shares.size(); ++i)
      needed += shares[i] > 0 ? least(scene.claims[i]) : 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] > 0 || scene.claims[i].max_groups == 0) continue;
      EXPECT_GT(needed + least(scene.claims[i]), scene.capacity) << "job " << i;
      break;  // later jobs wait for this one
    }
  });
}

TEST(Policy, LeavesNoUnitIdleThatAJobInTheMachineCouldUse) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    if (total(shares) == scene.capacity) return;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_TRUE(shares[i] == 0 || shares[i] == scene.claims[i].max_groups) << "job " << i;
    }
  });
}

TEST(Policy, LeavesNoUnitIdleAtAllWhereNothingIsRigid) {
  for_all(false, [](const Scene& scene, const Shares& shares) {
    std::uint64_t wanted = 0;
    for (const Claim& claim : scene.claims) wanted += claim.max_groups;
    EXPECT_EQ(total(shares), std::min<std::uint64_t>(wanted, scene.capacity));
  });
}

TEST(Policy, RespectsWeightsToWithinOneUnit) {
  for_all(true, [](const Scene& scene, const Shares& shares) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for (std::size_t j = 0; j < shares.size(); ++j) {
        const Claim& rich = scene.claims[i];
        const Claim& poor = scene.claims[j];
        if (rich.rigid || poor.rigid || shares[i] <= 1 || shares[j] == 0) continue;
        if (shares[j] == poor.max_groups) continue;  // the job cannot use more units
        // Moving a unit must not improve fairness: after giving one up, `rich` would have no more
        // per weight than `poor`.
        EXPECT_LE(std::uint64_t{shares[i] - 1} * poor.weight,
                  std::uint64_t{shares[j]} * rich.weight)
            << "jobs " << i << " and " << j;
      }
    }
  });
}

TEST(Policy, IsMonotoneInCapacity) {
  for_all(false, [](const Scene& scene, const Shares& shares) {
    const Shares more = share_out(scene.capacity + 1, scene.claims);
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_GE(more[i], shares[i]) << "job " << i;
  });
  for_all(true, [](const Scene& scene, const Shares& shares) {
    EXPECT_GE(total(share_out(scene.capacity + 1, scene.claims)), total(shares));
  });
}

TEST(Policy, IsMonotoneInDemand) {
  for_all(false, [](const Scene& scene, const Shares& shares) {
    for (std::size_t i = 0; i < scene.claims.size(); ++i) {
      Claims asking = scene.claims;
      if (asking[i].max_groups == 0) continue;
      ++asking[i].max_groups;
      EXPECT_GE(share_out(scene.capacity, asking)[i], shares[i]) << "job " << i;
    }
  });
}

TEST(Policy, StartedJobsKeepTheirPlaceWhenTheyRun) {
  // Uses the shares as the next scene: jobs that received units are running then, and must not be
  // postponed.
  for_all(true, [](const Scene& scene, const Shares& shares) {
    Claims next = scene.claims;
    for (std::size_t i = 0; i < next.size(); ++i)
      next[i].running = next[i].running || shares[i] > 0;
    EXPECT_EQ(share_out(scene.capacity, next), shares);
  });
}

// ---- Tenants

std::vector<TenantClaim> random_tenants(Dice& dice) {
  std::vector<TenantClaim> tenants;
  for (std::uint32_t i = dice.upto(12); i > 0; --i) {
    tenants.push_back({.demand = dice.upto(3) == 0 ? 0 : dice.upto(30),
                       .weight = 1 + dice.upto(dice.upto(2) == 0 ? 999 : 3),
                       .priority = static_cast<int>(dice.upto(4)) - 2,
                       .held = dice.upto(5),
                       .arrears = static_cast<double>(dice.upto(100)) / 100 - 0.5});
  }
  return tenants;
}

TEST(Lend, GivesEachTenantItsWeightsPartOrItsDemand) {
  for (unsigned seed = 0; seed < test::scaled(20000, 500); ++seed) {
    Dice dice{seed};
    const std::uint32_t units = dice.upto(40);
    const auto tenants = random_tenants(dice);
    const auto loans = lend(units, tenants);
    std::uint64_t wanted = 0;
    std::uint64_t lent = 0;
    double weights = 0;
    for (const TenantClaim& each : tenants) {
      wanted += each.demand;
      weights += each.weight;
    }
    for (std::size_t i = 0; i < tenants.size(); ++i) {
      lent += loans[i].units;
      ASSERT_LE(loans[i].units, tenants[i].demand) << "seed " << seed;
      // The demands of the other tenants do not change its part.
      const double part = units * tenants[i].weight / weights;
      ASSERT_GE(loans[i].due + 1e-6, std::min<double>(tenants[i].demand, part)) << "seed " << seed;
      ASSERT_LT(std::abs(loans[i].units - loans[i].due), 1) << "seed " << seed;
    }
    ASSERT_EQ(lent, std::min<std::uint64_t>(units, wanted)) << "seed " << seed;
  }
}

TEST(Lend, GivesShortUnitsByTurns) {
  std::vector<TenantClaim> tenants{{.demand = 9, .weight = 3, .priority = 5},
                                   {.demand = 9, .weight = 1, .priority = -5},
                                   {.demand = 9, .weight = 1, .priority = -5}};
  std::vector<double> had(tenants.size());
  std::uint32_t changes = 0;
  constexpr double turn = 0.05;
  for (int i = 0; i < 2000; ++i) {
    const auto loans = lend(1, tenants);
    for (std::size_t k = 0; k < tenants.size(); ++k) {
      had[k] += loans[k].units * turn;
      tenants[k].arrears += (loans[k].due - loans[k].units) * turn;
      changes += tenants[k].held != loans[k].units ? 1 : 0;
      tenants[k].held = loans[k].units;
    }
    if (i == 0) {
      EXPECT_EQ(loans[0].units, 1U) << "the highest priority begins";
    }
  }
  EXPECT_NEAR(had[0], 60, 1);
  EXPECT_NEAR(had[1], 20, 1);
  EXPECT_NEAR(had[2], 20, 1);
  EXPECT_LT(changes, 2000U) << "a unit does not change hands at every turn";
}

TEST(Lendable, LeavesJobsTheirMinimumAndTasksTheirUnits) {
  const Claim job{.max_groups = 8, .running = true};
  const Claim pending{.max_groups = 8};
  const Claim fixed{.max_groups = 3, .rigid = true};
  EXPECT_EQ(lendable(8, {}, 0, 0), 8U);
  EXPECT_EQ(lendable(8, std::vector{job, pending}, 0, 0), 6U);
  EXPECT_EQ(lendable(8, std::vector{job, fixed}, 0, 0), 4U);
  EXPECT_EQ(lendable(8, std::vector{job}, 2, 3), 2U);
  EXPECT_EQ(lendable(8, std::vector{job}, 8, 8), 0U);
  EXPECT_EQ(lendable(8, std::vector{Claim{.max_groups = 8, .running = true, .blocked = 5}}, 0, 0),
            3U);
}

}  // namespace
}  // namespace cohort::scheduler
