#include "bench/gather.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "bench/affinity.hpp"
#include "bench/arithmetic.hpp"
#include "bench/harness.hpp"
#include "bench/yield_task.hpp"
#include "cohort/cpu.hpp"
#ifdef COHORT_WITH_OPENCL
#include "bench/opencl/stealing.hpp"
#endif

namespace cohort::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The shortest time that a thread may have to wait for a CPU: Linux preempts threads only at
/// ticks. The coarse clocks advance with the ticks.
nanoseconds scheduling_quantum() {
  timespec tick{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0) return milliseconds{4};
  return std::chrono::seconds{tick.tv_sec} + nanoseconds{tick.tv_nsec};
}

// ---- requests to a work-stealing kernel

/// Shared by the kernel and the host.
struct Board {
  explicit Board(std::uint32_t groups) : queues(groups) {}

  struct alignas(64) Queue {
    std::atomic<std::uint32_t> tasks{2};
  };

  std::vector<Queue> queues;  // by group id; a group with an empty queue steals
  std::atomic<bool> over{false};
  std::atomic<std::uint32_t> present{0};
  std::atomic<bool> long_wanted{false};
  std::atomic<bool> long_begun{false};
  std::atomic<std::uint64_t> tasks{0};
  std::atomic<std::uint64_t> task_time{0};
  YieldTask errand;
};

/// Each group takes tasks from its own queue or another group's. It offers itself before each task,
/// and adds a new task for each that it takes.
template <KillOrder order, bool yields>
struct Stealing {
  static constexpr Traits traits{.kill_order = order};

  Board* board;
  std::uint64_t steps;  ///< steps of arithmetic in a task

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    const Presence here{board->present};
    std::uint64_t tasks = 0;
    std::uint64_t time = 0;
    while (!board->over.load(std::memory_order_relaxed)) {
      if constexpr (yields) board->errand.look();
      if (group.offer(state)) break;
      const std::uint32_t id = group.group_id();
      if (!take(id)) continue;
      if (id + 1 == group.max_groups() &&
          board->long_wanted.exchange(false, std::memory_order_relaxed)) {
        board->long_begun.store(true, std::memory_order_relaxed);
        keep(churn(steps * GatherLoad::long_factor));
      } else {
        const std::uint64_t begin = cpu::now();
        keep(churn(steps));
        time += cpu::now() - begin;
        ++tasks;
      }
      board->queues[id].tasks.fetch_add(1, std::memory_order_relaxed);
    }
    board->tasks.fetch_add(tasks, std::memory_order_relaxed);
    board->task_time.fetch_add(time, std::memory_order_relaxed);
  }

 private:
  class Presence {
   public:
    explicit Presence(std::atomic<std::uint32_t>& count) : count_(count) { ++count_; }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;
    ~Presence() { --count_; }

   private:
    std::atomic<std::uint32_t>& count_;
  };

  [[nodiscard]] bool take(std::uint32_t id) const {
    const std::size_t queues = board->queues.size();
    for (std::size_t i = 0; i < queues; ++i) {
      auto& tasks = board->queues[(id + i) % queues].tasks;
      std::uint32_t seen = tasks.load(std::memory_order_relaxed);
      while (seen != 0) {
        if (tasks.compare_exchange_weak(seen, seen - 1, std::memory_order_relaxed)) return true;
      }
    }
    return false;
  }
};

/// Requests groups repeatedly, each time at a random moment after all groups have returned.
template <KillOrder order, bool yields = false>
std::vector<double> gather_times(const GatherLoad& load, nanoseconds offer_wait, Aside& aside,
                                 const std::stop_token& stop) {
  static std::mt19937_64 random{1};  // NOLINT(cert-msc51-cpp): the same on every machine
  Board board{load.capacity};
  cpu::Engine engine{
      {.capacity = load.capacity}};  // declared after the board, so that it ends first
  const Job job =
      engine.launch(Stealing<order, yields>{.board = &board, .steps = steps_for(load.task)},
                    {.max_groups = load.capacity, .offer_wait = offer_wait});
  std::uniform_int_distribution<std::int64_t> pause{0, load.task.count()};

  std::vector<double> times;
  for (std::uint32_t i = 0; i < load.trials; ++i) {
    wait_until(job, stop, [&] { return board.present.load() == load.capacity; });
    if (load.long_on_top) {
      board.long_begun.store(false, std::memory_order_relaxed);
      board.long_wanted.store(true, std::memory_order_relaxed);
      wait_until(job, stop, [&] { return board.long_begun.load(std::memory_order_relaxed); });
    }
    std::this_thread::sleep_for(nanoseconds{pause(random)});
    if constexpr (yields) {
      times.push_back(static_cast<double>(board.errand.ask(load.wanted, 0).gather));
    } else {
      const std::uint64_t asked = cpu::now();
      std::atomic<std::uint64_t> begun{asked};
      const auto stamp = [&begun] {
        const std::uint64_t at = cpu::now();
        std::uint64_t latest = begun.load(std::memory_order_relaxed);
        while (latest < at && !begun.compare_exchange_weak(latest, at, std::memory_order_relaxed)) {
        }
      };
      times.push_back(in_ns(engine.submit(stamp, {.groups = load.wanted}).wait().gather));
      aside.begun[order].push_back(static_cast<double>(begun.load() - asked));
    }
  }
  board.over = true;
  job.wait();
  aside.tasks += board.tasks.load();
  aside.time += board.task_time.load();
  return times;
}

