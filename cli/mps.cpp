// cohort mps: starts and stops NVIDIA's Multi-Process Service for this user, by its own control
// program.
// Invariant: when `start` fails or is interrupted, a daemon that its control program reported as
// started has ended. `start` and `status` end no other daemon.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cohort/error.hpp"
#include "files.hpp"
#include "tenant/rendezvous.hpp"

namespace cohort::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* control = "nvidia-cuda-mps-control";
constexpr const char* pipes_variable = "CUDA_MPS_PIPE_DIRECTORY";
constexpr const char* logs_variable = "CUDA_MPS_LOG_DIRECTORY";
/// The name of both of NVIDIA's programs in /proc, which keeps 15 characters of a name.
constexpr std::string_view name_in_proc = "nvidia-cuda-mps";
constexpr milliseconds answer_time{10'000};  // time limit for an answer of the control program
// Time that another start may need from its daemon's lock to its daemon's process file.
constexpr milliseconds other_start_time{1'000};
// Time after which a daemon that quits forces its servers to end.
constexpr std::chrono::seconds quit_patience{4};
constexpr milliseconds quit_time = 2 * quit_patience;  // time limit for the daemon's end
constexpr milliseconds term_time{2'000};
/// Maximum number of clients of a GPU at the same time, by NVIDIA's documentation of MPS (Volta and
/// later).
constexpr std::size_t most_clients = 48;

/// The folders in which the daemon listens and writes its logs. Programs that this process starts
/// have them in their environment too.
struct Folders {
  std::string pipes;
  std::string logs;
};

Folders find_folders() {
  const auto choose = [](const char* variable, const char* inner) {
    const char* const given = std::getenv(variable);
    if (given != nullptr && *given != '\0') return std::string{given};
    static_cast<void>(tenant::open_folder());  // creates and checks it
    const std::string folder = tenant::folder_path() + "/" + inner;
    ::setenv(variable, folder.c_str(), 1);
    return folder;
  };
  return {choose(pipes_variable, "mps"), choose(logs_variable, "mps-logs")};
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw Error{Errc::unsupported, "mps: " + what + ": " + std::generic_category().message(error)};
}

/// Returns whether the folder exists. Throws Error{unsupported} if other users could plant files in
/// it.
bool check_folder(const std::string& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    fail("cannot read " + folder, errno);
  }
  const auto refuse = [&folder](const std::string& why) {
    throw Error{Errc::unsupported, "mps: " + folder + " " + why};
  };
  if (!S_ISDIR(status.st_mode)) refuse("is a link or a file; give a folder");
  if (status.st_uid != ::geteuid()) {
    refuse("belongs to user " + std::to_string(status.st_uid) +
           ", not to you; give a folder of your own");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    refuse("can be changed by other users; run chmod go-w on it");
  return true;
}

void make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail("cannot create " + folder, errno);
  static_cast<void>(check_folder(folder));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Answer {
  int status = -1;  // -1: ended by a signal, not in time, or unknown
  std::string text;
};

/// Runs the control program with commands on its standard input. Its output goes to a file, because
/// a daemon that it leaves behind would keep a pipe open.
Answer ask(const std::vector<std::string>& arguments, const std::string& commands) {
  const Descriptor input{::memfd_create("mps-input", MFD_CLOEXEC)};
  const Descriptor output{::memfd_create("mps-output", MFD_CLOEXEC)};
  if (!input.open() || !output.open() || !input.write(commands.data(), commands.size()) ||
      ::lseek(input.get(), 0, SEEK_SET) != 0)
    throw std::system_error{errno, std::generic_category(), "mps: cannot make a file"};
  std::vector<char*> words{const_cast<char*>(control)};  // exec does not change the strings
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  // The tool blocks signals, so that only its listener receives them. Unblock them for a daemon.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  // In a process group of its own, it does not receive the terminal's Ctrl-C: start() and stop()
  // need its answer.
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::signal(SIGCHLD, SIG_DFL);  // if it were ignored, waitpid() would not return the exit status
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, control, &actions, &attributes, words.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    throw Error{Errc::unsupported,
                std::string{"mps: no "} + control +
                    " on PATH; it comes with NVIDIA's driver for Linux, and into a container by "
                    "NVIDIA's container toolkit"};
  }
  if (error != 0) fail(std::string{control} + " cannot be started", error);
  Answer answer;
  const auto deadline = Clock::now() + answer_time;
  int status = 0;
  pid_t ended = 0;
  // A child that waits in the driver does not end by SIGKILL, so this wait has a limit too.
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 && Clock::now() < deadline + term_time) {
    if (Clock::now() >= deadline) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(milliseconds{2});
  }
  if (ended == child && WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  const off_t size = ::lseek(output.get(), 0, SEEK_END);
  answer.text.resize(static_cast<std::size_t>(std::max<off_t>(size, 0)));
  const ssize_t got = ::pread(output.get(), answer.text.data(), answer.text.size(), 0);
  answer.text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return answer;
}

/// The numbers in the control program's answer, one per line. nullopt if the daemon does not answer
/// with numbers.
std::optional<std::vector<pid_t>> ask_for_processes(const std::string& command) {
  const Answer answer = ask({}, command + "\n");
  if (answer.status != 0) return {};
  std::vector<pid_t> processes;
  std::istringstream lines{answer.text};
  for (pid_t each = 0; lines >> each;) processes.push_back(each);
  if (!lines.eof()) return {};
  return processes;
}

/// A process of MPS. The descriptor refers to that process, even if its id is reused.
struct MpsProcess {
  pid_t id = 0;
  Descriptor process;

  [[nodiscard]] bool ended(milliseconds patience) const {
    pollfd wait{.fd = process.get(), .events = POLLIN, .revents = 0};
    const auto deadline = Clock::now() + patience;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
      const int ready = ::poll(&wait, 1, static_cast<int>(std::max<long>(left, 0)));
      if (ready >= 0 || errno != EINTR) return ready > 0;
    }
  }
  void signal(int number) const {
    ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);
  }
};

