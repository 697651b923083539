// cohort mps: starts and stops NVIDIA's Multi-Process Service for this user, by its own control
// program.
// Invariant: a daemon that this tool started has ended when `stop` returns, and when `start` fails.
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
// Time limit for the daemon's end; it forces its servers to end after 5 s.
constexpr milliseconds quit_time{8'000};
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

void make_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw Error{Errc::unsupported,
              "mps: cannot create " + folder + ": " + std::generic_category().message(errno)};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct Answer {
  int status = -1;  // -1: ended by a signal, or not in time
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
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
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
  if (error != 0) {
    throw Error{Errc::unsupported, std::string{"mps: "} + control + " cannot be started: " +
                                       std::generic_category().message(error)};
  }
  Answer answer;
  const auto deadline = Clock::now() + answer_time;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) ::kill(child, SIGKILL);  // it ends now, so waitpid() will return
    std::this_thread::sleep_for(milliseconds{2});
  }
  if (WIFEXITED(status)) answer.status = WEXITSTATUS(status);
  const off_t size = ::lseek(output.get(), 0, SEEK_END);
  answer.text.resize(static_cast<std::size_t>(std::max<off_t>(size, 0)));
  const ssize_t got = ::pread(output.get(), answer.text.data(), answer.text.size(), 0);
  answer.text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return answer;
}

/// The numbers in the control program's answer, one per line. Empty if it does not answer.
std::vector<pid_t> ask_for_processes(const std::string& command) {
  const Answer answer = ask({}, command + "\n");
  std::vector<pid_t> processes;
  std::istringstream lines{answer.status == 0 ? answer.text : ""};
  for (pid_t each = 0; lines >> each;) processes.push_back(each);
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
  if (!found.process.open()) return {};
  const std::string folder = "/proc/" + std::to_string(id);
  std::string name;
  std::getline(std::ifstream{folder + "/comm"}, name);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || found.ended(milliseconds{0})) return {};
  if (name != name_in_proc) return {};
  if (status.st_uid != ::geteuid()) {
    throw Error{Errc::unsupported, "mps: process " + std::to_string(id) + " is MPS of user " +
                                       std::to_string(status.st_uid) +
                                       "; only that user can end it"};
  }
  return found;
}

std::optional<MpsProcess> living_daemon(const Folders& folders) {
  pid_t id = 0;
  std::ifstream{folders.pipes + "/" + control + ".pid"} >> id;
  return mps_process(id);
}

/// Asks a process to quit, and ends it by signals if it does not quit in time.
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
std::vector<Server> servers_of_daemon() {
  std::vector<Server> servers;
  for (const pid_t each : ask_for_processes("get_server_list"))
    servers.push_back({each, ask_for_processes("get_client_list " + std::to_string(each))});
  return servers;
}

/// Ends the servers and the daemon.
void stop_daemon(const MpsProcess& daemon) {
  std::vector<MpsProcess> servers;
  for (const pid_t each : ask_for_processes("get_server_list")) {
    if (auto server = mps_process(each)) servers.push_back(std::move(*server));
  }
  static_cast<void>(ask({}, "quit -t 4\n"));
  end(daemon, "the control daemon", quit_time);
  for (const MpsProcess& each : servers) end(each, "the server", term_time);
}

void print(const Folders& folders, const MpsProcess& daemon) {
  std::cout << "MPS runs for this user: process " << daemon.id << '\n'
            << "pipes in " << folders.pipes << ", logs in " << folders.logs << '\n';
  for (const Server& each : servers_of_daemon()) {
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

int start() {
  const Folders folders = find_folders();
  if (const auto daemon = living_daemon(folders)) {
    print(folders, *daemon);
    return fine;
  }
  make_folder(folders.pipes);
  make_folder(folders.logs);
  const Answer answer = ask({"-d"}, "");
  const auto deadline = Clock::now() + answer_time;
  std::optional<MpsProcess> daemon;
  do {  // repeat even if the program has failed, because another start may have come first
    daemon = living_daemon(folders);
    if (daemon && ask({}, "get_server_list\n").status == 0) {
      print(folders, *daemon);
      return fine;
    }
    std::this_thread::sleep_for(milliseconds{10});
  } while ((daemon || answer.status == 0) && Clock::now() < deadline);
  if (daemon) stop_daemon(*daemon);
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

int stop(bool force) {
  const Folders folders = find_folders();
  const auto daemon = living_daemon(folders);
  if (!daemon) {
    std::cout << "MPS does not run for this user\n";
    return fine;
  }
  if (!force) {
    std::string clients;
    for (const Server& server : servers_of_daemon()) {
      for (const pid_t each : server.clients) clients += " " + std::to_string(each);
    }
    if (!clients.empty()) {
      throw Error{Errc::bad_options, "mps stop: these processes use it and would lose the GPU:" +
                                         clients + "; end them, or give --force"};
    }
  }
  stop_daemon(*daemon);
  std::cout << "MPS has ended\n";
  return fine;
}

}  // namespace

void add_mps(CLI::App& tool, Action& chosen) {
  CLI::App* const command = tool.add_subcommand(
      "mps",
      "Start and stop NVIDIA's Multi-Process Service for this user, so that processes share "
      "a GPU");
  command->require_subcommand(1);
  command->add_subcommand("start", "Start it, unless it runs already")->callback([&chosen] {
    chosen = &start;
  });
  command->add_subcommand("status", "Show its processes and clients; fails if it does not run")
      ->callback([&chosen] { chosen = &status; });
  CLI::App* const ending = command->add_subcommand("stop", "End it, with all its processes");
  const auto force = std::make_shared<bool>(false);
  ending->add_flag("--force", *force, "Also if processes use it, which then lose the GPU");
  ending->callback([force, &chosen] { chosen = [force] { return stop(*force); }; });
}

}  // namespace cohort::cli
