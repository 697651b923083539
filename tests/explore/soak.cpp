// make explore: every scenario under random schedules with fresh seeds, for some minutes. What
// fails is stored, one file each, with the seed and the schedule that replay it.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>

#include "explore/scenarios.hpp"

int main(int argc, char** argv) {
  using namespace cohort::test;
  const double minutes = argc > 1 ? std::atof(argv[1]) : 1;  // NOLINT(cert-err34-c)
  const std::filesystem::path folder = argc > 2 ? argv[2] : "explore-failures";
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(minutes * 60);
  std::uint64_t seed = std::random_device{}();
  std::uint64_t schedules = 0;
  std::uint32_t failures = 0;
  std::vector<Scenario> all = scenarios();
  all.insert(all.end(), fenced_scenarios().begin(), fenced_scenarios().end());
  std::cout << "exploring for " << minutes << " minutes, first seed " << seed << std::endl;
  while (std::chrono::steady_clock::now() < until) {
    for (const Scenario& scenario : all) {
      for (const bool weak : {false, true}) {
        for (const Search search : {Search::random, Search::pct}) {
          const Waiting waiting = seed % 2 == 0 ? Waiting::polled : Waiting::notified;
          const Result result = scenario.run({.search = search,
                                              .seed = seed,
                                              .schedules = 500,
                                              .depth = 2 + static_cast<std::uint32_t>(seed % 4),
                                              .weak_memory = weak,
                                              .waiting = waiting});
          seed += 500;
          schedules += result.schedules;
          if (result.ok) continue;
          ++failures;
          std::filesystem::create_directories(folder);
          const auto file = folder / (std::to_string(result.seed) + ".txt");
          std::ofstream{file} << scenario.name << ", " << scenario.units << " groups"
                              << (weak ? ", weak memory" : "") << '\n'
                              << result << '\n';
          std::cout << scenario.name << ": " << result.failure << "\n  stored in " << file.string()
                    << std::endl;
        }
      }
    }
  }
  std::cout << schedules << " schedules, " << failures << " failed\n";
  return failures == 0 ? 0 : 1;
}
