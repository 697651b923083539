// Graph colouring, largest degree first (Welsh and Powell 1967, in parallel: Jones and Plassmann
// 1993), with one resizing barrier a sweep. A node takes the least colour that no neighbour of
// higher priority has. It need not wait until all these neighbours are coloured: it takes the
// colour as soon as no open one of them can take it (Alabandi, Powers and Burtscher, PPoPP 2020).
// The result equals that of the sequential greedy algorithm in this order.
// Invariant: a colour is set once. The colours that an open node's word excludes are never its own.
#pragma once

#include "apps/color/paper.hpp"
#include "apps/neighbours.hpp"
#include "apps/sweep.hpp"

namespace cohort::apps {

/// The colour of a node. While the node is open, the word instead holds the colours that the node
/// cannot have: all colours below `least`, and colour `least` + i for each set bit i of `closed`.
struct ColourWord {
  static constexpr std::uint32_t window = 32;  // number of bits in `closed`
  static constexpr std::uint64_t open_bit = std::uint64_t{1} << 63U;

  std::uint64_t bits = open_bit;

  COHORT_FN static constexpr ColourWord open(std::uint32_t least, std::uint32_t closed) {
    return {open_bit | std::uint64_t{least} << 32U | closed};
  }
  [[nodiscard]] COHORT_FN constexpr bool is_open() const { return (bits & open_bit) != 0; }
  /// The node's colour, or for an open node a lower bound on the colours that it may still take.
  [[nodiscard]] COHORT_FN constexpr std::uint32_t least() const {
    return static_cast<std::uint32_t>(is_open() ? (bits & ~open_bit) >> 32U : bits);
  }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t closed() const {
    return static_cast<std::uint32_t>(bits);
  }
  /// The set of colours that an open node may take: bit i stands for colour `base` + i.
  [[nodiscard]] COHORT_FN constexpr std::uint32_t may_take(std::uint32_t base) const {
    const std::uint32_t first = least();
    if (first >= base) return first - base < window ? ~closed() << (first - base) : 0;
    const std::uint32_t below = base - first;
    return below < window ? ~closed() >> below | ~0U << (window - below) : ~0U;
  }
};

/// What a node has learned about its neighbours of higher priority.
struct Palette {
  std::uint32_t base = 0;    // the node's colour is at least this
  std::uint32_t closed = 0;  // bit i: the node cannot take colour base + i
  std::uint32_t wanted = 0;  // bit i: an open neighbour may take colour base + i
  Node rival = 0;            // last neighbour seen that may take the best colour known at that time
  ColourWord its;            // the rival's word; if it holds a colour, there is no rival

  /// Records a neighbour's word. Returns whether the node has to look at this neighbour again.
  COHORT_FN bool see(Node other, ColourWord word) {
    if (word.is_open()) {
      const std::uint32_t bits = word.may_take(base);
      wanted |= bits;
      if ((bits & ~closed & (closed + 1)) != 0) {
        rival = other;
        its = word;
      }
      return true;
    }
    const std::uint32_t colour = word.least();
    if (colour < base) return false;
    if (colour - base >= ColourWord::window) return true;
    closed |= 1U << (colour - base);
    return false;
  }
  /// Its neighbours take at most `more` colours in addition to the closed ones, so the node needs
  /// no colour above that.
  COHORT_FN void limit(std::uint32_t more) {
    const std::uint32_t most_taken = num_bits(closed) + more;
    if (most_taken < ColourWord::window - 1) closed |= ~0U << (most_taken + 1);
  }
  /// Whether all colours of the window are taken. The node then has to look at its neighbours
  /// again.
  [[nodiscard]] COHORT_FN bool full() const { return closed == ~0U; }
  COHORT_FN void move_on() {
    base += ColourWord::window;
    closed = wanted = 0;
    its = {0};
  }
  /// Makes `base` the least colour that is not excluded. Returns whether it is the node's colour.
  COHORT_FN bool settle() {
    while ((closed & 1U) != 0) {
      closed >>= 1U;
      wanted >>= 1U;
      ++base;
    }
    return (wanted & 1U) == 0;
  }
};

/// What is stored about an open node: a rival to wait for, if any, and the number of neighbours in
/// its list.
struct alignas(8) OpenNode {
  static constexpr Node no_node = ~Node{0};

