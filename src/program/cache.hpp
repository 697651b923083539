// The folder of compiled programs, whose files are loaded as code. Invariant: only this user can
// write to it, and no two compilations share a scratch file, even in different threads, processes
// or containers.
#pragma once

#include <filesystem>

#include "cohort/program.hpp"

namespace cohort::program {

/// The cache folder: options.cache, $COHORT_CACHE, or a folder in the user's cache directory.
/// Created if missing. With COHORT_CACHE=off, it is a temporary folder that is removed when this
/// process exits. Throws Error{bad_options} if other users could have put files there.
[[nodiscard]] std::filesystem::path cache_folder(const ProgramOptions& options);

/// A new folder inside the cache for the files of one compilation. The destructor removes it. If
/// this process is killed, a later compilation removes it.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& cache);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] std::filesystem::path file(const char* name) const { return folder_ / name; }
  /// Moves a finished file to its final name in the cache, in one atomic step.
  void keep(const std::filesystem::path& made, const std::filesystem::path& kept) const;

 private:
  std::filesystem::path cache_;
  std::filesystem::path folder_;
  int lock_ = -1;
};

}  // namespace cohort::program
