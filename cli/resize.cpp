#include "cli/resize.hpp"

#include <charconv>
#include <random>
#include <thread>

namespace cohort::cli {
namespace {

/// Sets a random target every 100 to 500 microseconds. After the first twenty, it also suspends and
/// resumes the job one time in ten. That may take until the job's end if one of its groups never
/// offers.
Report drive_randomly(const Job& job, std::uint32_t max_groups, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto pick = [&random](std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>{least, most}(random);
  };
  const auto pause = [&pick] { return std::chrono::microseconds{pick(100, 500)}; };
  for (std::uint32_t targets = 0;; ++targets) {
    if (const auto report = job.wait_for(pause())) return *report;
    if (targets < 20 || pick(1, 10) > 1) {
      job.set_target(pick(1, max_groups));
      continue;
    }
    if (job.suspend() != Status::suspended) continue;
    std::this_thread::sleep_for(pause());
    try {
      job.resume();
    } catch (const Error& error) {
      if (error.code() != Errc::bad_state) throw;  // otherwise the job was cancelled meanwhile
    }
  }
}

}  // namespace

std::function<Report(const Job&)> resizer(const std::string& text, std::uint32_t max_groups) {
  if (text == "none") return [](const Job& job) { return job.wait(); };
  constexpr std::string_view prefix = "random:";
  if (text.starts_with(prefix)) {
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data() + prefix.size(), end, seed);
    if (error == std::errc{} && stopped == end) {
      return [max_groups, seed](const Job& job) { return drive_randomly(job, max_groups, seed); };
    }
  }
  throw Error{Errc::bad_options,
              "--resize '" + text + "': write none, or random:SEED with a number, as random:1"};
}

}  // namespace cohort::cli
