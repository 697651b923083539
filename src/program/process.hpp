// Runs a program, waits for it, and returns its output as text.
#pragma once

#include <string>
#include <vector>

namespace cohort::program {

struct Finished {
  int status = -1;   ///< exit status; -1 if the program did not start or was ended by a signal
  std::string text;  ///< standard output and standard error
};

[[nodiscard]] Finished run(const std::vector<std::string>& command);

}  // namespace cohort::program
