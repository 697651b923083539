// Reads a word of each neighbour of a node.
#pragma once

#include "apps/share.hpp"
#include "graph/csr.hpp"

/// Attribute for lambdas passed to for_neighbours(), which uses them in two places. Without the
/// attribute, compilers would not inline them.
#define COHORT_APPS_INLINE __attribute__((always_inline))

namespace cohort::apps {

/// Calls `visit(other, words[other])` for each of `count` nodes that `wants` accepts, until `visit`
/// returns false. `visit` may overwrite the entries up to its current node. Relaxed.
template <class Group, class Nodes, class Word, class Wants, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_words(const Group& group, Nodes nodes, std::size_t count,
                                              Word* words, Wants wants, Visit visit) {
  if (group.alone()) {
    for (std::size_t i = 0; i < count; ++i) {
      const Node other = nodes[i];
      if (wants(other) && !visit(other, group.atomic(words[other]).load())) return;
    }
    return;
  }
  // On a GPU a load takes long, so the loop issues several at a time.
  constexpr std::uint32_t at_once = 4;
  for (std::size_t i = 0; i < count; i += at_once) {
    const auto left = static_cast<std::uint32_t>(least(count - i, at_once));
    Node other[at_once];
    bool wanted[at_once];
    Word word[at_once];
    for (std::uint32_t k = 0; k < at_once; ++k) other[k] = k < left ? Node{nodes[i + k]} : 0;
    for (std::uint32_t k = 0; k < at_once; ++k) {
      wanted[k] = k < left && wants(other[k]);
      word[k] = wanted[k] ? group.atomic(words[other[k]]).load() : Word{};
    }
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (wanted[k] && !visit(other[k], word[k])) return;
    }
  }
}

/// The same for the neighbours of a node.
template <class Group, class Word, class Wants, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_neighbours(const Group& group, const CsrView& graph,
                                                   Node node, Word* words, Wants wants,
                                                   Visit visit) {
  for_words(group, graph.targets() + graph.first_edge(node), graph.degree(node), words, wants,
            visit);
}

}  // namespace cohort::apps
