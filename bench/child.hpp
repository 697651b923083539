// Runs this program again, or another one: some libraries read their environment only when they are
// loaded, and some experiments hang. Invariant: a child does not outlive its object.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cohort::bench {

/// Variables added to the child's environment, or replaced in it.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// A process whose output we read.
class Child {
 public:
  /// Starts this program, or `program`. Throws std::system_error if it cannot.
  explicit Child(std::vector<std::string> arguments, const Environment& with = {},
                 const std::string& program = "/proc/self/exe");
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  /// Waits for the child's end and returns its output. If the child has not ended by `when`, kills
  /// it and returns nothing. Throws std::runtime_error with the last line of output if the child
  /// failed. Call it once.
  [[nodiscard]] std::optional<std::string> output_until(std::chrono::steady_clock::time_point when);
  [[nodiscard]] std::optional<std::string> output_within(std::chrono::milliseconds limit) {
    return output_until(std::chrono::steady_clock::now() + limit);
  }

 private:
  [[nodiscard]] bool read_until(std::chrono::steady_clock::time_point when, std::string& output);
  void kill();

  std::string name_;
  pid_t process_ = -1;
  int reading_ = -1;
};

/// Runs this program with `arguments`. If given, the environment variable `name` is set to `value`.
/// Returns the output. Throws std::runtime_error if the run fails.
[[nodiscard]] std::string run_again(const std::vector<std::string>& arguments,
                                    const std::string& name,
                                    const std::optional<std::string>& value);

}  // namespace cohort::bench
