// Breadth-first search with one resizing barrier per level, or fewer while levels are small: group
// 0 then runs several alone. Dense levels are searched from the unreached nodes (direction
// optimisation, Beamer, Asanović and Patterson 2012).
// Invariant: all groups derive a step's plan from words that no group writes during that step.
#pragma once

#include <type_traits>

#include "apps/bfs/paper.hpp"
#include "apps/degrees.hpp"

namespace cohort::apps {

/// Depends on the degrees: with many edges per node the search may go upwards; with few, a list
/// entry says where the node's edges are.
template <Degrees degrees>
struct Bfs {
  static constexpr bool paper_barriers = true;
  static constexpr bool both_directions = degrees == Degrees::many;
  static constexpr bool few_edges = degrees == Degrees::few;
  enum class Mode : std::uint32_t {
    down,      // from the nodes of a list to their targets
    to_bits,   // the list becomes a bitmap
    up,        // from the unreached nodes to nodes of the bitmap
    to_nodes,  // the bitmap becomes a list
  };
  /// Group 0's instructions for the next step. No padding: nvcc copies padded structs byte by byte.
  struct alignas(8) Directive {
    std::uint32_t level = 0;
    Mode mode = Mode::down;
  };
  /// Input for choosing a direction. It is a struct of its own, so that kernels without a choice do
  /// not load it.
  struct alignas(8) Outlook {
    std::uint64_t edges_left = 0;  // edges of nodes not yet in a frontier
    std::uint64_t frontier = 0;    // nodes of the last level, when going up
    std::uint64_t was_up = 0;      // 1 if the last level went up
  };
  struct State {
    std::uint32_t turn = 0;  // number of steps, not counting portions
    std::uint64_t at = 0;    // progress within this turn, if steps are short
  };                         // all that a joining group receives
  using Local = std::conditional_t<few_edges, Nothing, ChunkOfNodes>;

  CsrView graph;
  CsrView incoming;        // the graph with every edge reversed, for going up
  Worklist lists[3];       // by turn modulo 3: one is read, the next filled, the last cleared
  std::uint64_t* bits[3];  // by turn modulo 3, as above; one bit per node
  // One bit per unreached node with incoming edges, while levels go up. Only for groups of one
  // thread. Null if the job may continue with larger groups, which do not maintain it.
  std::uint64_t* open;
  Directive* plans;   // by turn modulo 2
  Outlook* outlooks;  // by turn modulo 2
  Levels levels;
  std::uint64_t chunk;  // nodes per group and step; 0: a whole level; or even_chunk
  std::uint32_t solo;   // one direction: frontiers up to this size run on group 0 alone

  /// A node's entry in the lists.
  COHORT_FN static constexpr Node entry(const CsrView& graph, Node node) {
    return few_edges ? FewEdges{graph, node}.word() : node;
  }

  /// All memory that changes during a run.
  template <class Visit>
  void buffers(Visit& visit) const {
    constexpr const char* bit_names[3] = {"bits 0", "bits 1", "bits 2"};
    const std::size_t nodes = graph.num_nodes();
    for (std::uint32_t i = 0; i < 3; ++i) {
      lists[i].buffers(visit, std::to_string(i), nodes);
      visit(bit_names[i], bits[i], both_directions ? nodes / 64 + 1 : 0);
    }
    visit("open", open, open != nullptr ? nodes / 64 + 1 : 0);
    visit("plans", plans, 2);
    visit("outlooks", outlooks, 2);
    visit("levels", levels.of, nodes);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    const Worklist& list = lists[state.turn % 3];
    if constexpr (!both_directions) list.ahead(group, graph.num_nodes());
    Directive plan = group.view(plans)[state.turn % 2];
    if constexpr (both_directions) {
      return either_way(group, state, plan, list.total(group));
    } else {
      const std::size_t size = list.size(group);
      return size <= solo ? alone(group, state, plan, size)
                          : down(group, state, plan, Outlook{}, size);
    }
  }

