// The number of CPUs that the process may use: from made-up cgroup trees, and from a thread's
// affinity mask.
#include "cpu/capacity.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "cohort/cpu.hpp"

namespace cohort::cpu {
namespace {

namespace fs = std::filesystem;

/// A folder that stands for `/`. It is removed with its test.
class CgroupQuota : public testing::Test {
 protected:
  CgroupQuota() {
    std::string pattern = (fs::temp_directory_path() / "cohort-capacity-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CgroupQuota() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream{root_ / file} << text;
  }
  [[nodiscard]] std::optional<std::uint32_t> quota() const { return cgroup_quota(root_); }

 private:
  fs::path root_;
};

TEST_F(CgroupQuota, IsNothingWhereThereAreNoCgroups) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(CgroupQuota, IsNothingWhereThereAreNoQuotas) {
  write("proc/self/cgroup", "0::/user.slice\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(CgroupQuota, Version2IsRoundedUpToWholeCpus) {
  write("proc/self/cgroup", "0::/job\n");
  const auto with = [this](const std::string& text) {
    write("sys/fs/cgroup/job/cpu.max", text);
    return quota();
  };
  EXPECT_EQ(with("200000 100000\n"), 2U);
  EXPECT_EQ(with("150000 100000\n"), 2U);
  EXPECT_EQ(with("100001 100000\n"), 2U);
  EXPECT_EQ(with("100000 100000\n"), 1U);
  EXPECT_EQ(with("1000 100000\n"), 1U);
  EXPECT_EQ(with("1600000 50000"), 32U);
  EXPECT_EQ(with("18446744073709551615 1000\n"), 4096U);  // no machine has more CPUs
}

TEST_F(CgroupQuota, Version2TakesTheTightestOnTheWayToTheRoot) {
  write("proc/self/cgroup", "0::/a/b/c\n");
  write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/a/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 8U);
  write("sys/fs/cgroup/a/b/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3U);
  write("sys/fs/cgroup/a/b/c/cpu.max", "500000 100000\n");
  EXPECT_EQ(quota(), 3U);
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");  // the root cgroup, as seen inside a container
  EXPECT_EQ(quota(), 2U);
}

TEST_F(CgroupQuota, Version2LooksAtTheMountWhereThePathIsTheHosts) {
  write("proc/self/cgroup", "0::/docker/0123456789abcdef\n");
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 4U);
}

TEST_F(CgroupQuota, Version1ReadsTwoFiles) {
  write("proc/self/cgroup", "12:memory:/job\n4:cpu,cpuacct:/job\n0::/\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(quota(), 3U);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 1U);
}

TEST_F(CgroupQuota, Version1MindsOnlyTheCpuController) {
  write("proc/self/cgroup", "3:cpuset:/job\n2:cpuacct:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("proc/self/cgroup", "3:cpuset:/job\n2:cpuacct,cpu:/job\n");
  EXPECT_EQ(quota(), 1U);
}

TEST_F(CgroupQuota, TakesTheTightestOfBothVersions) {
  write("proc/self/cgroup", "1:cpu:/one\n0::/two\n");
  write("sys/fs/cgroup/cpu/one/cpu.cfs_quota_us", "500000\n");
  write("sys/fs/cgroup/cpu/one/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/two/cpu.max", "700000 100000\n");
  EXPECT_EQ(quota(), 5U);
}

TEST_F(CgroupQuota, IsNotMisledByGarbage) {
  write("proc/self/cgroup", "\nnonsense\n:\n::\n1:\n0::/job\n1:cpu\n0::relative/path\n");
  for (const char* text : {"", "\n", "garbage", "max", "12", "-100000 100000", "100000 0", "0 0",
                           "100000 -5", "nan nan", "1e999 1", "100000 garbage"}) {
    write("sys/fs/cgroup/job/cpu.max", text);
    EXPECT_EQ(quota(), std::nullopt) << text;
  }
  write("sys/fs/cgroup/job/cpu.max", "300000 100000");
  EXPECT_EQ(quota(), 3U) << "the good line counts";
}

TEST_F(CgroupQuota, SurvivesOddPaths) {
  write("proc/self/cgroup", "0::/../../job:with:colons/\n");
  EXPECT_EQ(quota(), std::nullopt);
  write("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(quota(), 3U);
}

TEST(UsableCpus, AreThoseOfTheAffinityMask) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  const std::uint32_t all = usable_cpus();
  EXPECT_GE(all, 1U);
  EXPECT_LE(all, static_cast<std::uint32_t>(CPU_COUNT(&mask)));
  std::size_t cpu = 0;
  while (!CPU_ISSET(cpu, &mask)) ++cpu;
  std::thread{
      // In a thread of its own: a mask belongs to one thread and to the engines that it creates.
      [cpu] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
        EXPECT_EQ(usable_cpus(), 1U);
        EXPECT_EQ(Engine{}.capacity(), 1U);
      }}
      .join();
  EXPECT_EQ(usable_cpus(), all);
  EXPECT_EQ(Engine{}.capacity(), all);
  EXPECT_EQ((Engine{{.capacity = 7}}.capacity()), 7U);
}

/// Records the CPUs on which it runs.
struct WhereAmI {
  std::atomic<int>* cpu;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    cpu[group.group_id()] = ::sched_getcpu();
  }
};

TEST(PinnedWorkers, StayWithinTheMask) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
  Engine engine{{.capacity = 8, .pin_workers = true}};
  std::atomic<int> cpus[8] = {};
  engine.launch(WhereAmI{cpus}, {.max_groups = 8, .resizable = false}).wait();
  for (const auto& cpu : cpus) EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(cpu.load()), &mask));
}

}  // namespace
}  // namespace cohort::cpu
