// How many CPUs this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cohort::cpu {

/// The CPU quota of this process's cgroups, in CPUs rounded up, the tightest on the way to the
/// root; nothing where there is none. `root` stands for `/`, so that a test can bring its own.
[[nodiscard]] std::optional<std::uint32_t> cgroup_quota(const std::filesystem::path& root = "/");

}  // namespace cohort::cpu
