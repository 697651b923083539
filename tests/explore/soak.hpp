// Runs scenarios under random schedules with fresh seeds, for a given time. Each failure is stored
// in a file of its own, with everything needed to replay it.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "explore/scenarios.hpp"

namespace cohort::test {

/// Explores `all` until `seconds` have passed. Returns how many explorations failed.
inline std::uint32_t soak(const std::vector<Scenario>& all, double seconds,
                          const std::filesystem::path& folder, std::ostream& out) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t seed = std::random_device{}();
  // Number of schedules, by platform and number of groups.
  std::map<std::string, std::uint64_t> schedules;
  std::uint32_t failures = 0;
  out << "exploring for " << seconds << " s, first seed " << seed << std::endl;
  while (std::chrono::steady_clock::now() < until) {
    for (std::size_t i = 0; i < all.size() && std::chrono::steady_clock::now() < until; ++i) {
      const Scenario& scenario = all[i];
      for (const bool weak : {false, true}) {
        for (const Search search : {Search::random, Search::pct}) {
          const Waiting waiting = seed % 2 == 0 ? Waiting::polled : Waiting::notified;
          const Result result = scenario.run({.search = search,
                                              .seed = seed,
                                              // An odd number, so that both kinds of waiting occur.
                                              .schedules = 499,
                                              .depth = 2 + static_cast<std::uint32_t>(seed % 4),
                                              .visits = 2,
                                              .weak_memory = weak,
                                              .waiting = waiting});
          seed += 499;
          schedules[std::to_string(scenario.units) + " groups" +
                    (scenario.fenced ? ", fences" : "")] += result.schedules;
          if (result.ok) continue;
          ++failures;
          std::filesystem::create_directories(folder);
          const auto file = folder / (std::to_string(result.seed) + ".txt");
          std::ofstream{file} << "scenario " << i << " weak " << weak << " notified "
                              << (waiting == Waiting::notified) << " replay "
                              << (result.replay.empty() ? "0" : result.replay) << '\n'
                              << scenario.name << ", " << scenario.units << " groups"
                              << (weak ? ", weak memory" : "") << '\n'
                              << result << '\n';
          out << scenario.name << ": " << result.failure << "\n  stored in " << file.string()
              << std::endl;
        }
      }
    }
  }
  for (const auto& [what, count] : schedules) out << what << ": " << count << " schedules\n";
  out << failures << " failed\n";
  return failures;
}

/// Replays the schedule that is stored in `file`. Throws if there is none.
inline Result replay(const std::vector<Scenario>& all, const std::filesystem::path& file) {
  std::ifstream in{file};
  std::string word;
  std::size_t index = all.size();
  bool weak = false;
  bool notified = false;
  std::string schedule;
  in >> word >> index >> word >> weak >> word >> notified >> word >> schedule;
  if (!in || index >= all.size()) throw std::runtime_error{file.string() + ": no stored schedule"};
  return all[index].run({.schedules = 1,
                         .visits = 2,
                         .weak_memory = weak,
                         .waiting = notified ? Waiting::notified : Waiting::polled,
                         .replay = schedule});
}

}  // namespace cohort::test
