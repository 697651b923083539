// The number of CPUs that this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cohort::cpu {

/// The CPU quota of this process's cgroups in CPUs, rounded up: the smallest on the path to the
/// root. Empty if there is none. `root` stands for `/`, so that a test can supply its own.
[[nodiscard]] std::optional<std::uint32_t> cgroup_quota(const std::filesystem::path& root = "/");

}  // namespace cohort::cpu
