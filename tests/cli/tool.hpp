// Runs the tool through a shell, as users do. Records its output, its files and its exit status.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cohort::tests {

namespace fs = std::filesystem;

struct Result {
  int status = -1;
  std::string out;
  std::string error;
};

class Tool : public testing::Test {
 public:
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

 protected:
  Tool() { fs::create_directories(folder_); }
  ~Tool() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string in_folder(const std::string& name) const { return folder_ / name; }

  static std::string read(const std::string& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  /// Runs the tool through a shell. `prefix` goes in front of the program.
  [[nodiscard]] Result cohort(const std::string& arguments, const std::string& prefix = "") const {
    const std::string errors = in_folder("stderr");
    const std::string line =
        prefix + " '" COHORT_TOOL_FILE "' " + arguments + " 2>'" + errors + "'";
    std::FILE* const pipe = ::popen(line.c_str(), "r");
    if (pipe == nullptr) return {};
    Result result;
    std::array<char, 4096> buffer{};
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
      result.out.append(buffer.data(), got);
    const int status = ::pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.error = read(errors);
    return result;
  }

  /// Runs the tool and sends it a signal once `ready(process)` returns true. The status is the
  /// shell's. The tool must not end before, unless `may_end`.
  [[nodiscard]] Result signalled(const std::string& arguments, int signal,
                                 const std::function<bool(pid_t process)>& ready,
                                 bool may_end = false) const {
    const std::string out = in_folder("stdout");
    const std::string errors = in_folder("stderr");
    const std::string line =
        "exec '" COHORT_TOOL_FILE "' " + arguments + " >'" + out + "' 2>'" + errors + "'";
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    bool ended = false;
    while (!ended && !ready(child)) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      ended = ::waitpid(child, &status, WNOHANG) == child;
    }
    if (!ended) {
      ::kill(child, signal);
      ::waitpid(child, &status, 0);
    }
    EXPECT_TRUE(!ended || may_end) << "over before it was ready for the signal: " << arguments;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(out),
            read(errors)};
  }

  /// Runs the tool with bad input. Checks for status 2, nothing on stdout, and one line on stderr.
  /// Returns that line.
  [[nodiscard]] std::string refused(const std::string& arguments) const {
    const Result result = cohort(arguments);
    EXPECT_EQ(result.status, 2) << arguments << "\n" << result.error;
    EXPECT_THAT(result.out, testing::IsEmpty()) << arguments;
    EXPECT_THAT(result.error, testing::MatchesRegex("cohort: [^\n]*\n")) << arguments;
    return result.error;
  }

  /// Checks that the input is refused with a line that contains all of these words.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& words) const {
    const std::string said = refused(arguments);
    for (const std::string& word : words) EXPECT_THAT(said, testing::HasSubstr(word)) << arguments;
  }

  struct Recorded {
    Result result;
    nlohmann::json record;
  };
  /// Runs the tool with --json and reads the file.
  [[nodiscard]] Recorded recorded(const std::string& arguments,
                                  const std::string& prefix = "") const {
    const std::string file = in_folder("record.json");
    const Result result = cohort(arguments + " --json " + file, prefix);
    if (result.status != 0) throw std::runtime_error{arguments + ": " + result.out + result.error};
    return {result, nlohmann::json::parse(read(file))};
  }

  const fs::path folder_ =
      fs::path{testing::TempDir()} / ("cohort_tool_test_" + std::to_string(::getpid()));
};

}  // namespace cohort::tests
