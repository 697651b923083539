// Progress of long-running commands: a line on the terminal, and the exception that stops them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace cohort::tool {

/// Thrown when a stop was requested.
class Stopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

/// A progress line on stderr. Prints nothing if that is not a terminal.
class Progress {
 public:
  Progress() = default;
  /// `steps`: the total number of step() calls.
  explicit Progress(std::uint64_t steps) : steps_(steps) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show(""); }

  [[nodiscard]] bool on_terminal() const { return terminal_; }
  void show(const std::string& text) const {
    if (terminal_) std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }
  /// Begins the next step: shows a bar and `what`.
  void step(const std::string& what) {
    if (!terminal_) return;
    constexpr std::uint64_t width = 24;
    const std::uint64_t filled = steps_ == 0 ? 0 : std::min(width, done_ * width / steps_);
    std::string bar;
    for (std::uint64_t i = 0; i < width; ++i) bar += i < filled ? "\u2588" : "\u2591";
    show(bar + " " + std::to_string(done_) + "/" + std::to_string(steps_) + "  " +
         what.substr(0, 72));
    ++done_;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::uint64_t steps_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace cohort::tool