/// Returns the process if it belongs to MPS. Throws Error{unsupported} if it belongs to another
/// user.
std::optional<MpsProcess> mps_process(pid_t id) {
  if (id <= 0) return {};
  MpsProcess found{.id = id,
                   .process = Descriptor{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))}};
  if (!found.process.open()) {
    // EINVAL and ENOENT, which depend on the kernel: a thread has the id now.
    if (errno == ESRCH || errno == EINVAL || errno == ENOENT) return {};
    fail("cannot open process " + std::to_string(id), errno);
  }
  const std::string folder = "/proc/" + std::to_string(id);
  std::string name;
  std::getline(std::ifstream{folder + "/comm"}, name);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || found.ended(milliseconds{0})) return {};
  if (name != name_in_proc) return {};
  if (status.st_uid != ::geteuid()) {
    throw Error{Errc::unsupported, "mps: MPS here belongs to user " +
                                       std::to_string(status.st_uid) + ": process " +
                                       std::to_string(id)};
  }
  return found;
}

std::optional<MpsProcess> living_daemon(const Folders& folders) {
  if (!check_folder(folders.pipes)) return {};
  const Descriptor file{::open((folders.pipes + "/" + control + ".pid").c_str(),
                               O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)};
  std::array<char, 32> text{};
  if (!file.open() || ::read(file.get(), text.data(), text.size() - 1) <= 0) return {};
  pid_t id = 0;
  std::istringstream{text.data()} >> id;
  return mps_process(id);
}

/// Waits for a process that was asked to quit. Ends it by signals if it does not quit in time.
void end(const MpsProcess& process, const char* what, milliseconds patience) {
  if (process.ended(patience)) return;
  process.signal(SIGTERM);
  if (!process.ended(term_time)) {
    process.signal(SIGKILL);
    if (!process.ended(quit_time)) {
      throw Error{Errc::unsupported, std::string{"mps: "} + what + " " +
                                         std::to_string(process.id) +
                                         " does not end, not even by SIGKILL; it may wait for the "
                                         "driver"};
    }
  }
  std::cerr << "cohort: " << what << ' ' << process.id << " did not quit; ended by a signal\n";
}

struct Server {
  pid_t id;
  std::vector<pid_t> clients;
};
/// The servers and their clients; nullopt if the daemon does not tell all of them.
std::optional<std::vector<Server>> servers_of_daemon() {
  const auto ids = ask_for_processes("get_server_list");
  if (!ids) return {};
  std::vector<Server> servers;
  for (const pid_t each : *ids) {
    auto clients = ask_for_processes("get_client_list " + std::to_string(each));
    if (!clients) return {};
    servers.push_back({each, std::move(*clients)});
  }
  return servers;
}

/// Ends the servers and the daemon.
void stop_daemon(const MpsProcess& daemon) {
  std::vector<MpsProcess> servers;
  const auto ids = ask_for_processes("get_server_list");
  for (const pid_t each : ids.value_or(std::vector<pid_t>{})) {
    if (auto server = mps_process(each)) servers.push_back(std::move(*server));
  }
  static_cast<void>(ask({}, "quit -t " + std::to_string(quit_patience.count()) + "\n"));
  end(daemon, "the control daemon", quit_time);
  for (const MpsProcess& each : servers) end(each, "the server", term_time);
}

