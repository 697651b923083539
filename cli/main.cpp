// cohort: runs and measures cooperative kernels from the command line.
// Exit status: 0 success, 1 failure, 2 bad input (one line on stderr says what to change), 128 + n
// after signal n.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <new>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cohort/error.hpp"
#include "cohort/version.hpp"
#include "tool/progress.hpp"
#include "tool/record.hpp"

namespace cohort::cli {
namespace {

int complain(const std::string& message, int status) {
  std::cerr << "cohort: " << message << '\n';
  return status;
}

/// The innermost command that was parsed before the error.
const CLI::App& innermost(const CLI::App& app, std::string& path) {
  const CLI::App* at = &app;
  path = at->get_name();
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().back();
    path += " " + at->get_name();
  }
  return *at;
}

int complain(const CLI::App& tool, const CLI::ParseError& error) {
  std::string path;
  const CLI::App& command = innermost(tool, path);
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string what = extras ? unexpected(command) : error.what();
  return complain(what + "; see `" + path + " --help`", bad_input);
}

/// The text of `cohort WORDS --help`. Handled before CLI11 parses the line, because CLI11 would run
/// the words as commands.
std::string help_of(const CLI::App& tool, const std::vector<std::string>& words) {
  const CLI::App* app = &tool;
  std::string path = tool.get_name();
  for (const std::string& word : words) {
    app = &command_named(*app, word);
    path += " " + word;
  }
  return app->get_formatter()->make_help(app, path, CLI::AppFormatMode::Normal);
}

int run(int argc, char** argv, Interrupt& interrupt) {
  std::vector<std::string> leased;
  if (argc > 1 && std::string_view{argv[1]} == "lease") {
    char** const dashes = std::find(argv, argv + argc, std::string_view{"--"});
    if (dashes != argv + argc) leased.assign(dashes + 1, argv + argc);
    argc = static_cast<int>(dashes - argv);
  }
  CLI::App tool{"Cooperative kernels: run them, resize them, measure them.", "cohort"};
  tool.set_version_flag("--version",
                        std::string{"cohort " COHORT_VERSION " ("} + tool::commit() + ")");
  tool.formatter(std::make_shared<HelpFormatter>());  // inherited by the commands
  Action chosen;
  add_list(tool, chosen);
  add_run(tool, chosen, interrupt);
  add_bench(tool, chosen, interrupt);
  add_report(tool, chosen);
  add_demo(tool, chosen, interrupt);
  add_check(tool, chosen);
  add_opencl(tool, chosen);
  add_launch(tool, chosen, interrupt);
  add_resize(tool, chosen);
  add_lease(tool, chosen, interrupt, leased);
  add_mps(tool, chosen, interrupt);
  add_throttle(tool, chosen);
  add_top(tool, chosen, interrupt);
  add_documents(tool, chosen);
  tool.add_subcommand("help", "Show the help of a command, as in `cohort help run`");
  tool.footer(
      "First steps:\n"
      "  cohort demo                                  what this is about, in a minute\n"
      "  cohort run bfs --input road:1000000 --task heavy --task-groups half --verify\n"
      "  cohort run bfs --input road:1000000 --task heavy --trace t.json   a trace for Perfetto\n"
      "  cohort bench all --quick --out results       the paper's experiments, small, and a "
      "report\n\n"
      "Exit status: 0 success, 1 failure, 2 bad input, 128 + n after signal n.");
  try {
    if (argc > 1 && std::string_view{argv[1]} == "help") {
      std::cout << help_of(tool, {argv + 2, argv + argc});
      return fine;
    }
    if (argc > 1 && std::string_view{argv[1]} == "complete") {  // called by the completion scripts
      std::cout << completions(tool, {argv + 2, argv + argc});
      return fine;
    }
    tool.parse(argc, argv);
    if (!chosen) {
      std::string commands;
      for (const CLI::App* const each : commands_of(tool))
        commands += (commands.empty() ? "" : ", ") + each->get_name();
      throw Error{Errc::bad_options, "no command given; choose one of " + commands};
    }
    const int status = chosen();
    std::cout.flush();
    if (!std::cout) {
      throw Error{Errc::bad_options,
                  "cannot write to the standard output: is the disk full, or the reader gone?"};
    }
    return status;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return tool.exit(error);  // help and version
    return complain(tool, error);
  } catch (const Error& error) {
    const bool theirs = error.code() == Errc::bad_options || error.code() == Errc::bad_file ||
                        error.code() == Errc::unsupported;
    return complain(error.what(), theirs ? bad_input : failed);
  } catch (const tool::Stopped&) {
    return failed;
  } catch (const std::bad_alloc&) {
    return complain("out of memory; choose a smaller input", failed);
  } catch (const std::exception& error) {
    return complain(error.what(), failed);
  }
}

}  // namespace
}  // namespace cohort::cli

int main(int argc, char** argv) try {
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file-size limit then fails like a full disk
  cohort::cli::Interrupt interrupt;
  const int status = cohort::cli::run(argc, argv, interrupt);
  return interrupt.signal() != 0 ? 128 + interrupt.signal() : status;
} catch (...) {
  return cohort::cli::failed;  // even the error could not be printed
}