 private:
  /// Switches to going up when the frontier has a large part of the remaining edges, and back to
  /// going down when the frontier is small.
  template <class Group>
  COHORT_FN Next either_way(Group& group, State& state, Directive& plan, const Count& all) const {
    Outlook outlook = group.view(outlooks)[state.turn % 2];
    const std::size_t size = all.nodes;
    if (plan.mode == Mode::down) {
      if (outlook.was_up == 0) {
        outlook.edges_left -= least(all.edges, outlook.edges_left);
        if (all.edges > outlook.edges_left / 15) plan.mode = Mode::to_bits;
      }
    } else if (plan.mode == Mode::up) {
      if (size < outlook.frontier && size < graph.num_nodes() / 18) plan.mode = Mode::to_nodes;
      outlook.frontier = size;
    }
    switch (plan.mode) {
      case Mode::down: return down(group, state, plan, outlook, size);
      case Mode::to_bits: return to_bits(group, state, plan, outlook, size);
      case Mode::up: return up(group, state, plan, outlook);
      case Mode::to_nodes: return to_nodes(group, state, plan, outlook);
    }
    return Next::halt;
  }

  /// Ends a turn, or a portion of it.
  template <class Group>
  COHORT_FN void conclude(Group& group, State& state, const Portion& now, const Directive& next,
                          const Outlook& outlook) const {
    state.at = now.last ? 0 : now.end;
    if (group.global_id() == 0) {
      group.view(plans)[(state.turn + 1) % 2] = next;
      if constexpr (both_directions) group.view(outlooks)[(state.turn + 1) % 2] = outlook;
      if (now.last) lists[(state.turn + 2) % 3].clear(group);
    }
    if (now.last) ++state.turn;
  }

  /// Visits a piece of a frontier. Counts the edges of newly reached nodes if directions are
  /// chosen. `early`: claims list places before knowing whether they are needed.
  template <class Group, class... Some>
  COHORT_FN void visit(Group& group, const Node* nodes, std::size_t count, Sink<Group>& sink,
                       std::uint32_t level, std::uint64_t& edges, bool early, Some... part) const {
    if constexpr (few_edges) {
      visit_few(group, nodes, count, sink, level, early);
    } else {
      // In graphs with few edges, half of the edges lead to new nodes. On a GPU, testing first
      // would cost a round trip.
      const bool rarely = !both_directions && !group.alone();
      expand(
          group, graph, group.local(), nodes, count, sink, [](Node) { return 0U; },
          [of = levels.of](Node target) { prefetch(of + target); },
          [group, &edges, graph = graph, levels = levels, level, rarely](
              std::uint32_t, std::uint64_t, Node target) {
            const bool reached = levels.reach(group, target, level, rarely);
            if (both_directions && reached) edges += graph.degree(target);
            return reached;
          },
          part...);
    }
  }
  template <class Group>
  COHORT_FN void visit_few(Group& group, const Node* nodes, std::size_t count, Sink<Group>& sink,
                           std::uint32_t level, bool early) const {
    expand_few(
        group, graph, nodes, count, [](std::uint32_t word) { return FewEdges{word}; },
        [group, graph = graph, levels = levels, level, early, &sink](FewEdges, std::uint64_t,
                                                                     Node target) {
          const std::uint32_t place = early ? sink.claim() : 0;  // overlaps the load of the target
          const Node its = entry(graph, target);                 // overlaps reach()
          const bool reached = levels.reach(group, target, level, !group.alone());
          if (early) {
            sink.put(place, reached ? its : empty_place);
          } else if (reached) {
            sink.push(its);
          }
        });
  }

