// Runs a program and waits for it; what it prints comes back as text.
#pragma once

#include <string>
#include <vector>

namespace cohort::program {

struct Finished {
  int status = -1;   ///< of exit; -1: it could not be started, or a signal ended it
  std::string text;  ///< what it wrote to its standard output and error
};

[[nodiscard]] Finished run(const std::vector<std::string>& command);

}  // namespace cohort::program