  Node waits_for = no_node;
  std::uint32_t listed = 0;
};

struct LargestFirst {
  using State = Sweep::State;

  CsrView graph;
  Ranking ranking;
  std::uint64_t* words;  // one ColourWord per node
  OpenNode* open;
  Node* lists;  // stored where the node's edges are: neighbours of higher priority to look at again
  Sweep sweep;
  std::uint64_t num_edges;
  // In groups of many threads: the longest list that one thread goes through alone.
  std::uint32_t longest_list;

  /// For a checkpoint: all memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    visit("words", words, graph.num_nodes());
    visit("open nodes", open, graph.num_nodes());
    visit("lists", lists, num_edges);
    sweep.buffers(visit);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    // The first sweep only lists those neighbours of hubs that have a higher priority.
    const bool first = state.turn == 0;
    return sweep.step(
        group, state, first, [&](const HubPiece& piece) { list(group, piece); },
        [&](Node node) {
          if (!first) return look_again(group, node);
          return graph.degree(node) > sweep.cuts.most_edges ? Verdict::open : look(group, node);
        },
        [&](Node node) { return look_together(group, node); });
  }

 private:
  /// Lists a hub's neighbours of higher priority. They are few, because they are hubs too.
  template <class Group>
  COHORT_FN void list(Group& group, const HubPiece& piece) const {
    const std::uint64_t own = ranking.of(piece.hub);
    const auto to = group.view(lists + graph.first_edge(piece.hub));
    std::uint32_t& listed = open[piece.hub].listed;
    if (!group.alone()) {
      for (const std::size_t i : group.local_stride(piece.count)) {
        const Node other = graph.target(piece.begin + i);
        if (ranking.of(other) > own) to[group.claim(listed)] = other;
      }
      return;
    }
    constexpr std::uint32_t room = 64;  // number of places that a thread claims at a time
    Node found[room];
    std::uint32_t count = 0;
    const auto flush = [&] {
      const std::uint32_t place = group.atomic(listed).fetch_add(count);
      for (std::uint32_t i = 0; i < count; ++i) to[place + i] = found[i];
      count = 0;
    };
    for (std::uint64_t edge = piece.begin; edge < piece.end(); ++edge) {
      const Node other = graph.target(edge);
      if (ranking.of(other) <= own) continue;
      found[count++] = other;
      if (count == room) flush();
    }
    if (count > 0) flush();
  }

  /// A node's first visit: looks at all its neighbours.
  template <class Group>
  COHORT_FN Verdict look(Group& group, Node node) const {
    const std::uint64_t own = ranking.of(node);
    const auto list = group.view(lists + graph.first_edge(node));
    Palette palette{.its = {0}};
    std::uint32_t kept = 0;
    // Relaxed, here and below: only the word itself is read, and a colour that it excludes stays
    // excluded. Skips neighbours of lower priority, and in a self loop the node itself.
    for_neighbours(
        group, graph, node, words,
        [&](Node other) COHORT_APPS_INLINE { return ranking.of(other) > own; },
        [&](Node other, std::uint64_t word) COHORT_APPS_INLINE {
          if (palette.see(other, {word})) list[kept++] = other;
          return true;
        });
    return conclude(group, node, palette, kept) ? Verdict::decided : Verdict::open;
  }

  /// Whether an open node still waits for its rival, which may take the colour that the node wants.
  template <class Group>
  COHORT_FN bool waits(const Group& group, const OpenNode& its, ColourWord own) const {
    if (its.waits_for == OpenNode::no_node) return false;
    const ColourWord other{group.atomic(words[its.waits_for]).load()};
    return other.is_open() && (other.may_take(own.least()) & 1U) != 0;
  }

