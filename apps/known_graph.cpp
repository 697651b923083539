#include "apps/known_graph.hpp"

#include <cstdint>
#include <functional>

#include "apps/inputs.hpp"
#include "cohort/error.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

namespace {

/// The graphs of every NamedGraph, by spec. Each variant that the apps want is made once and kept.
struct NamedGraphs {
  using Forms = std::array<GraphInput, 3>;
  std::mutex mutex;
  std::map<std::string, Forms, std::less<>> all;
  std::uint64_t made = 0;
};
NamedGraphs& named_graphs() {
  // Leaked: a NamedGraph may be destroyed as late as process exit.
  static auto& graphs = *new NamedGraphs;
  return graphs;
}

Csr with_edges(Csr graph, Edges edges) {
  switch (edges) {
    case Edges::as_they_are: break;
    case Edges::weighted: return with_weights(std::move(graph));
    case Edges::undirected: return is_symmetric(graph) ? std::move(graph) : symmetrise(graph);
  }
  return graph;
}

}  // namespace

NamedGraph::NamedGraph(Csr graph) : num_nodes_(graph.num_nodes()) {
  auto& graphs = named_graphs();
  const auto input = std::make_shared<const KnownGraph>(std::move(graph));
  const std::scoped_lock lock{graphs.mutex};
  spec_ = "memory:" + std::to_string(++graphs.made);
  graphs.all[spec_][0] = input;
}

NamedGraph::~NamedGraph() {
  auto& graphs = named_graphs();
  NamedGraphs::Forms forgotten;
  const std::scoped_lock lock{graphs.mutex};
  if (const auto found = graphs.all.find(spec_); found != graphs.all.end()) {
    forgotten = std::move(found->second);
    graphs.all.erase(found);
  }
}

GraphInput known_graph(const std::string& spec, Edges edges) {
  if (auto& graphs = named_graphs(); spec.starts_with("memory:")) {
    const std::scoped_lock lock{graphs.mutex};
    if (const auto found = graphs.all.find(spec); found != graphs.all.end()) {
      GraphInput& form = found->second[static_cast<std::size_t>(edges)];
      if (form == nullptr) {
        const Csr& given = found->second[0]->csr();
        const bool fits =
            // Without weights, each edge has weight 1.
            edges != Edges::undirected || is_symmetric(given);
        form =
            fits ? found->second[0] : std::make_shared<const KnownGraph>(with_edges(given, edges));
      }
      return form;
    }
  }
  for (const SpecKind& other : other_specs) {
    if (kind_of(spec) == kind_of(other.syntax)) {
      throw Error{Errc::bad_options, "input '" + spec + "': " + std::string{other.summary} +
                                         "; this app runs on a graph, as in grid:1000x1000"};
    }
  }
  return shared_input<KnownGraph>(spec + " with edges " + std::to_string(static_cast<int>(edges)),
                                  [&] { return with_edges(load_graph(spec), edges); });
}

GraphInput tiny_graph() {
  Csr graph;
  graph.offsets = {0, 2, 4, 6, 9, 10, 10};
  graph.targets = {1, 2, 0, 3, 0, 3, 1, 2, 4, 3};
  graph.weights = {5, 1, 5, 1, 1, 2, 1, 2, 1, 1};
  return std::make_shared<const KnownGraph>(std::move(graph));
}

}  // namespace cohort::apps
