// The length of steps, counted in accesses to words instead of time. On graphs with hubs, all
// groups have about equal work in a step, and no step is long. So on every graph the next resizing
// point is never far away.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>

#include "apps/run.hpp"
#include "cohort/cpu.hpp"
#include "graph/generators.hpp"

namespace cohort::apps {

/// Words accessed by each group, step by step.
using Accesses = std::vector<std::vector<std::uint64_t>>;

/// Runs kernels in groups of one thread, one group after the other, and counts.
struct CountingEngine {
  cpu::Engine memory_of{{.capacity = 1}};
  std::uint32_t groups = 8;
  Accesses accesses = {};

  [[nodiscard]] std::uint32_t capacity() const { return groups; }
  [[nodiscard]] decltype(auto) memory() const { return memory_of.memory(); }
  template <class T>
  auto fill(std::size_t count, const T& value) {
    return memory_of.fill<T>(count, value);
  }
  template <class T>
  auto allocate(std::size_t count) {
    return memory_of.allocate<T>(count);
  }
  template <class T>
  auto upload(const std::vector<T>& values) {
    return memory_of.upload(values);
  }
};

template <>
inline constexpr bool has_paper_variants<CountingEngine> = false;

template <class Kernel>
Report run(CountingEngine& engine, const Kernel& kernel, const RunOptions& options);

}  // namespace cohort::apps

#include "apps/cc/host.hpp"
#include "apps/color/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/p_sssp/host.hpp"

namespace cohort::apps {
namespace {

template <class T>
struct Word {
  T& word;

  [[nodiscard]] T load() const { return word; }
  void store(T value) const { word = value; }
  template <class Change>
  T change(Change change) const {
    return std::exchange(word, change(word));
  }
  T fetch_add(T by) const {
    return change([by](T old) { return static_cast<T>(old + by); });
  }
  T fetch_sub(T by) const {
    return change([by](T old) { return static_cast<T>(old - by); });
  }
  T fetch_min(T other) const {
    return change([other](T old) { return std::min(old, other); });
  }
  bool compare_exchange(T& expected, T desired) const {
    if (word != expected) {
      expected = word;
      return false;
    }
    word = desired;
    return true;
  }
};

/// One of the groups, with the interface that kernels use.
struct CountingGroup {
  std::uint32_t id;
  std::uint32_t groups;
  std::uint64_t* accesses;

  [[nodiscard]] std::uint32_t group_id() const { return id; }
  [[nodiscard]] std::uint32_t num_groups() const { return groups; }
  [[nodiscard]] std::uint32_t max_groups() const { return groups; }
  [[nodiscard]] std::size_t global_id() const { return id; }
  [[nodiscard]] static std::uint32_t local_id() { return 0; }
  [[nodiscard]] static std::uint32_t local_size() { return 1; }
  [[nodiscard]] static bool alone() { return true; }
  [[nodiscard]] static Stride local_stride(std::size_t count) { return {0, 1, count}; }
  template <class T>
  [[nodiscard]] Word<T> atomic(T& word) const {
    ++*accesses;
    return {word};
  }
  template <class T>
  [[nodiscard]] static T* view(T* memory) {
    return memory;
  }
  template <class T>
  [[nodiscard]] static T claim(T& counter) {
    return counter++;
  }
  static void barrier() {}
  template <class T>
  [[nodiscard]] static T broadcast(T value, std::uint32_t /*from*/ = 0) {
    return value;
  }
  template <class T, class Op>
  [[nodiscard]] static T reduce(T value, Op /*op*/) {
    return value;
  }
  template <class T, class Op>
  [[nodiscard]] static T exclusive_scan(T /*value*/, T zero, Op /*op*/) {
    return zero;
  }
};

}  // namespace

template <class Kernel>
Report run(CountingEngine& engine, const Kernel& kernel, const RunOptions& /*options*/) {
  std::vector<typename Kernel::State> states(engine.groups);
  for (bool again = true; again;) {
    again = false;
    auto& step = engine.accesses.emplace_back(engine.groups, 0);
    for (std::uint32_t id = 0; id < engine.groups; ++id) {
      CountingGroup group{id, engine.groups, &step[id]};
      again |= kernel.step(group, states[id]) == Next::again;
    }
  }
  Report report;
  report.status = Status::finished;
  return report;
}

namespace {

/// Runs an app, verifies it, and checks every step.
template <class App>
void expect_short_steps(const char* graph, const App& app) {
  SCOPED_TRACE(std::string{App::name} + " on " + graph);
  CountingEngine engine;
  const auto result = app.run(engine, {});
  EXPECT_EQ(app.difference(result), std::nullopt);
  std::uint64_t longest = 0;
  for (const auto& step : engine.accesses) {
    const std::uint64_t most = *std::max_element(step.begin(), step.end());
    const std::uint64_t all = std::accumulate(step.begin(), step.end(), std::uint64_t{0});
    longest = std::max(longest, most);
    // Tolerates a difference of some blocks or pieces, and twice as many accesses per edge.
    EXPECT_LE(most, 2 * all / engine.groups + 16384) << "of " << all << " in the step";
  }
  EXPECT_LE(longest, 1'200'000U) << "128 blocks or pieces, and a few words for an edge";
  std::cout << App::name << " on " << graph << ": " << engine.accesses.size()
            << " steps, of at most " << longest << " accesses\n";
}

TEST(Steps, AreEvenAndShortOnGraphsWithHubs) {
  const std::pair<const char*, Csr> graphs[] = {{"a star", star(400'000)},
                                                {"a star with tails", star(200'000, 3)},
                                                {"a power law", power_law(60'000, 215, 8)},
                                                {"R-MAT", rmat(15, 1, 16, {70, 12, 12})}};
  for (const auto& [name, graph] : graphs) {
    const GraphInput input = known_graph(with_weights(graph));
    expect_short_steps(name, color::App{{{input}, {.priority = Priority::degree}}});
    expect_short_steps(name, mis::App{{{input}}});
    expect_short_steps(name, cc::App{{input}});
    expect_short_steps(name, p_sssp::App{{{input}, 0}});
  }
}

// In these graphs, the nodes with many edges have consecutive ids.
TEST(Steps, AreEvenWhereTheFirstNodesHaveMostEdges) {
  Csr graph = complete(600);  // complete, with many nodes without edges added
  graph.offsets.resize(100'000, graph.offsets.back());
  const GraphInput input = known_graph(with_weights(std::move(graph)));
  expect_short_steps("a clique", color::App{{{input}, {.priority = Priority::degree}}});
  expect_short_steps("a clique", mis::App{{{input}}});
  expect_short_steps("a clique", cc::App{{input}});
  expect_short_steps("a clique", p_sssp::App{{{input}, 0}});
}

}  // namespace
}  // namespace cohort::apps