Gatherer on_cpu(const std::stop_token& stop) {
  return {
      .kill =
          [stop](const GatherLoad& load, KillOrder order, nanoseconds offer_wait, Aside& aside) {
            return order == KillOrder::any
                       ? gather_times<KillOrder::any>(load, offer_wait, aside, stop)
                       : gather_times<KillOrder::highest_first>(load, offer_wait, aside, stop);
          },
      .yield =
          [stop](const GatherLoad& load, Aside& aside) {
            return gather_times<KillOrder::highest_first, true>(load, {}, aside, stop);
          }};
}

std::string in_ms(double time, int digits = 2) { return fixed(time / 1e6, digits); }

void print(const Measurement& measurement, const GatherLoad& load, const Aside& aside) {
  std::cout << measurement.name;
  if (aside.tasks > 0)
    std::cout << "; a task takes " << in_ms(aside.task_time())
              << " ms on average next to the others";
  std::cout << "\n  " << std::left << std::setw(38) << "gather time" << std::right << std::setw(10)
            << "p50 ms" << std::setw(10) << "p99 ms" << std::setw(10) << "max ms" << std::setw(9)
            << "p50/T" << std::setw(9) << "p99/T" << '\n';
  for (const Series& each : measurement.series) {
    const Statistics numbers = statistics(each);
    std::cout << "  " << std::left << std::setw(38) << each.name << std::right << std::setw(10)
              << in_ms(numbers.p50) << std::setw(10) << in_ms(numbers.p99) << std::setw(10)
              << in_ms(numbers.max) << std::fixed << std::setprecision(1) << std::setw(9)
              << numbers.p50 / in_ns(load.task) << std::setw(9) << numbers.p99 / in_ns(load.task)
              << '\n';
  }
}

nlohmann::ordered_json measure_gather(const Gatherer& gatherer, const GatherLoad& load,
                                      const Repetitions& plan) {
  Aside aside;
  const auto kill = [&](KillOrder order, nanoseconds offer_wait) {
    return [&, order, offer_wait] { return gatherer.kill(load, order, offer_wait, aside); };
  };
  const auto highest = KillOrder::highest_first;
  const std::string name = std::to_string(load.wanted) + " of " + std::to_string(load.capacity) +
                           " workers, T = " + in_ms(in_ns(load.task), 1) + " ms, " +
                           (load.long_on_top ? "the highest id in a task of 20 T" : "all alike");
  std::vector<Contender> contenders{
      {.name = "any", .measure = kill(KillOrder::any, {})},
      {.name = "highest first, waits its turn",
       .measure = kill(highest, load.task * 10 * GatherLoad::long_factor)},
      {.name = "highest first, waits 100 us (default)",
       .measure = kill(highest, LaunchOptions{}.offer_wait)},
      {.name = "highest first, never waits", .measure = kill(highest, nanoseconds{0})}};
  if (gatherer.yield) {
    contenders.push_back({.name = "yield", .measure = [&] { return gatherer.yield(load, aside); }});
  }
  const Measurement measurement = measure(name, "ns", contenders, plan);

  const nanoseconds quantum = scheduling_quantum();
  const double limit = 1.2 * in_ns(load.task) + in_ns(quantum);
  const double p50 = statistics(measurement.at("any")).p50;
  const auto judge = [p50](double most) {
    return std::string{p50 <= most ? "within " : "NOT within "} + in_ms(most);
  };
  print(measurement, load, aside);
  std::cout << "  any: p50 " << judge(limit) << " ms (1.2 T + 1 quantum)";
  nlohmann::ordered_json result{
      {"workers", load.capacity},        {"wanted", load.wanted},
      {"task_ns", load.task.count()},    {"long_task_on_top", load.long_on_top},
      {"quantum_ns", quantum.count()},   {"limit_ns", limit},
      {"any_within_limit", p50 <= limit}};
  if (aside.tasks > 0) {
    const double loaded_limit = 1.2 * aside.task_time() + in_ns(quantum);
    const double begun = median(aside.begun[KillOrder::any]);
    std::cout << ", " << judge(loaded_limit)
              << " ms (T next to the others); the task ran on all its units after " << in_ms(begun)
              << " ms";
    result.update({{"task_ns_under_load", aside.task_time()},
                   {"limit_ns_under_load", loaded_limit},
                   {"any_begun_ns", begun},
                   {"any_within_limit_under_load", p50 <= loaded_limit}});
  }
  std::cout << '\n' << std::endl;
  result.update(to_json(measurement));
  return result;
}

