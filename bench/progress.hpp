// One line on a terminal that tells what is going on, and goes away.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace cohort::bench {

/// Writes to stderr, and only if that is a terminal.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show(""); }

  void show(const std::string& text) const {
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

}  // namespace cohort::bench
