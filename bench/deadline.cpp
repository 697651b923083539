// Scenario "deadline": tasks next to a kernel that seldom offers, with and without a time by which
// they must start. This is the paper's fifth property: preemption is a fallback for late offers.
#include <algorithm>
#include <atomic>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/affinity.hpp"
#include "bench/arithmetic.hpp"
#include "bench/gather.hpp"
#include "bench/harness.hpp"
#include "cohort/cpu.hpp"
#include "src/cpu/demotion.hpp"

namespace cohort::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::uint32_t workers = 2;
constexpr nanoseconds item = microseconds{50};
constexpr nanoseconds task_work = milliseconds{1};
constexpr nanoseconds pause_between = milliseconds{20};
constexpr nanoseconds deadline_time = milliseconds{5};
constexpr double start_limit = 6e6;  // limit on the 99th percentile, in nanoseconds

std::uint64_t mixed(std::uint64_t number) {
  number ^= number >> 31U;
  number *= 0x9E3779B97F4A7C15U;
  return number ^ number >> 29U;
}

/// The kernel's result: the sum of mixed(i) over all items i that it has claimed.
struct Ledger {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> claimed{0};
  std::atomic<std::uint64_t> sum{0};

  [[nodiscard]] bool right() const {
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < claimed; ++i) expected += mixed(i);
    return expected == sum;
  }
};

/// Each group claims items, and offers itself once per interval.
struct SeldomOffering {
  Ledger* ledger;
  std::uint64_t steps;  ///< steps of arithmetic for each item
  std::uint64_t interval;

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    std::uint64_t next = cpu::now() + interval;
    while (!ledger->over.load(std::memory_order_relaxed)) {
      const std::uint64_t mine = ledger->claimed.fetch_add(1, std::memory_order_relaxed);
      keep(churn(steps));
      ledger->sum.fetch_add(mixed(mine), std::memory_order_relaxed);
      if (cpu::now() < next) continue;
      next = cpu::now() + interval;
      if (group.offer(state)) return;
    }
  }
};

enum class Fallback : std::uint8_t { alone, offers_only, deadline };

/// The measurements of the tasks next to the kernel, and of its results.
struct TasksSeen {
  std::vector<double> starts;  ///< times from the submit to the first instruction
  std::uint32_t wrong = 0;     ///< number of wrong results of the kernel
};

/// Nanoseconds per item of the kernel while `tasks` tasks run one after another.
std::vector<double> item_time(Fallback how, nanoseconds interval, std::uint32_t tasks,
                              TasksSeen& seen, const std::stop_token& stop) {
  Ledger ledger;
  cpu::Engine engine{{.capacity = workers}};  // declared after the ledger, so that it ends first
  const std::uint64_t work = steps_for(task_work);
  const Job job = engine.launch(
      SeldomOffering{&ledger, steps_for(item), static_cast<std::uint64_t>(interval.count())});
  wait_until(job, stop, [&] { return ledger.claimed.load(std::memory_order_relaxed) > 100; });
  const std::uint64_t begin = cpu::now();
  const std::uint64_t before = ledger.claimed;
  for (std::uint32_t i = 0; i < tasks; ++i) {
    if (stop.stop_requested()) throw Stopped{};
    if (how != Fallback::alone) {
      std::atomic<std::uint64_t> begun{0};
      TaskOptions options;
      if (how == Fallback::deadline) options.start_within = deadline_time;
      const std::uint64_t asked = cpu::now();
      const Task task = engine.submit(
          [&begun, work] {
            begun.store(cpu::now(), std::memory_order_relaxed);
            keep(churn(work));
          },
          options);
      task.wait();
      seen.starts.push_back(static_cast<double>(begun.load() - asked));
    }
    std::this_thread::sleep_for(pause_between);
  }
  const auto time = static_cast<double>(cpu::now() - begin);
  const std::uint64_t items = ledger.claimed - before;
  ledger.over = true;
  job.wait();
  seen.wrong += ledger.right() ? 0 : 1;
  return {time / static_cast<double>(std::max<std::uint64_t>(items, 1))};
}

