#include "bench/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace cohort::bench {
namespace {

using Clock = std::chrono::steady_clock;

void require(int error, const std::string& what) {
  if (error != 0) throw std::system_error{error, std::generic_category(), what};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& each : strings) result.push_back(each.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const Environment& with) {
  std::vector<std::string> result;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry{*each};
    const bool replaced = std::any_of(with.begin(), with.end(), [&entry](const auto& other) {
      return entry.starts_with(other.first + "=");
    });
    if (!replaced) result.push_back(entry);
  }
  for (const auto& [name, value] : with) {
    result.push_back(name);
    result.back().append("=").append(value);
  }
  return result;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // the whole text if there is no other line
}

}  // namespace

Child::Child(std::vector<std::string> arguments, const Environment& with,
             const std::string& program)
    : name_(arguments.empty() ? program : arguments.back()) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno, "cannot make a pipe");
  arguments.insert(arguments.begin(), program == "/proc/self/exe" ? "cohort" : program);
  std::vector<std::string> environment = environment_with(with);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  sigset_t none;  // signals that we block must still end the child
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = ::posix_spawnp(&process_, program.c_str(), &actions, &attributes,
                                   pointers(arguments).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  reading_ = ends[0];
  if (error != 0) {
    ::close(reading_);
    require(error, "cannot start " + program);
  }
}

Child::~Child() {
  kill();
  ::close(reading_);
}

void Child::kill() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

/// Reads until the end of the output, or until `when`. Returns false if more output may come.
bool Child::read_until(Clock::time_point when, std::string& output) {
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waits{.fd = reading_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waits, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (ready <= 0) continue;
    const ssize_t got = ::read(reading_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    output.append(buffer, static_cast<std::size_t>(got));
  }
}

std::optional<std::string> Child::output_until(Clock::time_point when) {
  std::string output;
  int status = 0;
  bool ended = read_until(when, output);
  while (ended && ::waitpid(process_, &status, WNOHANG) == 0) {
    ended = Clock::now() < when;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  if (!ended) {
    kill();
    return {};
  }
  process_ = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error{"the child process of '" + name_ + "' failed: " + last_line(output)};
  }
  return output;
}

std::string run_again(const std::vector<std::string>& arguments, const std::string& name,
                      const std::optional<std::string>& value) {
  Child child{arguments, value ? Environment{{name, *value}} : Environment{}};
  return child.output_within(std::chrono::hours{24}).value_or("");
}

}  // namespace cohort::bench