  /// A later visit: looks only at the listed neighbours.
  template <class Group>
  COHORT_FN Verdict look_again(Group& group, Node node) const {
    const OpenNode its = group.view(static_cast<const OpenNode*>(open))[node];
    const ColourWord own{group.atomic(words[node]).load()};
    if (waits(group, its, own)) return Verdict::open;
    if (!group.alone() && sweep.cuts.uneven && its.listed > longest_list) return Verdict::together;
    const auto list = group.view(lists + graph.first_edge(node));
    Palette palette{.base = own.least(), .closed = own.closed(), .its = {0}};
    std::uint32_t kept = its.listed;
    for (;;) {
      const std::uint32_t count = kept;
      kept = 0;
      for_words(
          group, list, count, words, [](Node) COHORT_APPS_INLINE { return true; },
          [&](Node other, std::uint64_t word) COHORT_APPS_INLINE {
            if (palette.see(other, {word})) list[kept++] = other;
            return true;
          });
      if (!palette.full()) break;
      palette.move_on();
    }
    return conclude(group, node, palette, kept) ? Verdict::decided : Verdict::open;
  }

  /// The same, done by all threads of the group.
  template <class Group>
  COHORT_FN bool look_together(Group& group, Node node) const {
    const ColourWord own{group.atomic(words[node]).load()};
    const auto list = group.view(lists + graph.first_edge(node));
    const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
    const auto either = [](std::uint32_t a, std::uint32_t b) { return a | b; };
    Palette palette{.base = own.least(), .closed = own.closed(), .its = {0}};
    const OpenNode its = group.view(static_cast<const OpenNode*>(open))[node];
    std::uint32_t kept = its.listed;
    for (;;) {
      const std::uint32_t count = kept;
      kept = 0;
      for (std::uint32_t base = 0; base < count; base += group.local_size()) {
        const std::uint32_t i = base + group.local_id();
        const Node other = i < count ? Node{list[i]} : 0;
        const std::uint32_t keep =
            i < count && palette.see(other, {group.atomic(words[other]).load()}) ? 1 : 0;
        // As in Sweep: every thread has read its entries before the scan ends, and no thread writes
        // beyond the entries read.
        const std::uint32_t before = group.exclusive_scan(keep, std::uint32_t{0}, plus);
        if (keep != 0) list[kept + before] = other;
        kept += group.broadcast(before + keep, group.local_size() - 1);
      }
      palette.closed = group.reduce(palette.closed, either);
      palette.wanted = group.reduce(palette.wanted, either);
      if (!palette.full()) break;
      palette.move_on();
    }
    // All threads have read the word and the number of listed nodes. The threads may have found
    // different rivals; any of them will do.
    const std::uint32_t rival =
        group.reduce(palette.its.is_open() ? group.local_id() + 1 : 0,
                     [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; });
    bool decided = false;
    if (group.local_id() == (rival == 0 ? 0 : rival - 1))
      decided = conclude(group, node, palette, kept);
    return group.broadcast(decided, rival == 0 ? 0 : rival - 1);
  }

  /// Ends a visit: colours the node, or leaves it open. Publishes the colours that it cannot take
  /// to its neighbours of lower priority. The list keeps the `kept` neighbours that still matter.
  template <class Group>
  COHORT_FN bool conclude(const Group& group, Node node, Palette& palette,
                          std::uint32_t kept) const {
    // If the window is full, the node has to look again.
    const bool full = palette.full();
    if (full) palette.move_on();
    palette.limit(kept);
    const bool decided = palette.settle() && !full;
    group.atomic(words[node])
        .store(decided ? palette.base : ColourWord::open(palette.base, palette.closed).bits);
    if (decided) return true;
    const bool rival = palette.its.is_open() && (palette.its.may_take(palette.base) & 1U) != 0;
    group.view(open)[node] =
        OpenNode{.waits_for = rival ? palette.rival : OpenNode::no_node, .listed = kept};
    return false;
  }
};

}  // namespace cohort::apps
