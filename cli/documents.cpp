// cohort manual and cohort completion: texts that packages install together with the tool.
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/manual.hpp"

namespace cohort::cli {
namespace {

constexpr const char* after_the_commands =
    ".SH EXIT STATUS\n.TP\n.B 0\nfine\n.TP\n.B 1\nsomething failed, or a result was wrong\n.TP\n"
    ".B 2\nbad input: one line on the standard error says what to change\n.TP\n"
    ".B 128+n\nended by signal n\n"
    ".SH ENVIRONMENT\n.TP\n.B COHORT_DATA\na folder with graph files, which are then found by "
    "their names\n.SH SEE ALSO\n.BR cohortc (1)\n";

int print(const std::string& text) {
  std::cout << text;
  return fine;
}

}  // namespace

void add_documents(CLI::App& tool, Action& chosen) {
  CLI::App* const command =
      tool.add_subcommand("completion", "Print a completion script for a shell");
  command->footer(
      "  source <(cohort completion bash)\n"
      "  source <(cohort completion zsh)\n"
      "  cohort completion fish | source");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback(
      [shell, &chosen] { chosen = [shell] { return print(completion_script(*shell)); }; });
  CLI::App* const manual = tool.add_subcommand("manual", "Print the manual page, for man -l -");
  manual->callback([&tool, &chosen] {
    chosen = [&tool] { return print(manual_page(tool, after_the_commands)); };
  });
}

}  // namespace cohort::cli
