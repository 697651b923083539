// The five graph applications of the dialect: host sides for any engine.
#pragma once

#include <algorithm>
#include <array>

#include "apps/bfs/app.hpp"
#include "apps/color/app.hpp"
#include "apps/dialect/see_through.hpp"
#include "apps/mis/app.hpp"
#include "apps/p_sssp/app.hpp"

namespace cohort::apps::detail {

inline constexpr std::uint32_t unreached = ~0U;

/// A graph as the kernels read it: edges are counted in 32 bits.
class DialectGraph {
 public:
  template <class Engine>
  DialectGraph(Engine& engine, const Csr& graph)
      : row_(engine.upload(narrowed(graph))),
        target_(engine.upload(graph.targets)),
        weight_(engine.upload(graph.weights)) {}
  void give(ProgramKernel& kernel, const char* targets) const {
    kernel.set("row", row_.data()).set(targets, target_.data());
  }
  void give_weights(ProgramKernel& kernel) const { kernel.set("weight", weight_.data()); }

 private:
  static std::vector<std::uint32_t> narrowed(const Csr& graph) {
    if (graph.num_edges() >= unreached) {
      throw Error{Errc::bad_options, "a graph of " + std::to_string(graph.num_edges()) +
                                         " edges; kernels of the dialect count them in 32 bits"};
    }
    return {graph.offsets.begin(), graph.offsets.end()};
  }

  Buffer<std::uint32_t> row_;
  Buffer<Node> target_;
  Buffer<Weight> weight_;
};

/// Two lists of nodes, the first with the source in it.
class DialectLists {
 public:
  template <class Engine>
  DialectLists(Engine& engine, Node nodes, Node source)
      : lists_{engine.template fill<Node>(nodes, source), engine.template fill<Node>(nodes, 0)},
        sizes_(engine.upload(std::vector<std::uint32_t>{1, 0})) {}
  void give(ProgramKernel& kernel) const {
    kernel.set("list0", lists_[0].data()).set("list1", lists_[1].data());
    kernel.set("size0", sizes_.data()).set("size1", sizes_.data() + 1);
  }

