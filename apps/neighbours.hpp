// Reads a word of each neighbour of a node.
#pragma once

#include "apps/share.hpp"
#include "graph/csr.hpp"

/// Attribute for lambdas passed to for_neighbours(). It uses them in two places, so compilers would
/// not inline them on their own.
#define COHORT_APPS_INLINE __attribute__((always_inline))

namespace cohort::apps {

/// Calls `visit(other, words[other])` for the neighbours that `wants` accepts, until it returns
/// false. Relaxed.
template <class Group, class Word, class Wants, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_neighbours(const Group& group, const CsrView& graph,
                                                   Node node, Word* words, Wants wants,
                                                   Visit visit) {
  if (group.alone()) {
    for (const Node other : graph.neighbours(node)) {
      if (wants(other) && !visit(other, group.atomic(words[other]).load())) return;
    }
    return;
  }
  // On a GPU loads take long, so several are issued at a time.
  constexpr std::uint32_t at_once = 4;
  const std::uint64_t end = graph.first_edge(node + 1);
  for (std::uint64_t edge = graph.first_edge(node); edge < end; edge += at_once) {
    const auto left = static_cast<std::uint32_t>(least(end - edge, at_once));
    Node other[at_once];
    bool wanted[at_once];
    Word word[at_once];
    for (std::uint32_t k = 0; k < at_once; ++k) other[k] = k < left ? graph.target(edge + k) : node;
    for (std::uint32_t k = 0; k < at_once; ++k) {
      wanted[k] = k < left && wants(other[k]);
      word[k] = wanted[k] ? group.atomic(words[other[k]]).load() : Word{};
    }
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (wanted[k] && !visit(other[k], word[k])) return;
    }
  }
}

}  // namespace cohort::apps
