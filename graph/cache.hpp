// A binary cache of graph files. Invariant: the cache never causes a failure: an entry that is
// missing, old, damaged or not writable is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "graph/csr.hpp"

namespace cohort {

/// Where the cache is and what is worth keeping.
struct CacheOptions {
  /// $XDG_CACHE_HOME/cohort or ~/.cache/cohort; nothing when there is neither, or $COHORT_CACHE is
  /// "off".
  [[nodiscard]] static std::optional<std::filesystem::path> usual_folder();

  std::optional<std::filesystem::path> folder = usual_folder();
  std::uintmax_t least_bytes = std::uintmax_t{1} << 20U;  ///< smaller files are not worth it
};

/// Reads a graph from a file, or from the cache if the file is still the one that was read: its
/// path, size and time of change are the same. Throws Error{bad_file} as read_graph does.
[[nodiscard]] Csr read_cached(const std::filesystem::path& file,
                              const CacheOptions& options = CacheOptions{});

/// The cache's file for `file`, whether or not it is there.
[[nodiscard]] std::filesystem::path cache_entry(const std::filesystem::path& file,
                                                const std::filesystem::path& folder);

}  // namespace cohort