 private:
  std::array<Buffer<Node>, 2> lists_;
  Buffer<std::uint32_t> sizes_;
};

inline std::vector<Distance> distances(const Buffer<std::uint32_t>& buffer) {
  std::vector<Distance> result;
  for (const std::uint32_t each : buffer.read())
    result.push_back(each == unreached ? infinite : each);
  return result;
}

template <class Engine>
Outcome dialect_bfs(Engine& engine, ProgramKernel kernel, Request& request) {
  const SourceChoice chosen{request};
  request.settings.check_all_used();
  const auto known = known_graph(request.input);
  const Csr& graph = known->csr();
  const Node source = chosen.of(*known);
  check_source("bfs", graph, source);
  const DialectGraph memory{engine, graph};
  const DialectLists lists{engine, graph.num_nodes(), source};
  const auto levels = distances_from<std::uint32_t>(engine, graph.num_nodes(), source);
  memory.give(kernel, "target");
  lists.give(kernel);
  kernel.set("level_of", levels.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<std::uint32_t> result = levels.read();
  return outcome(
      in_words(graph), report, request,
      [&] {
        std::int64_t depth = 0;
        std::int64_t reached = 0;
        for (const std::uint32_t level : result) {
          if (level == unreached) continue;
          ++reached;
          depth = std::max(depth, std::int64_t{level});
        }
        return Numbers{{"depth", depth}, {"reached", reached}};
      },
      [&] { return check_bfs(graph, source, result); });
}

template <class Engine>
Outcome dialect_color(Engine& engine, ProgramKernel kernel, Request& request) {
  request.settings.check_all_used();
  const auto known = known_graph(request.input, Edges::undirected);
  const Csr& graph = known->csr();
  const DialectGraph memory{engine, graph};
  const auto colours =
      engine.template fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{uncoloured});
  const auto highest = engine.template fill<Node>(graph.num_nodes(), 0);
  const auto more = engine.template fill<std::uint32_t>(2, 0);
  memory.give(kernel, "target");
  kernel.set("nodes", graph.num_nodes()).set("colour", colours.data());
  kernel.set("highest", highest.data()).set("more", more.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<std::uint32_t> result = colours.read();
  return outcome(
      in_words(graph), report, request,
      [&] {
        const auto last = std::max_element(result.begin(), result.end());
        return Numbers{{"colours", last == result.end() ? 0 : std::int64_t{*last} + 1}};
      },
      [&] { return check_color(graph, Priority::hashed, result); });
}

template <class Engine>
Outcome dialect_mis(Engine& engine, ProgramKernel kernel, Request& request) {
  request.settings.check_all_used();
  const auto known = known_graph(request.input, Edges::undirected);
  const Csr& graph = known->csr();
  const DialectGraph memory{engine, graph};
  const auto marks =
      engine.template fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{undecided});
  const auto lowest = engine.template fill<Node>(graph.num_nodes(), 0);
  const auto drop = engine.template fill<std::uint32_t>(graph.num_nodes(), 0);
  const auto left = engine.template fill<std::uint32_t>(1, 0);
  memory.give(kernel, "target");
  kernel.set("nodes", graph.num_nodes()).set("mark", marks.data()).set("lowest", lowest.data());
  kernel.set("drop", drop.data()).set("undecided_left", left.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<std::uint32_t> result = marks.read();
  return outcome(
      in_words(graph), report, request,
      [&] {
        return Numbers{{"size", std::count(result.begin(), result.end(), std::uint32_t{Mark::in})}};
      },
      [&] { return check_mis(graph, Priority::hashed, result); });
}

template <class Engine>
Outcome dialect_p_sssp(Engine& engine, ProgramKernel kernel, Request& request) {
  const SourceChoice chosen{request};
  request.settings.check_all_used();
  const auto known = known_graph(request.input, Edges::weighted);
  const Csr& graph = known->csr();
  const Node source = chosen.of(*known);
  check_source("p-sssp", graph, source);
  const DialectGraph memory{engine, known->get(&transpose)};
  const auto old = engine.template fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{unreached});
  const auto found = distances_from<std::uint32_t>(engine, graph.num_nodes(), source);
  const auto changed = engine.template fill<std::uint32_t>(1, 0);
  memory.give(kernel, "source");
  memory.give_weights(kernel);
  kernel.set("nodes", graph.num_nodes()).set("x", old.data()).set("y", found.data());
  kernel.set("changed", changed.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<Distance> result = distances(found);
  return outcome(
      in_words(graph), report, request, [&] { return paths_in_numbers(result); },
      [&] { return check_paths(graph, source, result); });
}

template <class Engine>
Outcome dialect_l_sssp(Engine& engine, ProgramKernel kernel, Request& request) {
  const SourceChoice chosen{request};
  request.settings.check_all_used();
  const auto known = known_graph(request.input, Edges::weighted);
  const Csr& graph = known->csr();
  const Node source = chosen.of(*known);
  check_source("l-sssp", graph, source);
  const DialectGraph memory{engine, graph};
  const DialectLists lists{engine, graph.num_nodes(), source};
  const auto found = distances_from<std::uint32_t>(engine, graph.num_nodes(), source);
  const auto stamps = engine.template fill<std::uint32_t>(graph.num_nodes(), 0);
  memory.give(kernel, "target");
  memory.give_weights(kernel);
  lists.give(kernel);
  kernel.set("distance", found.data()).set("stamp", stamps.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<Distance> result = distances(found);
  return outcome(
      in_words(graph), report, request, [&] { return paths_in_numbers(result); },
      [&] { return check_paths(graph, source, result); });
}

}  // namespace cohort::apps::detail
