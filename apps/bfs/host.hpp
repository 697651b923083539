// Breadth-first search, host side: options, run and verification.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/bfs/kernel.hpp"
#include "apps/dialect/host.hpp"
#include "apps/registry.hpp"
#include "apps/source.hpp"

namespace cohort::apps {

struct BfsOptions {
  enum class Algorithm : std::uint8_t { one_barrier, paper };
  enum class Direction : std::uint8_t { automatic, both, down };

  Algorithm algorithm = Algorithm::one_barrier;
  /// The direction of the one-barrier algorithm. `automatic` selects `both` for graphs with at
  /// least eight edges per node, else `down`.
  Direction direction = Direction::automatic;
  /// For the paper's algorithm with groups of one thread: gives each group its own part of the
  /// list.
  bool slots = true;
  /// Nodes per group and step; 0: a whole level.
  std::uint64_t chunk = even_chunk;
  /// For the one-barrier algorithm in one direction: levels up to this size run on group 0 alone.
  /// Default: by local size.
  std::optional<std::uint32_t> solo = {};
};

struct BfsResult {
  std::vector<std::uint32_t> levels;  ///< indexed by node; Levels::unreached if there is no path
  Report report;
};

/// Compares with a sequential search that shares no code with the kernels. Describes the first
/// difference, or returns nothing.
[[nodiscard]] std::optional<std::string> check_bfs(const Csr& graph, Node source,
                                                   const std::vector<std::uint32_t>& levels);

namespace bfs {

struct App : AppOnGraph {
  static constexpr std::string_view name = "bfs";
  static constexpr std::string_view summary = "breadth-first search, level by level";
  static constexpr std::string_view options =
      "algorithm=one-barrier|paper direction=auto|both|down source=NODE|hub chunk=N "
      "solo=N lists=slots|shared";
  static constexpr std::string_view algorithm = "one-barrier";
  static constexpr std::string_view paper = "algorithm=paper";
  static constexpr std::string_view dialect_options = "source";
  using Result = BfsResult;

  Node source;
  BfsOptions how = {};

  static App from(const std::string& input, Settings& settings) {
    BfsOptions how;
    how.algorithm =
        static_cast<BfsOptions::Algorithm>(settings.choice("algorithm", {"one-barrier", "paper"}));
    how.direction =
        static_cast<BfsOptions::Direction>(settings.choice("direction", {"auto", "both", "down"}));
    how.slots = settings.choice("lists", {"slots", "shared"}) == 0;
    how.chunk = settings.number("chunk", even_chunk);
    how.solo = settings.number_if_given("solo");
    const SourceChoice chosen{input, settings};
    settings.check_all_used();
    const GraphInput graph = known_graph(input);
    return {{graph}, chosen.of(*graph), how};
  }
  /// `solo = 0`, because every level of so small a graph would otherwise run on group 0 alone.
  static App tiny() { return {{tiny_graph()}, 0, {.solo = 0}}; }

  [[nodiscard]] std::uint32_t threads_per_sm() const { return threads_for_search(graph->csr()); }

  /// Whether levels are searched both from their own nodes and from the unreached nodes.
  [[nodiscard]] bool both_directions() const {
    using Direction = BfsOptions::Direction;
    return how.direction == Direction::both ||
           (how.direction == Direction::automatic && has_many_edges(graph->csr()));
  }
  /// The compiled variant of the one-barrier search.
  template <class Engine>
  [[nodiscard]] Degrees degrees(const RunOptions& run_options) const {
    if (both_directions()) return Degrees::many;
    // Lists of the `few` variant pay off for groups of several threads; groups of one thread
    // prefetch instead. A movable job uses the variant on every engine, so that its lists have one
    // layout.
    const bool fits = threads_per_group<Engine>(run_options) > 1 || run_options.movable;
    const bool few = graph->get(&max_degree) <= most_few_edges &&
                     graph->csr().num_edges() <= FewEdges::most_in_graph;
    return fits && few ? Degrees::few : Degrees::some;
  }

  /// The levels are complete only when the job has finished. Throws Error{bad_options} when there
  /// is no such source.
  template <class Engine>
  BfsResult run(Engine& engine, const RunOptions& run_options) const {
    const auto levels = first_levels(engine);
    BfsResult result;
    if (how.algorithm != BfsOptions::Algorithm::paper) {
      switch (degrees<Engine>(run_options)) {
        case Degrees::few:
          result.report = run_one_barrier<Degrees::few>(engine, levels.data(), run_options);
          break;
        case Degrees::some:
          result.report = run_one_barrier<Degrees::some>(engine, levels.data(), run_options);
          break;
        case Degrees::many:
          result.report = run_one_barrier<Degrees::many>(engine, levels.data(), run_options);
          break;
      }
    } else if constexpr (has_paper_variants<Engine>) {
      result.report = run_paper(engine, levels.data(), run_options);
    } else {
      refuse_paper_variant();
    }
    if (run_options.results) result.levels = levels.read();
    return result;
  }

