#include "bench/dialect.hpp"

#include <atomic>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/harness.hpp"
#include "cohort/cpu.hpp"
#include "cohort/program.hpp"
#include "src/program/process.hpp"

namespace cohort::bench {
namespace {

constexpr std::uint32_t unreached = ~0U;

/// compiler/apps/p_sssp.cl, by hand: the same loops, loads and barriers.
struct Sssp {
  struct State {
    std::uint32_t phase = 0;
  };
  static constexpr Traits traits{.resizes = Resizes::at_barriers};

  const std::uint32_t* row;
  const std::uint32_t* source;
  const std::uint32_t* weight;
  std::uint32_t nodes;
  std::uint32_t* x;
  std::uint32_t* y;
  std::uint32_t* changed;

  template <class Group>
  COHORT_FN void run(Group group, State state) const {
    for (std::uint32_t phase = state.phase;; phase = (phase + 1) % 3) {
      if (phase == 0) copy(group);
      if (phase == 1) relax(group);
      if (phase == 2 && *changed == 0) return;
      if (group.resizing_global_barrier(State{(phase + 1) % 3})) return;
    }
  }

 private:
  template <class Group>
  COHORT_FN void copy(Group& group) const {
    for (const std::size_t node : group.stride(nodes)) x[node] = y[node];
    if (group.global_id() == 0) *changed = 0;
  }
  template <class Group>
  COHORT_FN void relax(Group& group) const {
    for (const std::size_t node : group.stride(nodes)) {
      std::uint32_t best = x[node];
      for (std::uint32_t edge = row[node]; edge < row[node + 1]; ++edge) {
        const std::uint32_t from = x[source[edge]];
        if (from == unreached) continue;
        const std::uint64_t there = std::uint64_t{from} + weight[edge];
        best = std::min(best, there > unreached ? unreached : static_cast<std::uint32_t>(there));
      }
      if (best == x[node]) continue;
      y[node] = best;
      std::atomic_ref{*changed}.exchange(1, std::memory_order_relaxed);
    }
  }
};

/// A grid whose weights make many rounds.
struct Grid {
  explicit Grid(std::uint32_t width) {
    for (std::uint32_t node = 0; node < width * width; ++node) {
      const auto edge = [&](std::uint32_t to) {
        source.push_back(to);
        weight.push_back(1 + (node * 7 + to * 13) % 10);
      };
      if (node % width != 0) edge(node - 1);
      if (node % width + 1 != width) edge(node + 1);
      if (node >= width) edge(node - width);
      if (node + width < width * width) edge(node + width);
      row.push_back(static_cast<std::uint32_t>(source.size()));
    }
    x.assign(row.size() - 1, unreached);
  }
  void reset() {
    y.assign(row.size() - 1, unreached);
    y[0] = 0;
  }
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(row.size() - 1); }

  std::vector<std::uint32_t> row{0};
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> weight;
  std::vector<std::uint32_t> x;
  std::vector<std::uint32_t> y;
  std::uint32_t changed = 0;
};

double nanoseconds(const Report& report) { return static_cast<double>(report.run_time.count()); }

Measurement measure_kernels(const ScenarioOptions& options, const Plan& plan) {
  Grid grid{options.quick ? 60U : 200U};
  cpu::Engine engine{{.capacity = 2, .pin_workers = true}};
  ProgramOptions how;
  how.optimise = "-O3";  // as the library and the kernel by hand
  ProgramKernel kernel = Program::from_file(COHORT_DIALECT_APPS "/p_sssp.cl", how).kernel();
  kernel.set("row", grid.row.data()).set("source", grid.source.data());
  kernel.set("weight", grid.weight.data()).set("nodes", grid.nodes());
  kernel.set("x", grid.x.data()).set("changed", &grid.changed);
  const Contender by_hand{
      .name = "C++, by hand",
      .measure =
          [&] {
            grid.reset();
            const Sssp same{grid.row.data(), grid.source.data(), grid.weight.data(), grid.nodes(),
                            grid.x.data(),   grid.y.data(),      &grid.changed};
            return std::vector{nanoseconds(engine.launch(same).wait())};
          },
      .reference = true};
  const Contender dialect{.name = "OpenCL C, by cohortc", .measure = [&] {
                            grid.reset();
                            kernel.set("y", grid.y.data());
                            return std::vector{nanoseconds(kernel.launch(engine).wait())};
                          }};
  return measure("p-sssp on a grid, two groups", "ns per run", {by_hand, dialect}, plan);
}

/// How long a command takes, in nanoseconds. Throws Error{unsupported} when it fails.
double time_of(const std::vector<std::string>& command) {
  const auto start = std::chrono::steady_clock::now();
  const program::Finished finished = program::run(command);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  if (finished.status != 0)
    throw Error{Errc::unsupported, command[0] + " failed: " + finished.text};
  return time.count();
}

Measurement measure_compilers(const Plan& plan) {
  const std::string source = COHORT_DIALECT_APPS "/octree.cl";
  const std::string plain = std::filesystem::temp_directory_path() / "cohort-bench-octree.cl";
  time_of({COHORT_CC_FILE, source, "--emit=plain", "-o", plain});
  const Contender ours{.name = "cohortc --emit=cpu", .measure = [source] {
                         return std::vector{time_of({COHORT_CC_FILE, source, "-o", "/dev/null"})};
                       }};
  const Contender clang{.name = "clang -c, of the plain kernel",
                        .measure =
                            [plain] {
                              return std::vector{time_of({"clang-14", "-x", "cl", "-cl-std=CL3.0",
                                                          "-target", "spir64", "-O2", "-emit-llvm",
                                                          "-c", plain, "-o", "/dev/null"})};
                            },
                        .reference = true};
  return measure("compiling octree, the largest app", "ns", {ours, clang}, plan);
}

}  // namespace

nlohmann::ordered_json dialect_scenario(const ScenarioOptions& options) {
  const Plan plan{.repetitions = options.repetitions, .warm_ups = 1, .stop = options.stop};
  auto measurements = nlohmann::ordered_json::array();
  const auto add = [&measurements](const Measurement& measurement) {
    print(std::cout, measurement);
    std::cout << std::endl;
    measurements.push_back(to_json(measurement));
  };
  add(measure_kernels(options, plan));
  add(measure_compilers(plan));
  return {{"measurements", std::move(measurements)}};
}

}  // namespace cohort::bench
