// The five graph applications of the dialect.
#include <algorithm>

#include "apps/bfs/app.hpp"
#include "apps/color/app.hpp"
#include "apps/dialect/dialect.hpp"
#include "apps/mis/app.hpp"
#include "apps/p_sssp/app.hpp"

namespace cohort::apps::detail {
namespace {

using Numbers = std::vector<std::pair<std::string, std::int64_t>>;

constexpr std::uint32_t unreached = ~0U;

/// A graph as the kernels read it: edges are counted in 32 bits.
class DialectGraph {
 public:
  DialectGraph(opencl::Engine& engine, const Csr& graph)
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
  DialectLists(opencl::Engine& engine, Node nodes, Node source)
      : lists_{engine.fill<Node>(nodes, source), engine.fill<Node>(nodes, 0)},
        sizes_(engine.upload(std::vector<std::uint32_t>{1, 0})) {}
  void give(ProgramKernel& kernel) const {
    kernel.set("list0", lists_[0].data()).set("list1", lists_[1].data());
    kernel.set("size0", sizes_.data()).set("size1", sizes_.data() + 1);
  }

 private:
  std::array<Buffer<Node>, 2> lists_;
  Buffer<std::uint32_t> sizes_;
};

/// `unreached` everywhere but at the source.
Buffer<std::uint32_t> start_at(opencl::Engine& engine, Node nodes, Node source) {
  std::vector<std::uint32_t> values(nodes, unreached);
  values[source] = 0;
  return engine.upload(values);
}

std::vector<Distance> distances(const Buffer<std::uint32_t>& buffer) {
  std::vector<Distance> result;
  for (const std::uint32_t each : buffer.read())
    result.push_back(each == unreached ? infinite : each);
  return result;
}

Csr undirected(const std::string& spec) {
  Csr graph = load_graph(spec);
  return is_symmetric(graph) ? graph : symmetrise(graph);
}

}  // namespace

Outcome dialect_bfs(opencl::Engine& engine, ProgramKernel kernel, Request& request) {
  const SourceChoice chosen{request};
  request.settings.check_all_used();
  const Csr graph = load_graph(request.input);
  const Node source = chosen.of(graph);
  check_source("bfs", graph, source);
  const DialectGraph memory{engine, graph};
  const DialectLists lists{engine, graph.num_nodes(), source};
  const auto levels = start_at(engine, graph.num_nodes(), source);
  memory.give(kernel, "target");
  lists.give(kernel);
  kernel.set("level_of", levels.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<std::uint32_t> result = levels.read();
  return outcome(
      in_words(graph), report, request.verify,
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

Outcome dialect_color(opencl::Engine& engine, ProgramKernel kernel, Request& request) {
  request.settings.check_all_used();
  const Csr graph = undirected(request.input);
  const DialectGraph memory{engine, graph};
  const auto colours = engine.fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{uncoloured});
  const auto highest = engine.fill<Node>(graph.num_nodes(), 0);
  const auto more = engine.fill<std::uint32_t>(2, 0);
  memory.give(kernel, "target");
  kernel.set("nodes", graph.num_nodes()).set("colour", colours.data());
  kernel.set("highest", highest.data()).set("more", more.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<std::uint32_t> result = colours.read();
  return outcome(
      in_words(graph), report, request.verify,
      [&] {
        const auto last = std::max_element(result.begin(), result.end());
        return Numbers{{"colours", last == result.end() ? 0 : std::int64_t{*last} + 1}};
      },
      [&] { return check_color(graph, Priority::hashed, result); });
}

Outcome dialect_mis(opencl::Engine& engine, ProgramKernel kernel, Request& request) {
  request.settings.check_all_used();
  const Csr graph = undirected(request.input);
  const DialectGraph memory{engine, graph};
  const auto marks = engine.fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{undecided});
  const auto lowest = engine.fill<Node>(graph.num_nodes(), 0);
  const auto drop = engine.fill<std::uint32_t>(graph.num_nodes(), 0);
  const auto left = engine.fill<std::uint32_t>(1, 0);
  memory.give(kernel, "target");
  kernel.set("nodes", graph.num_nodes()).set("mark", marks.data()).set("lowest", lowest.data());
  kernel.set("drop", drop.data()).set("undecided_left", left.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<std::uint32_t> result = marks.read();
  return outcome(
      in_words(graph), report, request.verify,
      [&] {
        return Numbers{{"size", std::count(result.begin(), result.end(), std::uint32_t{Mark::in})}};
      },
      [&] { return check_mis(graph, Priority::hashed, result); });
}

Outcome dialect_p_sssp(opencl::Engine& engine, ProgramKernel kernel, Request& request) {
  const SourceChoice chosen{request};
  request.settings.check_all_used();
  const Csr graph = with_weights(load_graph(request.input));
  const Node source = chosen.of(graph);
  check_source("p-sssp", graph, source);
  const DialectGraph memory{engine, transpose(graph)};
  const auto old = engine.fill<std::uint32_t>(graph.num_nodes(), std::uint32_t{unreached});
  const auto found = start_at(engine, graph.num_nodes(), source);
  const auto changed = engine.fill<std::uint32_t>(1, 0);
  memory.give(kernel, "source");
  memory.give_weights(kernel);
  kernel.set("nodes", graph.num_nodes()).set("x", old.data()).set("y", found.data());
  kernel.set("changed", changed.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<Distance> result = distances(found);
  return outcome(
      in_words(graph), report, request.verify, [&] { return paths_in_numbers(result); },
      [&] { return check_paths(graph, source, result); });
}

Outcome dialect_l_sssp(opencl::Engine& engine, ProgramKernel kernel, Request& request) {
  const SourceChoice chosen{request};
  request.settings.check_all_used();
  const Csr graph = with_weights(load_graph(request.input));
  const Node source = chosen.of(graph);
  check_source("l-sssp", graph, source);
  const DialectGraph memory{engine, graph};
  const DialectLists lists{engine, graph.num_nodes(), source};
  const auto found = start_at(engine, graph.num_nodes(), source);
  const auto stamps = engine.fill<std::uint32_t>(graph.num_nodes(), 0);
  memory.give(kernel, "target");
  memory.give_weights(kernel);
  lists.give(kernel);
  kernel.set("distance", found.data()).set("stamp", stamps.data());
  const Report report = see_through(engine, kernel, request.options);
  const std::vector<Distance> result = distances(found);
  return outcome(
      in_words(graph), report, request.verify, [&] { return paths_in_numbers(result); },
      [&] { return check_paths(graph, source, result); });
}

}  // namespace cohort::apps::detail
