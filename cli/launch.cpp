// cohort launch: starts a command, and restarts it if it dies; jobs with checkpoints continue from
// the last one. cohort resize: asks a running job for another number of ranks.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cohort/error.hpp"
#include "tool/record.hpp"

namespace cohort::cli {
namespace {

constexpr std::string_view place = "{ranks}";

struct Options {
  std::vector<std::string> command;
  bool supervise = false;
  std::uint32_t ranks = 1;
  std::uint32_t starts = 10;
};

/// Runs the command to its end. Returns its status as a shell does.
int run(std::vector<std::string> words, std::uint32_t ranks, const Interrupt& interrupt) {
  std::vector<char*> arguments;
  for (std::string& word : words) {
    for (std::size_t at = word.find(place); at != std::string::npos; at = word.find(place, at))
      word.replace(at, place.size(), std::to_string(ranks));
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  // The tool blocks signals, so that only its listener receives them. Unblock them for the command.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error =
      ::posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw Error{Errc::bad_options,
                words[0] + ": cannot be started: " + std::generic_category().message(error)};
  }
  const std::stop_callback pass_on{interrupt.token(), [child] { ::kill(child, SIGTERM); }};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int launch(const Options& options, Interrupt& interrupt) {
  const Interrupt::Graceful graceful{interrupt};
  std::uint32_t ranks = options.ranks;
  for (std::uint32_t start = 1;; ++start) {
    const int status = run(options.command, ranks, interrupt);
    if (interrupt.signal() != 0) return 128 + interrupt.signal();
    if (status == fine || status == bad_input || !options.supervise) return status;
    if (start == options.starts) {
      std::cerr << "cohort: the command ended with status " << status << " at start " << start
                << ", the last one\n";
      return failed;
    }
    if (ranks > 1) --ranks;  // assumes that the node of one rank is lost
    std::cerr << "cohort: the command ended with status " << status << "; starting it again with "
              << ranks << (ranks == 1 ? " rank" : " ranks") << std::endl;
  }
}

struct ResizeOptions {
  std::string folder;
  std::uint32_t ranks = 1;
};

int resize(const ResizeOptions& options) {
  const std::filesystem::path folder = options.folder;
  if (!std::filesystem::is_directory(folder)) {
    throw Error{Errc::bad_options,
                options.folder + ": no such folder; give the --checkpoint of a running job"};
  }
  tool::write_atomically(folder / resize_request, std::to_string(options.ranks) + "\n");
  return fine;
}

}  // namespace

void add_resize(CLI::App& tool, Action& chosen) {
  CLI::App* const command =
      tool.add_subcommand("resize", "Ask a running `run --engine mpi` for another number of ranks");
  const auto options = std::make_shared<ResizeOptions>();
  command->add_option("folder", options->folder, "The --checkpoint of the job")->required();
  command->add_option("ranks", options->ranks, "Number of ranks")
      ->check(whole_number("ranks", 1, 1U << 20U))
      ->required();
  command->callback([options, &chosen] { chosen = [options] { return resize(*options); }; });
}

void add_launch(CLI::App& tool, Action& chosen, Interrupt& interrupt) {
  CLI::App* const command = tool.add_subcommand(
      "launch", "Start a command such as mpirun, and restart it on fewer ranks if it dies");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("command", options->command,
                   "The command, after `--`; {ranks} in it stands for the number of ranks")
      ->required();
  command->add_flag("--supervise", options->supervise,
                    "Start the command again if it dies, each time with one rank fewer. A run with "
                    "--checkpoint then continues from its last checkpoint");
  add_number(*command, "--ranks", options->ranks, 1, 1U << 20U, "Ranks of the first start")
      ->capture_default_str();
  add_number(*command, "--starts", options->starts, 1, 1U << 20U,
             "With --supervise: upper limit on starts")
      ->capture_default_str();
  command->footer(
      "  cohort launch --supervise --ranks 4 -- mpirun -n {ranks} cohort run bfs --engine mpi "
      "--input rmat:24 --checkpoint saved --every 30");
  command->callback([options, &chosen, &interrupt] {
    chosen = [options, &interrupt] { return launch(*options, interrupt); };
  });
}

}  // namespace cohort::cli
