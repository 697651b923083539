// make explore: runs every scenario for some minutes, or replays one stored schedule.
//   explore_soak [MINUTES [FOLDER]]      failing schedules go to FOLDER (explore-failures)
//   explore_soak replay FILE             status 1 if the schedule still fails
#include "explore/soak.hpp"

#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  using namespace cohort::test;
  const std::vector<Scenario> all = all_scenarios();
  if (argc > 2 && std::string_view{argv[1]} == "replay") {
    try {
      const Result result = replay(all, argv[2]);
      std::cout << (result.ok ? "nothing is wrong any more\n" : result.text() + "\n");
      return result.ok ? 0 : 1;
    } catch (const std::exception& error) {
      std::cerr << error.what() << '\n';
      return 2;
    }
  }
  const double minutes = argc > 1 ? std::atof(argv[1]) : 1;  // NOLINT(cert-err34-c)
  return soak(all, minutes * 60, argc > 2 ? argv[2] : "explore-failures", std::cout) == 0 ? 0 : 1;
}