// ---- a task next to a barrier kernel: yield against kill

struct BarrierShare {
  std::uint32_t capacity;
  std::uint32_t periods;
  nanoseconds chunk;   ///< a step consists of 64 chunks, shared by the groups
  nanoseconds task;    ///< duration on one worker
  nanoseconds period;  ///< time from one task to the next
};

enum class Sharing : std::uint8_t { alone, kill, yield };

/// Shared by the stepping kernel and the host.
struct Meter {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> steps{0};
  YieldTask errand;
};

/// Each step is a fixed amount of work, divided among the active groups.
template <bool yields>
struct Stepping {
  Meter* meter;
  std::uint64_t chunk;  ///< steps of arithmetic in a chunk

  template <class Group>
  COHORT_FN Next step(Group& group, Nothing& /*state*/) const {
    if constexpr (yields) {
      if (group.group_id() + 1 == group.num_groups()) meter->errand.look();
    }
    for ([[maybe_unused]] const std::size_t i : group.stride(64)) keep(churn(chunk));
    if (group.group_id() == 0) meter->steps.fetch_add(1, std::memory_order_relaxed);
    return meter->over.load(std::memory_order_relaxed) ? Next::halt : Next::again;
  }
};

/// Gather and completion times of the tasks next to a kernel.
struct TaskSeries {
  std::vector<double> gather;
  std::vector<double> done;
};

/// Nanoseconds per step of the kernel, over share.periods periods.
template <Sharing sharing>
std::vector<double> step_time(const BarrierShare& share, TaskSeries& tasks,
                              const std::stop_token& stop) {
  Meter meter;
  // Declared after the meter, so that it ends first.
  cpu::Engine engine{{.capacity = share.capacity}};
  const std::uint64_t work = steps_for(share.task);
  const Job job = engine.launch(
      Stepping<sharing == Sharing::yield>{.meter = &meter, .chunk = steps_for(share.chunk)},
      {.max_groups = share.capacity});
  wait_until(job, stop, [&] { return meter.steps.load(std::memory_order_relaxed) > 0; });

  const std::uint64_t steps_before = meter.steps.load(std::memory_order_relaxed);
  const std::uint64_t begin = cpu::now();
  auto due = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < share.periods; ++i) {
    if (stop.stop_requested()) throw Stopped{};
    if constexpr (sharing == Sharing::yield) {
      const Served served = meter.errand.ask(1, work);
      tasks.gather.push_back(static_cast<double>(served.gather));
      tasks.done.push_back(static_cast<double>(served.done));
    } else if constexpr (sharing == Sharing::kill) {
      const TaskReport served = engine.submit([work] { keep(churn(work)); }).wait();
      tasks.gather.push_back(in_ns(served.gather));
      tasks.done.push_back(in_ns(served.gather + served.run_time));
    }
    std::this_thread::sleep_until(due += share.period);
  }
  const auto time = static_cast<double>(cpu::now() - begin);
  const std::uint64_t steps = meter.steps.load(std::memory_order_relaxed) - steps_before;
  meter.over = true;
  job.wait();
  return {time / static_cast<double>(std::max<std::uint64_t>(steps, 1))};
}

