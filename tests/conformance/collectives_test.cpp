// Operations of all threads of a group together (barrier, local memory, broadcast, reduce, scans),
// and atomic accesses.
#include "conformance/kernels/collectives.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

COHORT_SITE_SUITE(Collectives);

/// Launches the kernel with two groups, and expects that it reports no mistake.
template <class Kernel>
void expect_right(Site& site, std::uint32_t local_size) {
  for (const bool resizable : {true, false}) {
    const Mistakes wrong{site};
    site.run(Kernel{wrong.data()},
             {.max_groups = 2, .local_size = local_size, .resizable = resizable});
  }
}

/// Tests groups from one thread up to the largest size.
template <class Kernel>
void expect_right(Site& site) {
  site.restart(2);
  for (const std::uint32_t local_size : site.local_sizes()) {
    SCOPED_TRACE(testing::Message() << local_size << " threads");
    expect_right<Kernel>(site, local_size);
  }
}

COHORT_SITE_TEST(Collectives, BroadcastGivesEveryThreadOneThreadsValue) {
  expect_right<Broadcasting>(site);
}
COHORT_SITE_TEST(Collectives, ReduceCombinesTheValuesOfAllThreads) { expect_right<Reducing>(site); }
COHORT_SITE_TEST(Collectives, ScansCombineTheValuesOfTheThreadsBefore) {
  expect_right<Scanning>(site);
}
COHORT_SITE_TEST(Collectives, ClaimGivesEachThreadANumberOfItsOwn) { expect_right<Claiming>(site); }
COHORT_SITE_TEST(Collectives, LocalMemoryIsSharedWithinAGroupAndNotBetweenGroups) {
  expect_right<UsingLocalMemory>(site);
}
COHORT_SITE_TEST(Collectives, BarrierOrdersTheThreadsOfAGroup) { expect_right<TakingTurns>(site); }

COHORT_SITE_TEST(Collectives, WorkInEveryGroupOfAJobThatIsResized) {
  site.restart(4);
  for (const std::uint32_t local_size : site.local_sizes()) {
    if (local_size > 33) continue;
    const Mistakes wrong{site};
    const std::uint32_t groups = site.capacity();
    site.run(InSteps{site.explored() ? 4 : scaled(100, 20), wrong.data()},
             {.max_groups = groups, .local_size = local_size}, [&](const Job& job) {
               for (std::uint32_t i = 0; !at_rest(job.status()); ++i) {
                 job.set_target(1 + i % groups);
                 site.linger(0us);
               }
             });
  }
}

COHORT_SITE_TEST(Collectives, ThreadsHaveRoomForDeepCalls) {
  site.needs(site.lacks().deep_calls);
  site.restart(2);
  for (const std::uint32_t local_size : {1U, 4U, 33U}) expect_right<Deep>(site, local_size);
}

COHORT_SITE_TEST(Collectives, AtomicWordsOfAllKindsBehaveInEitherMemory) {
  const Words words{site, sizeof(Accessing::Local) / sizeof(std::uint32_t)};
  const Word right{site};
  site.run(Accessing{reinterpret_cast<Accessing::Local*>(words.data()), right.data()},
           {.max_groups = 1, .local_size = 4});
  EXPECT_EQ(right, 8U);
}

TEST(Stacks, ThreadsMayBeginWhereOthersEnded) {
  // A page that stays mapped shifts the stacks of the next engine within the same memory.
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<void*> pages;
  Site site{EngineKind::cpu};
  for (std::uint32_t i = 0; i < 8; ++i) {
    site.restart(2);
    expect_right<Deep>(site, 33);
    site.end();
    pages.push_back(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages.back(), MAP_FAILED);
  }
  for (void* page : pages) munmap(page, bytes);
}

}  // namespace
}  // namespace cohort::test