  template <class Group>
  COHORT_FN Next down(Group& group, State& state, Directive& plan, const Outlook& outlook,
                      std::size_t size) const {
    const Worklist& in = lists[state.turn % 3];
    const Portion now = portion(group, state.at, size, chunk, both_directions ? work_of_hubs : 1);
    const bool early = few_edges && now.begin == 0 && now.last &&
                       Worklist::claims_early(group, size, most_few_edges, graph.num_nodes());
    Sink sink{group, lists[(state.turn + 1) % 3]};
    std::uint64_t edges = 0;
    const auto visit_some = [&](const Node* nodes, std::size_t count, auto... part) {
      visit(group, nodes, count, sink, plan.level + 1, edges, early, part...);
    };
    if constexpr (both_directions) {
      in.for_edges(group, now.begin, now.end, visit_some);
      sink.close(edges);
    } else {
      in.for_part(group, now.begin, now.end, visit_some);
      sink.close();
    }
    if (now.last) ++plan.level;
    // Other groups' counts matter only if an earlier portion may have filled them.
    const bool any = sink.any() || (now.begin > 0 && lists[(state.turn + 1) % 3].size(group) > 0);
    conclude(group, state, now, plan, outlook);
    return !now.last || any ? Next::again : Next::halt;
  }

  /// Small levels run on group 0 alone, while the others wait in the barrier. Returns when a level
  /// has become large, and often enough to be resized.
  template <class Group>
  COHORT_FN Next alone(Group& group, State& state, Directive& plan, std::size_t size) const {
    const std::uint32_t turn = state.turn;
    ++state.turn;
    state.at = 0;  // a group of another size may have begun this level
    if (group.group_id() != 0) return Next::halt;
    const Worklist& one = lists[(turn + 1) % 3];
    const Worklist& other = lists[(turn + 2) % 3];
    const auto level_into = [&](const Worklist& in, std::size_t its_size, const Worklist& out) {
      Sink sink{group, out};
      std::uint64_t edges = 0;
      ++plan.level;
      in.for_range(group, 0, its_size, [&](const Node* nodes, std::size_t count) {
        visit(group, nodes, count, sink, plan.level, edges, false);
      });
      sink.close();
      group.barrier();
      return out.size(group);
    };
    const auto clear = [&](const Worklist& list) {
      group.barrier();
      if (group.local_id() == 0) list.clear(group);
      group.barrier();
    };

    clear(other);
    size = level_into(lists[turn % 3], size, one);
    for (std::size_t done = size; size > 0 && size <= solo && done < std::size_t{16} * solo;) {
      const std::size_t between = level_into(one, size, other);
      clear(one);
      if (between > solo) {
        move_all(group, other, between, one);
        size = between;
      } else {
        size = level_into(other, between, one);
        done += between + size;
      }
      clear(other);
    }
    if (group.local_id() == 0) group.view(plans)[(turn + 1) % 2] = plan;
    return size > 0 ? Next::again : Next::halt;
  }

  template <class Group>
  COHORT_FN void move_all(Group& group, const Worklist& from, std::size_t size,
                          const Worklist& to) const {
    Sink sink{group, to};
    from.for_range(group, 0, size, [&](const Node* nodes, std::size_t count) {
      const auto list = group.view(nodes);
      for (const std::size_t i : group.local_stride(count)) sink.push(list[i]);
    });
    sink.close();
    group.barrier();
  }

  template <class Group>
  COHORT_FN Next to_bits(Group& group, State& state, Directive& plan, Outlook& outlook,
                         std::size_t size) const {
    std::uint64_t* const out = bits[(state.turn + 1) % 3];
    const Portion now = group.alone() ? portion_of_words(group, state.at) : Portion{0, size, true};
    if (group.alone()) {
      words_from_levels(group, now, out, plan.level);
    } else {
      lists[state.turn % 3].for_part(group, 0, now.end, [&](const Node* nodes, std::size_t count) {
        const auto list = group.view(nodes);
        for (const std::size_t i : group.local_stride(count))
          group.atomic(out[list[i] / 64]).fetch_or(std::uint64_t{1} << list[i] % 64);
      });
    }
    plan.mode = Mode::up;
    outlook.was_up = 1;
    outlook.frontier = 0;  // makes the first turn go up, whatever its size
    conclude(group, state, now, plan, outlook);
    return Next::again;
  }

