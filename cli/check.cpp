// cohort check: runs an app on a small input under the explorer, schedule by schedule. A failing
// schedule ends the search with exit status 1 and the shortest failing schedule found.
#include <array>
#include <iostream>

#include "apps/explored.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "src/choices.hpp"

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
  const std::vector<apps::Explored> all = apps::explored();
  const apps::Explored& app = choose("app to explore", options.app, all);
  explore::Options how = options.explore;
  how.search = choose("search", options.search, searches).search;
  const explore::Result result = app.check(how);
  std::cout << app.name << " on " << app.input << ", at most " << how.capacity << " groups of "
            << how.local_size << ": " << result << '\n';
  if (result.ok) return fine;
  std::cout << "again: cohort check " << app.name << " --groups " << how.capacity
            << " --local-size " << how.local_size << (how.weak_memory ? " --weak" : "")
            << " --replay " << result.replay
            << (how.verbose ? "" : "; --verbose shows the protocol's steps as well") << '\n';
  return failed;
}

}  // namespace

void add_check(CLI::App& tool, Action& chosen) {
  CLI::App* const command = tool.add_subcommand(
      "check", "Explore the schedules of an app on a small input, and check each");
  const auto options = std::make_shared<Options>();
  command->add_option("app", options->app, "An app, see `cohort list`")->required();
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  auto* const schedules = add_number(*command, "--schedules", options->explore.schedules, 1, any,
                                     "Number of schedules to try");
  auto* const seed =
      add_number(*command, "--seed", options->explore.seed, 0, any, "Seed of the first schedule");
  auto* const search =
      command->add_option("--search", options->search, "How schedules are chosen: random|pct")
          ->type_name("KIND");
  for (CLI::Option* const each : {schedules, seed, search}) each->capture_default_str();
  add_number(*command, "--groups", options->explore.capacity, 1, 15, "Upper limit on active groups")
      ->capture_default_str();
  add_number(*command, "--local-size", options->explore.local_size, 1, 15, "Threads per group")
      ->capture_default_str();
  command->add_flag("--weak", options->explore.weak_memory,
                    "Atomic loads may return older values, where the memory orders allow it");
  command->add_flag("--verbose", options->explore.verbose,
                    "Show the protocol's own words and units in the report");
  command
      ->add_option("--replay", options->explore.replay,
                   "Run only this schedule, as printed in a report")
      ->type_name("SCHEDULE")
      ->excludes(schedules)
      ->excludes(seed)
      ->excludes(search);
  command->callback([options, &chosen] { chosen = [options] { return check(*options); }; });
}

}  // namespace cohort::cli
