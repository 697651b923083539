#include "bench/barrier.hpp"

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "bench/affinity.hpp"
#include "bench/barrier_loop.hpp"
#include "bench/child.hpp"
#include "bench/harness.hpp"
#include "cohort/cpu.hpp"

namespace cohort::bench {
namespace {

// ---- barriers

struct Clock {
  static std::uint64_t now() { return cpu::now(); }
};

/// Runs a kernel that measures itself, with exactly the requested number of groups.
template <class Kernel>
void run_all(cpu::Engine& engine, const Kernel& kernel, std::uint32_t groups, bool resizable) {
  const Report report =
      engine.launch(kernel, {.max_groups = groups, .resizable = resizable}).wait();
  if (report.start_groups != groups || report.status != Status::finished) {
    throw std::runtime_error{"the job had " + std::to_string(report.start_groups) + " of " +
                             std::to_string(groups) + " groups and is " + to_string(report.status)};
  }
}

template <bool resizing>
std::vector<double> cohort_barrier(cpu::Engine& engine, const BarrierLoad& load, bool resizable) {
  std::vector<std::uint64_t> marks(load.batches + 1);
  run_all(engine, BarrierLoop<resizing, Clock>{load.barriers, load.batches, marks.data()},
          load.threads, resizable);
  return per_barrier(load.barriers, marks);
}

std::vector<double> std_barrier(const BarrierLoad& load) {
  const std::vector<int> cpus = allowed_cpus();
  std::vector<std::uint64_t> marks(load.batches + 1);
  std::barrier barrier{static_cast<std::ptrdiff_t>(load.threads)};
  const auto loop = [&](std::uint32_t id) {
    if (load.pinned) pin(cpus[id % cpus.size()]);
    for (std::uint64_t& mark : marks) {
      for (std::uint32_t i = 0; i < load.barriers; ++i) barrier.arrive_and_wait();
      if (id == 0) mark = cpu::now();
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint32_t id = 0; id < load.threads; ++id) threads.emplace_back(loop, id);
  threads.clear();
  return per_barrier(load.barriers, marks);
}

/// Runs in a process of its own, because OpenMP reads its wait policy when the library is loaded,
/// and its threads may still spin after the last barrier.
std::vector<double> openmp_barrier_apart(const BarrierLoad& load,
                                         const std::optional<std::string>& policy) {
  std::vector<std::string> arguments{"bench",      "openmp-barrier",
                                     "--threads",  std::to_string(load.threads),
                                     "--batches",  std::to_string(load.batches),
                                     "--barriers", std::to_string(load.barriers)};
  if (load.pinned) arguments.emplace_back("--pinned");
  std::istringstream output{run_again(arguments, "OMP_WAIT_POLICY", policy)};
  std::vector<double> result;
  for (double value = 0; output >> value;) result.push_back(value);
  if (result.size() != load.batches)
    throw std::runtime_error{"the OpenMP child process printed something else than its times"};
  return result;
}

Measurement measure_barriers(const std::string& name, const BarrierLoad& load,
                             const Repetitions& plan) {
  const Confined two_cpus{2};
  cpu::Engine engine{{.capacity = load.threads, .pin_workers = load.pinned}};
  const auto openmp = [&load](std::optional<std::string> policy) {
    return [&load, policy = std::move(policy)] { return openmp_barrier_apart(load, policy); };
  };
  return measure(
      name, "ns per barrier",
      {
          {.name = "cohort global",
           .measure = [&] { return cohort_barrier<false>(engine, load, true); }},
          {.name = "cohort resizing",
           .measure = [&] { return cohort_barrier<true>(engine, load, true); }},
          {.name = "cohort static",
           .measure = [&] { return cohort_barrier<false>(engine, load, false); }},
          {.name = "std::barrier", .measure = [&] { return std_barrier(load); }, .reference = true},
          {.name = "openmp", .measure = openmp(std::nullopt), .reference = true},
          {.name = "openmp active", .measure = openmp("active"), .reference = true},
          {.name = "openmp passive", .measure = openmp("passive"), .reference = true},
      },
      plan);
}

// ---- offers

struct OfferLoad {
  std::uint32_t batches;
  std::uint32_t calls;  ///< number of offers in a batch
};

enum class Offers { kill_and_fork, both_in_one };

/// One group offers repeatedly, while no task asks for groups.
template <Offers offers>
struct OfferLoop {
  struct State {
    std::uint32_t round = 0;
  };

  OfferLoad load;
  std::uint64_t* marks;

  template <class Group>
  COHORT_FN void run(Group group, State state) const {
    const std::uint32_t calls = load.calls;
    for (std::uint32_t batch = 0; batch <= load.batches; ++batch) {
      for (std::uint32_t i = 0; i < calls; ++i) {
        if constexpr (offers == Offers::kill_and_fork) {
          if (group.offer_kill(state)) return;
          group.request_fork(state);
        } else {
          if (group.offer(state)) return;
        }
      }
      marks[batch] = cpu::now();
    }
  }
};

enum class Loads { summed, tested };

struct alignas(64) Word {
  std::atomic<std::uint32_t> value{0};
};

/// The same loop with five relaxed loads instead of an offer. The values are added up and tested
/// once, or tested one by one as an offer does.
template <Loads loads>
struct LoadLoop {
  OfferLoad load;
  std::uint64_t* marks;
  const Word* words;  // five words

  template <class Group>
  COHORT_FN void run(Group& /*group*/, Nothing /*state*/) const {
    const std::uint32_t calls = load.calls;
    for (std::uint32_t batch = 0; batch <= load.batches; ++batch) {
      for (std::uint32_t i = 0; i < calls; ++i) {
        if constexpr (loads == Loads::summed) {
          if (look(0) + look(1) + look(2) + look(3) + look(4) != 0) return;
        } else {
          if (look(0) != 0 || look(1) != 0 || look(2) != 0 || look(3) != 0 || look(4) != 0) return;
        }
      }
      marks[batch] = cpu::now();
    }
  }

 private:
  [[nodiscard]] std::uint32_t look(std::size_t i) const {
    return words[i].value.load(std::memory_order_relaxed);
  }
};

Measurement measure_offers(const OfferLoad& load, const Repetitions& plan) {
  cpu::Engine engine{{.capacity = 1, .pin_workers = true}};
  const Word words[5];
  const auto timed = [&](auto make) {
    return [&, make] {
      std::vector<std::uint64_t> marks(load.batches + 1);
      run_all(engine, make(marks.data()), 1, true);
      return per_barrier(load.calls, marks);
    };
  };
  const auto separate = [&](std::uint64_t* marks) {
    return OfferLoop<Offers::kill_and_fork>{load, marks};
  };
  const auto together = [&](std::uint64_t* marks) {
    return OfferLoop<Offers::both_in_one>{load, marks};
  };
  const auto summed = [&](std::uint64_t* marks) {
    return LoadLoop<Loads::summed>{load, marks, words};
  };
  const auto tested = [&](std::uint64_t* marks) {
    return LoadLoop<Loads::tested>{load, marks, words};
  };
  return measure(
      "offers that change nothing", "ns per call",
      {
          {.name = "offer_kill + request_fork", .measure = timed(separate)},
          {.name = "offer", .measure = timed(together)},
          {.name = "5 relaxed loads, each tested", .measure = timed(tested), .reference = true},
          {.name = "5 relaxed loads, summed", .measure = timed(summed), .reference = true},
      },
      plan);
}

std::string wait_policy() {
  const char* const policy = std::getenv("OMP_WAIT_POLICY");  // NOLINT(concurrency-mt-unsafe)
  return policy == nullptr ? "unset" : policy;
}

nlohmann::ordered_json run_barrier(const ScenarioOptions& options) {
  const Repetitions plan{.count = options.repetitions, .warm_ups = 1, .stop = options.stop};
  const std::uint32_t batches = options.quick ? 5 : 20;
  const BarrierLoad pinned{.threads = 2, .pinned = true, .batches = batches, .barriers = 2000};
  const BarrierLoad crowded{.threads = 8, .pinned = false, .batches = batches, .barriers = 100};

  std::cout << "OMP_WAIT_POLICY of `openmp`: " << wait_policy() << "\n\n";
  auto measurements = nlohmann::ordered_json::array();
  measurements.push_back(reported(measure_barriers("2 pinned threads", pinned, plan)));
  measurements.push_back(reported(measure_barriers("8 threads on 2 CPUs", crowded, plan)));
  measurements.push_back(reported(measure_offers({.batches = batches, .calls = 100'000}, plan)));
  return {{"openmp_wait_policy", wait_policy()}, {"measurements", std::move(measurements)}};
}

}  // namespace

const Scenario barrier_scenario{
    .name = "barrier",
    .summary = "barriers and offers with no request pending, next to std::barrier and OpenMP",
    .run = &run_barrier};

}  // namespace cohort::bench
