#include "apps/known_graph.hpp"

#include "apps/inputs.hpp"
#include "apps/kept.hpp"
#include "cohort/error.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

std::shared_ptr<const KnownGraph> known_graph(const std::string& spec, Edges edges) {
  for (const SpecKind& other : {particles_spec, connect4_spec}) {
    if (kind_of(spec) == kind_of(other.syntax)) {
      throw Error{Errc::bad_options, "input '" + spec + "': " + std::string{other.summary} +
                                         "; this app runs on a graph, as in grid:1000x1000"};
    }
  }
  const auto load = [&] {
    Csr graph = load_graph(spec);
    switch (edges) {
      case Edges::as_they_are: break;
      case Edges::weighted: return with_weights(std::move(graph));
      case Edges::undirected: return is_symmetric(graph) ? std::move(graph) : symmetrise(graph);
    }
    return graph;
  };
  return kept<KnownGraph>(spec + " with edges " + std::to_string(static_cast<int>(edges)), load);
}

}  // namespace cohort::apps
