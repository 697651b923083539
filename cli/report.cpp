#include "cli/report.hpp"

#include <filesystem>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "report/report.hpp"
#include "tool/record.hpp"

namespace cohort::cli {

int write_report(const std::vector<std::string>& folders, const std::string& json) {
  const std::vector<std::filesystem::path> paths{folders.begin(), folders.end()};
  const std::filesystem::path file = paths.front() / "report.html";
  const std::string data = report::data_of(paths);
  tool::write_atomically(file, report::page_of(data));
  if (!json.empty()) tool::write_atomically(json, data + "\n");
  std::cout << "report in " << file.string() << ": open it in a browser\n";
  return fine;
}

void add_report(CLI::App& tool, Action& chosen) {
  CLI::App* const command = tool.add_subcommand("report", "Make a page from folders of results");
  command->footer(
      "The page is one file, report.html in the first folder: tables and charts next to the\n"
      "paper's, and a timeline that zooms and plays. Results may be unfinished.");
  const auto folders = std::make_shared<std::vector<std::string>>();
  const auto json = std::make_shared<std::string>();
  command
      ->add_option("folder", *folders,
                   "Folder that `cohort bench --out` wrote; several are compared")
      ->required();
  add_value(*command, "--json", *json, "FILE", "Write the page's data to FILE");
  command->callback([folders, json, &chosen] {
    chosen = [folders, json] { return write_report(*folders, *json); };
  });
}

}  // namespace cohort::cli