nlohmann::ordered_json measure_deadline(nanoseconds interval, const ScenarioOptions& options) {
  TasksSeen none;
  TasksSeen waiting;
  TasksSeen overdue;
  const std::uint32_t tasks = options.quick ? 10 : 100;
  const auto contender = [&](Fallback how, std::uint32_t count, TasksSeen& seen) {
    return [&options, &seen, how, count, interval] {
      return item_time(how, interval, count, seen, options.stop);
    };
  };
  const std::string name = "a kernel on " + std::to_string(workers) +
                           " workers that offers every " + fixed(in_ns(interval) / 1e6, 0) + " ms";
  const Measurement measurement = measure(
      name, "ns per item",
      {
          {.name = "alone",
           .measure = contender(Fallback::alone, tasks / 2, none),
           .reference = true},
          {.name = "offers only",
           .measure = contender(Fallback::offers_only, tasks / 25 + 1, waiting)},
          {.name = "start within 5 ms", .measure = contender(Fallback::deadline, tasks, overdue)},
      },
      {.count = options.repetitions, .warm_ups = 0, .stop = options.stop});
  const std::uint32_t wrong = none.wrong + waiting.wrong + overdue.wrong;

  std::cout << name << "\n  " << std::left << std::setw(20) << "tasks" << std::right << std::setw(8)
            << "number" << std::setw(14) << "start p50 ms" << std::setw(12) << "p99 ms"
            << std::setw(12) << "max ms" << std::setw(14) << "kernel" << '\n';
  nlohmann::ordered_json result{{"workers", workers},
                                {"offer_interval_ns", interval.count()},
                                {"deadline_ns", deadline_time.count()},
                                {"task_ns", task_work.count()},
                                {"wrong_results", wrong}};
  const auto row = [&](const std::string& contender_name, const TasksSeen& seen) {
    const double p99 = percentile(seen.starts, 99);
    const double most = *std::ranges::max_element(seen.starts);
    const double slowdown = median(ratios(measurement.at(contender_name), measurement.at("alone")));
    std::cout << "  " << std::left << std::setw(20) << contender_name << std::right << std::setw(8)
              << seen.starts.size() << std::setw(14) << fixed(median(seen.starts) / 1e6, 2)
              << std::setw(12) << fixed(p99 / 1e6, 2) << std::setw(12) << fixed(most / 1e6, 2)
              << std::setw(13) << fixed(slowdown, 2) << "x\n";
    result["tasks"].push_back({{"name", contender_name},
                               {"number", seen.starts.size()},
                               {"start_p50_ns", median(seen.starts)},
                               {"start_p99_ns", p99},
                               {"start_max_ns", most},
                               {"slowdown", slowdown},
                               {"start_ns", seen.starts}});
    return p99;
  };
  row("offers only", waiting);
  const double p99 = row("start within 5 ms", overdue);
  std::cout << "  p99 " << (p99 <= start_limit ? "within " : "NOT within ")
            << fixed(start_limit / 1e6, 0) << " ms; "
            << (wrong == 0 ? "all results of the kernel are right"
                           : std::to_string(wrong) + " results of the kernel are WRONG")
            << "\n"
            << std::endl;
  result["start_limit_ns"] = start_limit;
  result["within_limit"] = p99 <= start_limit;
  result.update(to_json(measurement));
  return result;
}

nlohmann::ordered_json run_deadline(const ScenarioOptions& options) {
  const Confined two_cpus{2};
  const bool idle = cpu::demotion_way() == cpu::DemotionWay::idle_policy;
  const char* const way = idle ? "SCHED_IDLE" : "fewer CPUs";
  std::cout << "2 CPUs; late groups are demoted by " << way << "\n\n";
  auto kernels = nlohmann::ordered_json::array();
  for (const nanoseconds interval :
       {nanoseconds{milliseconds{200}}, nanoseconds{milliseconds{2000}}})
    kernels.push_back(measure_deadline(interval, options));
  return {{"demotion", way}, {"deadline", std::move(kernels)}};
}

}  // namespace

const Scenario deadline_scenario{
    .name = "deadline",
    .summary = "when tasks start next to a kernel that seldom offers, with and without a deadline",
    .run = &run_deadline};

}  // namespace cohort::bench
