// Child processes for the tests, and a rendezvous folder for each test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "cohort/tenant.hpp"
#include "tenants/endless.hpp"

namespace cohort::test {

/// A tenant_child process, which is killed at the end of the scope.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), COHORT_TEST_CHILD);
    std::vector<char*> words;
    for (std::string& each : arguments) words.push_back(each.data());
    words.push_back(nullptr);
    int from[2];
    int to[2];
    if (::pipe2(from, O_CLOEXEC) != 0 || ::pipe2(to, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    if (::posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ) != 0) std::abort();
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    input_ = to[1];
    output_ = from[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    ::close(input_);
    ::close(output_);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// The next line that the process prints. Empty at the end of its output, or after two minutes.
  std::string line() {
    std::string text;
    for (char each = 0;;) {
      pollfd wait{.fd = output_, .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, 120'000) <= 0 || ::read(output_, &each, 1) <= 0 || each == '\n')
        return text;
      text += each;
    }
  }
  /// Ends the process by SIGKILL.
  void kill() {
    if (over_) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  /// Closes the process's input, so that it ends by itself. Returns its exit status.
  int end() {
    ::close(std::exchange(input_, -1));
    return wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    over_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int input_ = -1;
  int output_ = -1;
  bool over_ = false;
};

/// Each test has a folder of its own, so that tests run side by side.
class TenantTest : public testing::Test {
 protected:
  TenantTest() {
    std::string pattern = testing::TempDir() + "cohort-tenants-XXXXXX";
    runtime = ::mkdtemp(pattern.data());
    ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    ::unsetenv("COHORT_ENGINE");
  }
  ~TenantTest() override { std::filesystem::remove_all(runtime); }

  [[nodiscard]] std::filesystem::path folder() const { return runtime / "cohort"; }

  /// A number in the engine's status: the first one after the text `after`.
  static std::uint64_t number(const std::string& after, const std::string& engine = {}) {
    const std::string text = engine_status(engine);
    const std::size_t at = text.find(after);
    if (at == std::string::npos) return ~std::uint64_t{0};
    return std::strtoull(text.c_str() + at + after.size(), nullptr, 10);
  }
  /// The number of tenants that have a slot.
  static std::size_t seated(const std::string& engine = {}) {
    const std::string text = engine_status(engine);
    std::size_t count = 0;
    for (std::size_t at = text.find("\"slot\":"); at != std::string::npos;
         at = text.find("\"slot\":", at + 1))
      ++count;
    return count;
  }

  std::filesystem::path runtime;
};

}  // namespace cohort::test