  /// The next nodes of a phase over all nodes. Portions end between two words of a bitmap.
  template <class Group>
  COHORT_FN Portion portion_of_words(const Group& group, std::size_t at) const {
    const std::size_t nodes = chunk_for(group, graph.num_nodes(), chunk);
    return portion(group, at, graph.num_nodes(), (nodes + 63) / 64 * 64);
  }

  /// Calls `visit(word, last)` for this group's words among those of the nodes [begin, end). `last`
  /// ends the block of the word, which is this group's too. Blocks are short, because nodes with
  /// many edges are often found together.
  template <class Group, class Visit>
  COHORT_FN static void for_words_of(const Group& group, std::size_t begin, std::size_t end,
                                     Visit visit) {
    const std::size_t groups = group.num_groups();
    const std::size_t last = (end + 63) / 64;
    const std::size_t block = least(most((last - begin / 64) / (groups * 8), 1), 64);
    for (std::size_t at = begin / 64 + group.group_id() * block; at < last; at += groups * block)
      for (std::size_t word = at; word < least(at + block, last); ++word)
        visit(word, least(at + block, last));
  }

  /// Calls `visit(i)` for each bit `i` of a word that is set.
  template <class Visit>
  COHORT_FN static void for_bits(std::uint64_t word, Visit visit) {
    for (; word != 0; word &= word - 1) visit(first_bit(word));
  }
  COHORT_FN static std::uint32_t first_bit(std::uint64_t word) {
#ifdef __CUDA_ARCH__
    return static_cast<std::uint32_t>(__ffsll(static_cast<long long>(word)) - 1);
#else
    return static_cast<std::uint32_t>(__builtin_ctzll(word));
#endif
  }

  /// The set of nodes of a word for which `holds(node)` is true. For groups of one thread.
  template <class Holds>
  COHORT_FN std::uint64_t word_of(std::size_t word, Holds holds) const {
    const std::size_t begin = word * 64;
    const std::size_t count = least(64, graph.num_nodes() - begin);
    std::uint64_t set = 0;
    for (std::size_t i = 0; i < count; ++i) set |= std::uint64_t{holds(begin + i)} << i;
    return set;
  }

  /// The set of unreached nodes of a word that may have incoming edges.
  template <class Group>
  COHORT_FN std::uint64_t open_nodes(const Group& group, std::size_t word) const {
    if (open != nullptr) return group.view(open)[word];
    const auto level = group.view(static_cast<const std::uint32_t*>(levels.of));
    return word_of(word, [&](std::size_t node) { return level[node] == Levels::unreached; });
  }

  /// For groups of one thread: sets the bits of all nodes of a level, and of open nodes. A pass
  /// over the list of the level would need atomic operations.
  template <class Group>
  COHORT_FN void words_from_levels(const Group& group, const Portion& now, std::uint64_t* out,
                                   std::uint32_t of_level) const {
    const auto level = group.view(static_cast<const std::uint32_t*>(levels.of));
    const std::uint64_t* const offsets = incoming.offsets();
    for_words_of(group, now.begin, now.end, [&](std::size_t word, std::size_t) {
      group.view(out)[word] =
          word_of(word, [&](std::size_t node) { return level[node] == of_level; });
      if (open == nullptr) return;
      group.view(open)[word] = word_of(word, [&](std::size_t node) {
        return level[node] == Levels::unreached && offsets[node] != offsets[node + 1];
      });
    });
  }

