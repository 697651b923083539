// A temporary folder, removed at the end of the scope.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cohort/error.hpp"

namespace cohort::bench {

class Scratch {
 public:
  Scratch() {
    const std::filesystem::path in = std::filesystem::temp_directory_path();
    std::string name = in / "cohort-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw Error{Errc::bad_options, "'" + in.string() + "' cannot be written to; set TMPDIR"};
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace cohort::bench
