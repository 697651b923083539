// What lies at the other ends of a node's edges. Whoever waits for what it reads, as a thread of a
// GPU does, asks for several at a time.
#pragma once

#include "apps/share.hpp"
#include "graph/csr.hpp"

namespace cohort::apps {

namespace detail {

template <std::uint32_t at_once, class Group, class Word, class Wants, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_ends(const Group& group, const CsrView& graph, Node node,
                                             Word* words, Wants wants, Visit visit) {
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
      if (wanted[k] && !visit(edge + k, other[k], word[k])) return;
    }
  }
}

}  // namespace detail

/// Calls `visit(edge, other, word)` for the edges of `node` whose other end is wanted, until it
/// returns false; `word` is what `words` has for that end. Relaxed.
template <class Group, class Word, class Wants, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_ends(const Group& group, const CsrView& graph, Node node,
                                             Word* words, Wants wants, Visit visit) {
  if (group.alone()) {
    detail::for_ends<1>(group, graph, node, words, wants, visit);
  } else {
    detail::for_ends<4>(group, graph, node, words, wants, visit);
  }
}

}  // namespace cohort::apps