  template <class Engine>
  BfsResult run_dialect(Engine& engine, ProgramKernel kernel, const RunOptions& run_options) const {
    const auto levels = first_levels(engine);
    const DialectGraph memory{engine, graph->csr()};
    const DialectLists lists{engine, graph->csr().num_nodes(), source};
    memory.give(kernel, "target");
    lists.give(kernel);
    kernel.set("level_of", levels.data());
    const Report report = run_program(engine, kernel, run_options);
    return {levels.read(), report};
  }

  [[nodiscard]] static const auto& by_node(const BfsResult& result) { return result.levels; }
  [[nodiscard]] Numbers numbers(const BfsResult& result) const {
    std::int64_t depth = 0;
    std::int64_t reached = 0;
    for (const std::uint32_t level : result.levels) {
      if (level == Levels::unreached) continue;
      ++reached;
      depth = std::max(depth, std::int64_t{level});
    }
    return {{"depth", depth}, {"reached", reached}};
  }
  [[nodiscard]] std::optional<std::string> difference(const BfsResult& result) const {
    return check_bfs(graph->csr(), source, result.levels);
  }

 private:
  template <class Engine>
  Buffer<std::uint32_t> first_levels(Engine& engine) const {
    check_source(name, graph->csr(), source);
    auto levels = engine.template fill<std::uint32_t>(graph->csr().num_nodes(),
                                                      std::uint32_t{Levels::unreached});
    levels.write(std::vector{0U}, source);
    return levels;
  }

  template <class Engine>
  Report run_paper(Engine& engine, std::uint32_t* levels, const RunOptions& run_options) const {
    const CsrView view = graph->in_memory(engine).view();
    const WorklistMemory lists[] = {{engine, view.num_nodes(), run_options, how.slots},
                                    {engine, view.num_nodes(), run_options, how.slots}};
    lists[0].put(source, 0);
    const PaperBfs kernel{.rounds = {.graph = view,
                                     .lists = {lists[0].view(), lists[1].view()},
                                     .chunk = chunk_in_paper(how.chunk)},
                          .levels = {levels}};
    return apps::run(engine, kernel, run_options);
  }

  template <Degrees degrees, class Engine>
  Report run_one_barrier(Engine& engine, std::uint32_t* levels,
                         const RunOptions& run_options) const {
    using Kernel = Bfs<degrees>;
    constexpr bool both = Kernel::both_directions;
    const Csr& csr = graph->csr();
    const Node nodes = csr.num_nodes();
    const CsrView view = graph->in_memory(engine).view();
    const bool one_way = both && !graph->get(&is_symmetric);

    const auto list = [&] { return WorklistMemory{engine, nodes, run_options, true}; };
    const WorklistMemory lists[] = {list(), list(), list()};
    const CsrView here = csr.view();
    lists[0].put(Kernel::entry(here, source), here.degree(source));
    const std::size_t words = both ? nodes / 64 + 1 : 0;
    const auto bits = engine.template fill<std::uint64_t>(3 * words, 0);
    const bool has_open =
        both && threads_per_group<Engine>(run_options) == 1 && !run_options.movable;
    const auto open = engine.template fill<std::uint64_t>(has_open ? words : 0, 0);
    const auto plans = engine.template fill<typename Kernel::Directive>(2, {});
    const auto outlooks =
        engine.template fill<typename Kernel::Outlook>(2, {.edges_left = csr.num_edges()});
    const std::uint32_t threads = threads_per_group<Engine>(run_options);
    const std::uint32_t solo = threads == 1 ? 128 : Kernel::few_edges ? (threads + 1) / 2 : threads;
    const Kernel kernel{
        .graph = view,
        .incoming = one_way ? graph->in_memory(engine, graph->get(&transpose)).view() : view,
        .lists = {lists[0].view(), lists[1].view(), lists[2].view()},
        .bits = {bits.data(), bits.data() + words, bits.data() + 2 * words},
        .open = has_open ? open.data() : nullptr,
        .plans = plans.data(),
        .outlooks = outlooks.data(),
        .levels = {levels},
        .chunk = how.chunk,
        .solo = how.solo.value_or(solo),
    };
    return apps::run(engine, kernel, run_options);
  }
};

}  // namespace bfs

/// Distances from `source`.
template <class Engine>
[[nodiscard]] BfsResult run_bfs(Engine& engine, const Csr& graph, Node source,
                                const RunOptions& options = {}, const BfsOptions& how = {}) {
  return solve(engine, bfs::App{{known_graph(graph)}, source, how}, options);
}

}  // namespace cohort::apps