  /// Every unreached node looks for an edge from the frontier, and stops at the first.
  template <class Group>
  COHORT_FN Next up(Group& group, State& state, Directive& plan, const Outlook& outlook) const {
    const auto in = group.view(static_cast<const std::uint64_t*>(bits[state.turn % 3]));
    std::uint64_t* const out = bits[(state.turn + 1) % 3];
    const std::uint32_t next = plan.level + 1;
    const Portion now = portion_of_words(group, state.at);
    std::uint32_t found = 0;
    const auto is_near = [&, incoming = incoming](Node node) {
      for (const Node from : incoming.neighbours(node)) {
        if ((in[from / 64] >> from % 64 & 1U) != 0) return true;
      }
      return false;
    };
    if (group.alone()) {
      for_words_of(group, now.begin, now.end, [&](std::size_t word, std::size_t last) {
        if (open != nullptr && word + 1 < last) ahead_of_open(group, word + 1);
        const std::uint64_t all = open_nodes(group, word);
        std::uint64_t set = 0;
        for_bits(all, [&](std::uint32_t i) {
          const std::size_t node = word * 64 + i;
          if (!is_near(static_cast<Node>(node))) return;
          group.atomic(levels.of[node]).store(next);
          set |= std::uint64_t{1} << i;
        });
        group.view(out)[word] = set;
        if (set == 0) return;
        found += num_bits(static_cast<std::uint32_t>(set)) +
                 num_bits(static_cast<std::uint32_t>(set >> 32U));
        if (open != nullptr) group.view(open)[word] = all & ~set;
      });
    } else {
      for_blocks(group, now.begin, now.end, [&](std::size_t first, std::size_t last) {
        for (const std::size_t i : group.local_stride(last - first)) {
          const std::size_t node = first + i;
          if (group.atomic(levels.of[node]).load() != Levels::unreached) continue;
          if (!is_near(static_cast<Node>(node))) continue;
          group.atomic(levels.of[node]).store(next);
          ++found;
          group.atomic(out[node / 64]).fetch_or(std::uint64_t{1} << node % 64);
        }
      });
    }
    for_items(group, now.begin / 64, (now.end + 63) / 64,
              [&](std::size_t word) { group.view(bits[(state.turn + 2) % 3])[word] = 0; });
    const std::uint32_t sum =
        group.reduce(found, [](std::uint32_t a, std::uint32_t b) { return a + b; });
    const Worklist& count = lists[(state.turn + 1) % 3];  // holds only a count, no nodes
    if (group.local_id() == 0 && sum > 0)
      group.atomic(count.counts[count.num_slots].nodes).fetch_add(sum);
    const bool any = sum > 0 || count.size(group) > 0;
    if (now.last) ++plan.level;
    conclude(group, state, now, plan, outlook);
    return !now.last || any ? Next::again : Next::halt;
  }

  /// Prefetches the first edges of the open nodes of a word. It must be one of this group's words.
  template <class Group>
  COHORT_FN void ahead_of_open(const Group& group, std::size_t word) const {
    for_bits(group.view(open)[word], [&](std::uint32_t i) {
      prefetch(incoming.targets() + incoming.first_edge(static_cast<Node>(word * 64 + i)));
    });
  }

  template <class Group>
  COHORT_FN Next to_nodes(Group& group, State& state, Directive& plan,
                          const Outlook& outlook) const {
    const auto in = group.view(static_cast<const std::uint64_t*>(bits[state.turn % 3]));
    const Portion all{0, graph.num_nodes(), true};
    Sink sink{group, lists[(state.turn + 1) % 3]};
    if (group.alone()) {
      for_words_of(group, 0, all.end, [&](std::size_t word, std::size_t) {
        for_bits(in[word], [&](std::uint32_t i) { sink.push(static_cast<Node>(word * 64 + i)); });
      });
    } else {
      for_blocks(group, 0, all.end, [&](std::size_t first, std::size_t last) {
        for (const std::size_t i : group.local_stride(last - first)) {
          const std::size_t node = first + i;
          if ((in[node / 64] >> node % 64 & 1U) != 0) sink.push(static_cast<Node>(node));
        }
      });
    }
    sink.close();
    plan.mode = Mode::down;
    conclude(group, state, all, plan, outlook);
    return Next::again;
  }
};

}  // namespace cohort::apps