nlohmann::ordered_json measure_sharing(const BarrierShare& share, const Repetitions& plan) {
  TaskSeries none;
  TaskSeries killed;
  TaskSeries yielded;
  const std::string name =
      "1 of " + std::to_string(share.capacity) + " workers of a barrier kernel for a task of " +
      in_ms(in_ns(share.task), 0) + " ms every " + in_ms(in_ns(share.period), 0) + " ms";
  const Measurement measurement =
      measure(name, "ns per step",
              {
                  {.name = "alone",
                   .measure = [&] { return step_time<Sharing::alone>(share, none, plan.stop); },
                   .reference = true},
                  {.name = "kill",
                   .measure = [&] { return step_time<Sharing::kill>(share, killed, plan.stop); }},
                  {.name = "yield",
                   .measure = [&] { return step_time<Sharing::yield>(share, yielded, plan.stop); }},
              },
              plan);

  // The slowdown if the kernel loses nothing but the task's CPU time on two CPUs.
  const double ideal = 1 / (1 - in_ns(share.task) / in_ns(share.period) / 2);
  std::cout << name << "\n  " << std::left << std::setw(16) << "" << std::right << std::setw(12)
            << "kernel" << std::setw(16) << "gather p50 ms" << std::setw(14) << "done p50 ms"
            << std::setw(14) << "done p99 ms" << '\n';
  nlohmann::ordered_json result{{"workers", share.capacity},
                                {"task_ns", share.task.count()},
                                {"period_ns", share.period.count()},
                                {"ideal_slowdown", ideal}};
  result.update(to_json(measurement));
  const auto row = [&](const std::string& contender, const TaskSeries& tasks) {
    std::cout << "  " << std::left << std::setw(16) << contender << std::right << std::fixed
              << std::setprecision(2) << std::setw(11)
              << median(ratios(measurement.at(contender), measurement.at("alone"))) << 'x';
    if (!tasks.done.empty()) {
      std::cout << std::setw(16) << in_ms(median(tasks.gather)) << std::setw(14)
                << in_ms(median(tasks.done)) << std::setw(14) << in_ms(percentile(tasks.done, 99));
      result["tasks"][contender] = {{"gather_ns", tasks.gather}, {"done_ns", tasks.done}};
    }
    std::cout << '\n';
  };
  row("alone", none);
  row("kill", killed);
  row("yield", yielded);
  std::cout << "  ideal on 2 CPUs  " << std::fixed << std::setprecision(2) << std::setw(10) << ideal
            << "x\n"
            << std::endl;
  return result;
}

nlohmann::ordered_json run_gather(const ScenarioOptions& options) {
  const Repetitions plan{
      .count = options.repetitions, .warm_ups = options.quick ? 0U : 1U, .stop = options.stop};
  const std::uint32_t trials = options.quick ? 3 : 20;
  const bool on_the_cpu = options.engine == "cpu";
  std::optional<Confined> two_cpus;
  Gatherer gatherer;
  std::uint32_t most = options.capacity.value_or(8);
  nlohmann::ordered_json device;
  if (on_the_cpu) {
    two_cpus.emplace(2);
    gatherer = on_cpu(options.stop);
    std::cout << "2 CPUs; scheduling quantum (one tick of the kernel): "
              << in_ms(in_ns(scheduling_quantum())) << " ms\n\n";
  }
#ifdef COHORT_WITH_OPENCL
  if (options.engine == "opencl") {
    OpenClStealing stealing{options};
    device = stealing.device;
    most = stealing.capacity;
    gatherer = std::move(stealing.gatherer);
  }
#endif

  auto gathers = nlohmann::ordered_json::array();
  for (const auto& [wanted, capacity] : {std::pair{1U, 2U}, std::pair{7U, 8U}}) {
    if (capacity > most) continue;
    for (const nanoseconds task : {nanoseconds{microseconds{100}}, nanoseconds{milliseconds{1}},
                                   nanoseconds{milliseconds{10}}}) {
      for (const bool long_on_top : {false, true}) {
        // Would take too long.
        if (task > milliseconds{1} && (long_on_top || options.quick)) continue;
        gathers.push_back(measure_gather(gatherer,
                                         {.capacity = capacity,
                                          .wanted = wanted,
                                          .task = task,
                                          .long_on_top = long_on_top,
                                          .trials = trials},
                                         plan));
      }
    }
  }
  if (!on_the_cpu) return {{"device", std::move(device)}, {"gather", std::move(gathers)}};
  auto sharing = nlohmann::ordered_json::array();
  for (const std::uint32_t capacity : {2U, 8U}) {
    sharing.push_back(measure_sharing({.capacity = capacity,
                                       .periods = options.quick ? 3U : 15U,
                                       .chunk = microseconds{5},
                                       .task = milliseconds{10},
                                       .period = milliseconds{40}},
                                      plan));
  }
  return {{"gather", std::move(gathers)}, {"barrier_kernel", std::move(sharing)}};
}

}  // namespace

const Scenario gather_scenario{
    .name = "gather",
    .summary = "how long a request for workers waits, by kill order; kill against yield",
    .run = &run_gather,
    .accepts = {.capacity = true}};

}  // namespace cohort::bench
