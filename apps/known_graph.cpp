#include "apps/known_graph.hpp"

#include "apps/inputs.hpp"
#include "cohort/error.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

GraphInput known_graph(const std::string& spec, Edges edges) {
  for (const SpecKind& other : {particles_spec, connect4_spec}) {
    if (kind_of(spec) == kind_of(other.syntax)) {
      throw Error{Errc::bad_options, "input '" + spec + "': " + std::string{other.summary} +
                                         "; this app runs on a graph, as in grid:1000x1000"};
    }
  }
  return shared_input<KnownGraph>(
      spec + " with edges " + std::to_string(static_cast<int>(edges)), [&] {
        Csr graph = load_graph(spec);
        switch (edges) {
          case Edges::as_they_are: break;
          case Edges::weighted: return with_weights(std::move(graph));
          case Edges::undirected: return is_symmetric(graph) ? std::move(graph) : symmetrise(graph);
        }
        return graph;
      });
}

GraphInput tiny_graph() {
  Csr graph;
  graph.offsets = {0, 2, 4, 6, 9, 10, 10};
  graph.targets = {1, 2, 0, 3, 0, 3, 1, 2, 4, 3};
  graph.weights = {5, 1, 5, 1, 1, 2, 1, 2, 1, 1};
  return std::make_shared<const KnownGraph>(std::move(graph));
}

}  // namespace cohort::apps
