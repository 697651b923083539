#include "cpu/capacity.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "cohort/cpu.hpp"

namespace cohort::cpu {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint32_t> in_cpus(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return std::max(1U, static_cast<std::uint32_t>(std::min((quota + period - 1) / period, 4096.0)));
}

/// cgroup v2: "max 100000" or "150000 100000".
std::optional<std::uint32_t> quota_v2(const fs::path& folder) {
  std::ifstream file{folder / "cpu.max"};
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? in_cpus(quota, period) : std::nullopt;
}

/// cgroup v1: two files, -1 for no quota.
std::optional<std::uint32_t> quota_v1(const fs::path& folder) {
  std::ifstream quota_file{folder / "cpu.cfs_quota_us"};
  std::ifstream period_file{folder / "cpu.cfs_period_us"};
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period ? in_cpus(quota, period) : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> cgroup_quota(const fs::path& root) {
  std::optional<std::uint32_t> tightest;
  const auto tighten = [&tightest](std::optional<std::uint32_t> quota) {
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  };
  std::ifstream file{root / "proc/self/cgroup"};
  for (std::string line;
       std::getline(file, line);) {  // a line is "0::/path" for v2, or "4:cpu,cpuacct:/path" for v1
    std::istringstream fields{line};
    std::string number;
    std::string controllers;
    std::string path;
    if (!std::getline(fields, number, ':') || !std::getline(fields, controllers, ':') ||
        !std::getline(fields, path))
      continue;
    const bool v2 = controllers.empty();
    if (!v2 && ("," + controllers + ",").find(",cpu,") == std::string::npos) continue;
    const fs::path mount = root / (v2 ? "sys/fs/cgroup" : "sys/fs/cgroup/cpu");
    for (fs::path at = fs::path{path}.relative_path();; at = at.parent_path()) {
      tighten(v2 ? quota_v2(mount / at) : quota_v1(mount / at));
      if (at.empty()) break;
    }
  }
  return tightest;
}

std::uint32_t usable_cpus() {
  std::uint32_t cpus = std::max(1U, std::thread::hardware_concurrency());
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) {
    cpus = static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&mask)));
  }
  return std::min(cpus, cgroup_quota().value_or(cpus));
}

}  // namespace cohort::cpu
