// cohort check: an app under the explorer, on a small input: one schedule after another, until one
// goes wrong. Exit status 1 then, with the shortest such schedule that was found.
#include <array>
#include <iostream>

#include "apps/choices.hpp"
#include "apps/explored.hpp"
#include "cli/commands.hpp"

namespace cohort::cli {
namespace {

struct SearchKind {
  std::string_view name;
  explore::Search search;
};
constexpr std::array searches{
    SearchKind{"random", explore::Search::random},
    SearchKind{"pct", explore::Search::pct},
};

struct Options {
  std::string app;
  std::string search = "random";
  explore::Options explore{.suspends = 1};
};

int check(const Options& options) {
  const apps::Explored& app = choose("app to explore", options.app, apps::explored());
  explore::Options how = options.explore;
  how.search = choose("search", options.search, searches).search;
  const explore::Result result = app.check(how);
  std::cout << app.name << " on " << app.input << ", at most " << how.capacity << " groups of "
            << how.local_size << ": " << result << '\n';
  return result.ok ? fine : failed;
}

}  // namespace

void add_check(CLI::App& tool, Action& chosen) {
  CLI::App* const command = tool.add_subcommand(
      "check", "Explore the schedules of an app on a small input, and check each");
  const auto options = std::make_shared<Options>();
  command->add_option("app", options->app, "Which app")->required();
  command->add_option("--schedules", options->explore.schedules, "How many schedules to try")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->explore.seed, "Where to begin")->capture_default_str();
  command->add_option("--search", options->search, "How schedules are chosen: random or pct")
      ->capture_default_str();
  command->add_option("--groups", options->explore.capacity, "Most groups active at a time")
      ->check(CLI::Range(1, 15))
      ->capture_default_str();
  command->add_option("--local-size", options->explore.local_size, "Threads in a group")
      ->check(CLI::Range(1, 15))
      ->capture_default_str();
  command->add_flag("--weak", options->explore.weak_memory,
                    "Atomic loads may return older values, where the memory orders allow it");
  command->add_option("--replay", options->explore.replay, "Run this one schedule of a report");
  command->callback([options, &chosen] { chosen = [options] { return check(*options); }; });
}

}  // namespace cohort::cli
