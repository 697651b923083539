#include "apps/known_graph.hpp"

#include "apps/kept.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {

std::shared_ptr<const KnownGraph> known_graph(const std::string& spec, Edges edges) {
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
