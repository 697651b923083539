// The folder of compiled programs. Invariant: only this user can write to it, since its files are
// loaded as code; and no two compilations share a scratch file, in whatever thread, process or
// container they run.
#pragma once

#include <filesystem>

#include "cohort/program.hpp"

namespace cohort::program {

/// options.cache, $COHORT_CACHE, or a folder in the user's cache directory; created if missing.
/// With COHORT_CACHE=off a folder that is removed when this process exits. Throws
/// Error{bad_options} if other users could have put files there.
[[nodiscard]] std::filesystem::path cache_folder(const ProgramOptions& options);

/// A new folder inside the cache for the files of one compilation; removed at the end, or by a
/// later compilation if this process is killed.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& cache);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] std::filesystem::path file(const char* name) const { return folder_ / name; }
  /// Publishes a finished file under its name in the cache, in one step.
  void keep(const std::filesystem::path& made, const std::filesystem::path& kept) const;

 private:
  std::filesystem::path cache_;
  std::filesystem::path folder_;
  int lock_ = -1;
};

}  // namespace cohort::program
