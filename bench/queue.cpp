// Scenario "queue": the cost of a submit behind many waiting tasks, and while a large checkpoint is
// written.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "cohort/cpu.hpp"

namespace cohort::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t few = 1'000;
constexpr std::uint32_t many = 10'000;
constexpr double ratio_limit = 3 * many / few;
constexpr double delay_limit = 5e6;  // in nanoseconds

/// Nanoseconds per submit, for `count` submits behind a task that holds all workers.
std::vector<double> submits(std::uint32_t count) {
  cpu::Engine engine{{.capacity = 2}};
  std::atomic<bool> go{false};
  const Task blocker = engine.submit(
      [&go] {
        while (!go) std::this_thread::sleep_for(100us);
      },
      {.groups = 2});
  std::vector<Task> tasks;
  tasks.reserve(count);
  const std::uint64_t begin = cpu::now();
  for (std::uint32_t i = 0; i < count; ++i) tasks.push_back(engine.submit([] {}));
  const auto taken = static_cast<double>(cpu::now() - begin);
  go = true;
  for (const Task& task : tasks) task.wait();
  return {taken};
}

/// A job that consists only of its buffer.
struct Holder {
  struct State {
    std::uint32_t steps = 0;
  };
  std::byte* bytes;
  std::size_t size;

  template <class Visit>
  void buffers(Visit& visit) const {
    visit("bytes", bytes, size);
  }
  template <class Group>
  Next step(Group& /*group*/, State& state) const {
    ++state.steps;
    return Next::again;
  }
};

/// Nanoseconds of each submit, one every millisecond, while a checkpoint is written.
std::vector<double> submits_during_checkpoint(std::size_t bytes,
                                              const std::filesystem::path& file) {
  cpu::Engine engine{{.capacity = 2}};
  std::vector<std::byte> memory(bytes, std::byte{1});
  const Job job = engine.launch(Holder{memory.data(), memory.size()});
  job.suspend();
  std::atomic<bool> written{false};
  std::exception_ptr failed;
  std::thread writer{[&] {
    try {
      job.checkpoint(file);
    } catch (...) {
      failed = std::current_exception();
    }
    written = true;
  }};
  std::vector<double> delays;
  do {
    const std::uint64_t begin = cpu::now();
    engine.submit([] {});
    delays.push_back(static_cast<double>(cpu::now() - begin));
    std::this_thread::sleep_for(1ms);
  } while (!written);
  writer.join();
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  job.cancel();
  if (failed) std::rethrow_exception(failed);
  return delays;
}

nlohmann::ordered_json run_queue(const ScenarioOptions& options) {
  const Repetitions plan{.count = options.repetitions, .warm_ups = 1, .stop = options.stop};
  const std::string few_name = std::to_string(few) + " submits";
  const std::string many_name = std::to_string(many) + " submits";
  const Measurement queued =
      measure("submits behind waiting tasks", "ns",
              {{.name = few_name, .measure = [] { return submits(few); }, .reference = true},
               {.name = many_name, .measure = [] { return submits(many); }}},
              plan);
  const double ratio = median(ratios(queued.at(many_name), queued.at(few_name)));

  const std::size_t bytes = std::size_t{options.quick ? 16U : 600U} << 20U;
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("cohort_queue_" + std::to_string(::getpid()) + ".checkpoint");
  const Measurement during = measure(
      "submits during a checkpoint", "ns",
      {{.name = "submit", .measure = [&] { return submits_during_checkpoint(bytes, file); }}},
      {.count = std::min(options.repetitions, 3U), .warm_ups = 0, .stop = options.stop});
  const Statistics delay = statistics(during.at("submit"));

  print(std::cout, queued);
  std::cout << std::fixed << std::setprecision(1) << "  " << many << " tasks take " << ratio
            << " times as long as " << few << " (limit " << ratio_limit << ")\n\n";
  print(std::cout, during);
  std::cout << std::setprecision(3) << "  a submit during a checkpoint of " << (bytes >> 20U)
            << " MiB: median " << delay.p50 / 1e6 << " ms, at most " << delay.max / 1e6
            << " ms (limit " << delay_limit / 1e6 << " ms)" << std::endl;
  return {{"summary",
           {{"few", few},
            {"many", many},
            {"few_ns", statistics(queued.at(few_name)).p50},
            {"many_ns", statistics(queued.at(many_name)).p50},
            {"ratio", ratio},
            {"ratio_limit", ratio_limit},
            {"checkpoint_bytes", bytes},
            {"delay_p50_ns", delay.p50},
            {"delay_max_ns", delay.max},
            {"delay_limit_ns", delay_limit}}},
          {"queued", to_json(queued)},
          {"during_checkpoint", to_json(during)}};
}

}  // namespace

const Scenario queue_scenario{
    .name = "queue",
    .summary = "submits behind 1,000 and 10,000 waiting tasks, and during a checkpoint",
    .run = &run_queue};

}  // namespace cohort::bench
