#include "cli/report.hpp"

#include <filesystem>
#include <iostream>

#include "bench/record.hpp"
#include "cli/commands.hpp"
#include "report/report.hpp"

namespace cohort::cli {

int write_report(const std::vector<std::string>& folders) {
  const std::vector<std::filesystem::path> paths{folders.begin(), folders.end()};
  const std::filesystem::path file = paths.front() / "report.html";
  const std::string page = report::make(paths);
  bench::write_atomically(file, page);
  std::cout << "report in " << file.string() << ": open it in a browser\n";
  return fine;
}

void add_report(CLI::App& tool, Action& chosen) {
  CLI::App* const command =
      tool.add_subcommand("report", "Make a page to look at, from folders of results");
  command->footer(
      "The page is one file, report.html in the first folder: tables and figures beside the "
      "paper's, "
      "and a timeline that zooms and plays. Unfinished results will do.");
  const auto folders = std::make_shared<std::vector<std::string>>();
  command->add_option("folder", *folders, "What `cohort bench --out` wrote")->required();
  command->callback([folders, &chosen] { chosen = [folders] { return write_report(*folders); }; });
}

}  // namespace cohort::cli
