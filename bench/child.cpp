#include "bench/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace cohort::bench {
namespace {

/// Closes on the way out.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

void require(int error, const char* what) {
  if (error != 0) throw std::system_error{error, std::generic_category(), what};
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& each : strings) result.push_back(each.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::string& name,
                                          const std::optional<std::string>& value) {
  std::vector<std::string> result;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string entry{*each};
    if (!value || !entry.starts_with(name + "=")) result.push_back(entry);
  }
  if (value) result.push_back(name + "=" + *value);
  return result;
}

pid_t spawn(std::vector<std::string> arguments, std::vector<std::string> environment, int output) {
  arguments.insert(arguments.begin(), "cohort");
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  sigset_t none;  // signals that we block must still end the child
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/proc/self/exe", &actions, &attributes,
                                  pointers(arguments).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  require(error, "cannot start /proc/self/exe");
  return child;
}

std::string read_all(int descriptor) {
  std::string result;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return result;
    result.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string run_again(const std::vector<std::string>& arguments, const std::string& name,
                      const std::optional<std::string>& value) {
  int ends[2];
  require(::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno, "cannot make a pipe");
  const Descriptor reading{ends[0]};
  Descriptor writing{ends[1]};
  const pid_t child = spawn(arguments, environment_with(name, value), writing.number());
  writing.close();
  std::string output = read_all(reading.number());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) require(errno, "cannot wait for the child process");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error{"the child process of '" + arguments.back() + "' failed"};
  return output;
}

bool ends_within(const std::vector<std::string>& arguments, std::chrono::milliseconds limit) {
  const pid_t child = spawn(arguments, environment_with("COHORT_CHILD", "1"), STDERR_FILENO);
  const auto until = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error{"the child process of '" + arguments.back() + "' failed"};
  return true;
}

}  // namespace cohort::bench