void print(const Folders& folders, const MpsProcess& daemon) {
  std::cout << "MPS runs for this user: process " << daemon.id << '\n'
            << "pipes in " << folders.pipes << ", logs in " << folders.logs << '\n';
  const auto servers = servers_of_daemon();
  if (!servers) std::cout << "the daemon does not answer, so its clients are unknown\n";
  for (const Server& each : servers.value_or(std::vector<Server>{})) {
    std::cout << "server " << each.id << ": " << each.clients.size() << " of at most "
              << most_clients << " clients";
    if (each.clients.size() >= most_clients)
      std::cout << "; CUDA refuses another one until one of them ends";
    std::cout << '\n';
  }
  std::cout << "programs use it with this variable:\n  export " << pipes_variable << "='"
            << folders.pipes << "'\n";
}

std::string last_log_line(const Folders& folders) {
  std::ifstream log{folders.logs + "/control.log"};
  std::string last;
  for (std::string line; std::getline(log, line);) last = line;
  return last;
}

int start(Interrupt& interrupt) {
  const Folders folders = find_folders();
  if (const auto daemon = living_daemon(folders)) {
    print(folders, *daemon);
    return fine;
  }
  make_folder(folders.pipes);
  make_folder(folders.logs);
  const Interrupt::Graceful graceful{interrupt};
  const Answer answer = ask({"-d"}, "");
  const bool ours = answer.status == 0;  // otherwise another start may have come first
  const auto asked = Clock::now();
  std::optional<MpsProcess> daemon;
  do {
    std::this_thread::sleep_for(milliseconds{10});
    daemon = living_daemon(folders);
    const bool answers = daemon && ask({}, "get_server_list\n").status == 0;
    if (interrupt.signal() == 0) {
      if (!answers) continue;
      print(folders, *daemon);
      return fine;
    }
    if (daemon || !ours) break;  // else wait for the daemon, in order to stop it
  } while (Clock::now() < asked + (daemon || ours ? answer_time : other_start_time));
  if (daemon && ours) stop_daemon(*daemon);
  if (interrupt.signal() != 0) return 128 + interrupt.signal();
  const std::string said = answer.text.empty() ? last_log_line(folders) : first_line(answer.text);
  throw Error{Errc::unsupported, std::string{"mps: "} + control + " does not start" +
                                     (said.empty() ? ", and does not say why" : ": " + said) +
                                     "; the logs are in " + folders.logs};
}

int status() {
  const Folders folders = find_folders();
  if (const auto daemon = living_daemon(folders)) {
    print(folders, *daemon);
    return fine;
  }
  std::cout << "MPS does not run for this user; start it with `cohort mps start`\n";
  return failed;
}

int stop(bool force, Interrupt& interrupt) {
  const Folders folders = find_folders();
  const auto daemon = living_daemon(folders);
  if (!daemon) {
    std::cout << "MPS does not run for this user\n";
    return fine;
  }
  if (!force) {
    const auto servers = servers_of_daemon();
    if (!servers) {
      throw Error{Errc::unsupported,
                  "mps stop: the daemon does not answer, so its clients are unknown; give --force"};
    }
    std::string clients;
    for (const Server& server : *servers) {
      for (const pid_t each : server.clients) clients += " " + std::to_string(each);
    }
    if (!clients.empty()) {
      throw Error{Errc::bad_options, "mps stop: these processes use it and would lose the GPU:" +
                                         clients + "; end them, or give --force"};
    }
  }
  const Interrupt::Graceful graceful{interrupt};  // completes the stop before it obeys a signal
  stop_daemon(*daemon);
  std::cout << "MPS has ended\n";
  return fine;
}

}  // namespace

void add_mps(CLI::App& tool, Action& chosen, Interrupt& interrupt) {
  CLI::App* const command = tool.add_subcommand(
      "mps",
      "Start and stop NVIDIA's Multi-Process Service for this user, so that processes share "
      "a GPU");
  command->require_subcommand(1);
  command->add_subcommand("start", "Start it, unless it runs already")
      ->callback([&chosen, &interrupt] { chosen = [&interrupt] { return start(interrupt); }; });
  command->add_subcommand("status", "Show its processes and clients; fails if it does not run")
      ->callback([&chosen] { chosen = &status; });
  CLI::App* const ending = command->add_subcommand("stop", "End it, with all its processes");
  const auto force = std::make_shared<bool>(false);
  ending->add_flag("--force", *force, "Also if processes use it, which then lose the GPU");
  ending->callback([force, &chosen, &interrupt] {
    chosen = [force, &interrupt] { return stop(*force, interrupt); };
  });
}

}  // namespace cohort::cli
