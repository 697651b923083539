// A binary cache of graph files. Invariant: the cache never causes a failure. Entries that are
// missing, outdated, damaged or not writable are ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "graph/csr.hpp"

namespace cohort {

/// The cache's folder, and which files are cached.
struct CacheOptions {
  /// $XDG_CACHE_HOME/cohort or ~/.cache/cohort. Nothing if neither variable is set, or if
  /// $COHORT_CACHE is "off".
  [[nodiscard]] static std::optional<std::filesystem::path> usual_folder();

  std::optional<std::filesystem::path> folder = usual_folder();
  /// Smaller files are read faster than cached.
  std::uintmax_t least_bytes = std::uintmax_t{1} << 20U;
};

/// Reads a graph from the cache if the file has not changed since it was cached (same path, size
/// and modification time), otherwise from the file. Throws Error{bad_file} as read_graph does.
[[nodiscard]] Csr read_cached(const std::filesystem::path& file,
                              const CacheOptions& options = CacheOptions{});

/// The name of the cache entry for `file`, whether or not the entry exists.
[[nodiscard]] std::filesystem::path cache_entry(const std::filesystem::path& file,
                                                const std::filesystem::path& folder);

}  // namespace cohort
