// Breadth-first search on several ranks: a superstep is a level. A level with few edges is searched
// from its nodes. A dense level is searched from the unreached nodes, once all ranks know the
// level's nodes (direction optimisation, Beamer, Asanović and Patterson 2012). If a job begins on
// one rank, that rank runs the search for one machine until the job is asked for something.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "apps/bfs/kernel.hpp"
#include "apps/graph_memory.hpp"
#include "apps/ranks/rows.hpp"
#include "apps/share.hpp"
#include "cohort/ranks.hpp"
#include "cohort/shards.hpp"

namespace cohort::apps {

struct RankedBfs {
  using OneMachine = Bfs<Degrees::many>;
  using Local = OneMachine::Local;
  static constexpr std::uint32_t unreached = Levels::unreached;
  static constexpr std::uint32_t word_size = 32;
  enum class Phase : std::uint32_t {
    begin,        // list the nodes of the level
    one_machine,  // search as on one machine
    count,        // count the edges of all ranks, once
    hear,         // read the messages, and choose how to search this level
    to_nodes,     // convert the bits to a list
    down,         // search from the nodes of the list to their targets
    to_bits,      // convert the list to bits
    up,           // search from the unreached nodes to nodes whose bit is set
    tell,         // send the bits to all ranks
  };

  /// Some nodes of one word of a bitmap. A message to one shard lists nodes that were reached
  /// there; a message to all shards lists nodes of the level.
  struct Message {
    std::uint32_t word;
    std::uint32_t bits;
  };
  struct Part : Rows {
    Slice<std::uint32_t> values;  // level of each node

    template <class Visit>
    void fields(Visit& visit) {
      Rows::fields(visit);
      visit(values);
    }
  };
  /// The memory for the search on one machine.
  class OneMachineMemory {
   public:
    template <class Engine>
    OneMachineMemory(Engine& engine, const LaunchOptions& launch, const std::vector<Part>& parts,
                     Node nodes, bool symmetric, Node source)
        : lists_{list(engine, launch, nodes), list(engine, launch, nodes),
                 list(engine, launch, nodes)},
          bits_(engine.template fill<std::uint64_t>(3 * words(nodes), 0)),
          open_(engine.template fill<std::uint64_t>(
              threads_per_group<Engine>(RunOptions{.launch = launch}) == 1 ? words(nodes) : 0, 0)),
          plans_(engine.template fill<OneMachine::Directive>(2, {})),
          asked_(engine.template fill<std::uint32_t>(2, 0)),
          graph_(parts.front().offsets.data(), parts.front().targets.data(), nullptr, nodes),
          levels_{parts.front().values.data()} {
      const std::uint64_t edges = graph_.num_edges();
      // Without a reverse graph, or with few edges, no level ever goes up.
      const bool both = symmetric && edges / 8 >= nodes;
      outlooks_ = engine.template fill<OneMachine::Outlook>(
          2, {.edges_left = both ? edges : std::numeric_limits<std::uint64_t>::max()});
      lists_[0].put(source, graph_.degree(source));
    }

    [[nodiscard]] OneMachine kernel() const {
      const std::size_t size = words(graph_.num_nodes());
      return {.graph = graph_,
              .incoming = graph_,
              .lists = {lists_[0].view(), lists_[1].view(), lists_[2].view()},
              .bits = {bits_.data(), bits_.data() + size, bits_.data() + 2 * size},
              .open = open_.size() != 0 ? open_.data() : nullptr,
              .plans = plans_.data(),
              .outlooks = outlooks_.data(),
              .levels = levels_,
              .chunk = even_chunk,
              .solo = 0};
    }
    /// By turn modulo 2: 1 if the superstep ends before that turn.
    [[nodiscard]] std::uint32_t* asked() const { return asked_.data(); }

   private:
    template <class Engine>
    static WorklistMemory list(Engine& engine, const LaunchOptions& launch, Node nodes) {
      return {engine, nodes, RunOptions{.launch = launch}, true};
    }
    static std::size_t words(Node nodes) { return nodes / 64 + std::size_t{1}; }

    WorklistMemory lists_[3];
    Buffer<std::uint64_t> bits_;
    Buffer<std::uint64_t> open_;
    Buffer<OneMachine::Directive> plans_;
    Buffer<OneMachine::Outlook> outlooks_;
    Buffer<std::uint32_t> asked_;
    CsrView graph_;
    Levels levels_;
  };
  /// Memory that all shards of a rank share.
  struct Memory {
    Memory(std::size_t threads, Node nodes) {
      for (auto& list : lists) list.resize(threads);
      for (auto* const words : {&seen, &bits[0], &bits[1]}) words->resize(nodes / word_size + 1);
    }
    std::vector<std::vector<Node>> lists[3];  // by level modulo 3, then by thread
    // A bit for each node that was reached here, was sent to its rank, or has no edges.
    std::vector<std::uint32_t> seen;
    std::vector<std::uint32_t> bits[2];  // a bit for each node of a level; by level modulo 2
    std::optional<OneMachineMemory> one_machine;  // set if the job began on this rank alone
  };
  struct State {
    std::uint32_t level = 0;
    Phase phase = Phase::begin;
    bool known = false;  // all ranks have the bits of this level
    // As `known`, but the bits came from a list, and the level is still to be searched.
    bool from_list = false;
    double edges = 0;     // number of edges of the graph
    double left = 0;      // number of edges of nodes not yet in a level
    double frontier = 0;  // estimated number of edges of the last level
    OneMachine::State turns;
    bool goes_on = false;  // true in the first step after an exchange
  };

  NodeShards shards;
  Memory* memory;
  bool symmetric;  // every edge exists in both directions
  Shards<Part> parts = {};
  Inbox<Message> in = {};
  Outbox<Message> out = {};
  Tally<Message> tally = {};
  Asked asked = {};

  void begin(State& state) const {
    if (state.phase == Phase::one_machine) {
      state.goes_on = true;
      if (!on_one_machine()) state.phase = Phase::begin;
    } else if (state.phase != Phase::begin) {
      state.phase = Phase::hear;
    }
  }
  /// A checkpoint does not contain the bits that were sent to all ranks; adopt() lists the nodes
  /// instead.
  static void restored(State& state) { state.known = state.from_list = false; }

  /// Shards that arrive after the nodes of the other shards have been listed.
  void adopt(const State& state, Part& part) const {
    if (state.phase == Phase::begin || state.phase == Phase::one_machine) return;
    for (Node index = 0; index < part.nodes(); ++index) {
      if (part.values[index] == unreached) continue;
      const Node node = part.first + index;
      memory->seen[node / word_size] |= bit(node);
      if (part.values[index] == state.level) memory->lists[state.level % 3][0].push_back(node);
    }
  }

  /// The shards of a rank before the search.
  static std::vector<Part> parts_of(const std::vector<Rows>& rows, Node source) {
    const std::vector<Slice<std::uint32_t>> levels = value_per_node(rows, unreached);
    std::vector<Part> parts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      parts.push_back({rows[i], levels[i]});
      const Part& part = parts.back();
      if (source - part.first < part.nodes()) part.values[source - part.first] = 0;
    }
    return parts;
  }

  template <class Group>
  Next step(Group& group, State& state) const {
    switch (state.phase) {
      case Phase::one_machine: return search_alone(group, state);
      case Phase::begin:
        if (on_one_machine()) {
          state.phase = Phase::one_machine;
          return step(group, state);
        }
        list_level(group, state);
        state.phase = Phase::count;
        return Next::again;
      case Phase::count: {
        double edges = 0;
        for (const std::uint32_t shard : parts.here())
          edges += static_cast<double>(parts[shard].targets.size());
        if (alone()) {
          state.edges = state.left = edges;
          state.phase = Phase::down;
          return step(group, state);
        }
        if (group.global_id() == 0) tally.add(group, edges);
        state.edges = -1;
        return Next::exchange;
      }
      case Phase::hear: return hear(group, state);
      case Phase::to_nodes:
        to_nodes(group, state);
        state.phase = Phase::down;
        return Next::again;
      case Phase::down: return down(group, state);
      case Phase::to_bits:
        to_bits(group, state);
        state.known = alone();
        state.phase = alone() ? Phase::up : Phase::tell;
        return Next::again;
      case Phase::up:
        up(group, state);
        ++state.level;
        state.phase = Phase::tell;
        return Next::again;
      case Phase::tell: break;
    }
    return tell(group, state);
  }

 private:
  static std::uint32_t bit(Node node) { return std::uint32_t{1} << node % word_size; }
  template <class See>
  static void for_bits(std::uint32_t word, std::uint32_t bits, See see) {
    for (; bits != 0; bits &= bits - 1)
      see(word * word_size + static_cast<Node>(std::countr_zero(bits)));
  }
  [[nodiscard]] bool alone() const { return parts.here().size() == parts.count(); }
  [[nodiscard]] bool on_one_machine() const { return memory->one_machine && alone(); }

  /// Ends between two levels when there is a request to the job. Group 0 checks for it; the others
  /// learn of it one turn later, all in the same turn.
  template <class Group>
  Next search_alone(Group& group, State& state) const {
    const OneMachine search = memory->one_machine->kernel();
    std::uint32_t* const ends = memory->one_machine->asked();
    const std::uint32_t turn = state.turns.turn % 2;
    if (!std::exchange(state.goes_on, false) && state.turns.at == 0 && ends[turn] != 0) {
      state.level = search.plans[turn].level;
      return Next::exchange;
    }
    if (group.global_id() == 0) ends[1 - turn] = asked ? 1 : 0;
    return search.step(group, state.turns);
  }

  /// Lists the nodes of the level, and marks all reached nodes.
  template <class Group>
  void list_level(Group& group, const State& state) const {
    auto& list = memory->lists[state.level % 3][group.global_id()];
    for (const std::uint32_t shard : parts.here()) {
      const Part& part = parts[shard];
      for_words(group, 0, (part.nodes() + word_size - 1) / word_size, [&](std::size_t word) {
        const Node end = std::min(static_cast<Node>((word + 1) * word_size), part.nodes());
        for (auto index = static_cast<Node>(word * word_size); index < end; ++index) {
          if (part.values[index] == unreached) continue;
          const Node node = part.first + index;
          group.atomic(memory->seen[node / word_size]).fetch_or(bit(node));
          if (part.values[index] == state.level) list.push_back(node);
        }
      });
    }
  }

  template <class Group>
  Next hear(Group& group, State& state) const {
    const bool goes_up = choose(state);
    const bool silent = in.empty();
    if (!state.known) {
      in.share(group, [&](const Message& message) {
        for_bits(message.word, message.bits, [&](Node node) {
          reach(group, parts[shards.shard_of(node)], node, state.level, state.level);
        });
      });
      state.phase = goes_up ? Phase::to_bits : Phase::down;
    } else if (goes_up) {
      in.share(group, [&](const Message& message) {
        for (auto* const words : {&memory->bits[state.level % 2], &memory->seen})
          group.atomic((*words)[message.word]).fetch_or(message.bits);
      });
      state.phase = Phase::up;
    } else {
      in.share(group, [&](const Message& message) {
        group.atomic(memory->seen[message.word]).fetch_or(message.bits);
      });
      state.phase = Phase::to_nodes;
      return Next::again;
    }
    // Without messages, there is nothing to wait for.
    return silent ? step(group, state) : Next::again;
  }

  /// Whether this level is searched from the unreached nodes. All ranks get the same answer.
  bool choose(State& state) const {
    const double sum = tally.sum();
    if (state.edges < 0) {
      state.edges = state.left = sum;
      state.frontier = 0;
    } else if (!state.from_list) {
      state.left = std::max(0.0, state.left - sum);
    }
    const double before = std::exchange(state.frontier, state.from_list ? state.frontier : sum);
    if (std::exchange(state.from_list, false)) return true;
    if (state.known) return sum >= before || sum > state.edges / 64;
    return symmetric && state.level > 0 && state.edges > 8.0 * shards.nodes() &&
           sum > state.left / 15;
  }

  /// Marks a node of this rank as reached, if this is its first visit.
  template <class Group>
  void reach(Group& group, Part& part, Node node, std::uint32_t level, std::uint32_t list) const {
    const Node index = node - part.first;
    std::uint32_t expected = unreached;
    if (!group.atomic(part.values[index]).compare_exchange(expected, level)) return;
    group.atomic(memory->seen[node / word_size]).fetch_or(bit(node));
    memory->lists[list % 3][group.global_id()].push_back(node);
    tally.add(group, static_cast<double>(part.degree(index)));
  }

  template <class Group>
  static void clear(Group& group, std::vector<std::vector<Node>>& list) {
    for (const std::size_t i : group.stride(list.size())) list[i].clear();
  }

  /// Calls `see(part, node)` for this thread's share of a list, in blocks, for the nodes whose
  /// shard is on this rank.
  template <class Group, class See>
  void for_nodes(Group& group, std::uint32_t level, See see) const {
    constexpr std::size_t block = 64;
    for (const auto& list : memory->lists[level % 3]) {
      for (const std::size_t i : group.stride((list.size() + block - 1) / block)) {
        const std::size_t end = std::min(list.size(), (i + 1) * block);
        for (std::size_t at = i * block; at < end; ++at) {
          const std::uint32_t shard = shards.shard_of(list[at]);
          if (parts.here(shard)) see(parts[shard], list[at]);
        }
      }
    }
  }

  template <class Group>
  Next down(Group& group, State& state) const {
    clear(group, memory->lists[(state.level + 2) % 3]);
    const double average = state.edges / shards.nodes();
    bool any = false;
    for_nodes(group, state.level, [&](const Part& from, Node node) {
      const Node index = node - from.first;
      const std::uint64_t end = from.first_edge(index + 1);
      for (std::uint64_t edge = from.first_edge(index); edge < end; ++edge) {
        const Node to = from.targets[edge];
        const auto word = group.atomic(memory->seen[to / word_size]);
        if ((word.load() & bit(to)) != 0) continue;
        if ((word.fetch_or(bit(to)) & bit(to)) != 0) continue;
        any = true;
        const std::uint32_t shard = shards.shard_of(to);
        if (parts.here(shard)) {
          reach(group, parts[shard], to, state.level + 1, state.level + 1);
        } else {
          out.send(group, shard, {to / word_size, bit(to)});
          tally.add(group, average);
        }
      }
    });
    state.known = false;
    ++state.level;
    return any ? Next::exchange : Next::halt;
  }

  template <class Group>
  void to_bits(Group& group, const State& state) const {
    for_nodes(group, state.level, [&](const Part& /*part*/, Node node) {
      group.atomic(memory->bits[state.level % 2][node / word_size]).fetch_or(bit(node));
    });
  }
  template <class Group>
  void to_nodes(Group& group, const State& state) const {
    auto& words = memory->bits[state.level % 2];
    auto& list = memory->lists[state.level % 3][group.global_id()];
    for_words(group, 0, words.size(), [&](std::size_t i) {
      for_bits(static_cast<std::uint32_t>(i), std::exchange(words[i], 0),
               [&](Node node) { list.push_back(node); });
    });
  }

  /// Calls `see(word)` for this thread's words in [begin, end). Works in blocks, because
  /// neighbouring words share a cache line.
  template <class Group, class See>
  static void for_words(Group& group, std::size_t begin, std::size_t end, See see) {
    constexpr std::size_t block = 64;
    for (const std::size_t i : group.stride((end - begin + block - 1) / block)) {
      const std::size_t last = std::min(end, begin + (i + 1) * block);
      for (std::size_t word = begin + i * block; word < last; ++word) see(word);
    }
  }

  template <class Group>
  void up(Group& group, const State& state) const {
    clear(group, memory->lists[state.level % 3]);
    clear(group, memory->lists[(state.level + 2) % 3]);
    for (const std::uint32_t shard : parts.here()) {
      Part& part = parts[shard];
      if (part.nodes() == 0) continue;
      const Node end = part.first + part.nodes() - 1;
      for_words(group, part.first / word_size, end / word_size + std::size_t{1},
                [&](std::size_t word) { up_in(group, state, part, static_cast<Node>(word)); });
    }
  }
  /// The bits of a word that stand for nodes of the part.
  template <class Group>
  void up_in(Group& group, const State& state, Part& part, Node word) const {
    const std::uint32_t* const from = memory->bits[state.level % 2].data();
    std::uint32_t* const values = part.values.data();
    const std::uint64_t* const offsets = part.offsets.data();
    const Node* const targets = part.targets.data() - offsets[0];
    const Node first = part.first;
    const Node begin = std::max(word * word_size, first);
    const Node end = std::min(part.nodes(), word * word_size - first + word_size) + first;
    const bool whole = end - begin == word_size;
    const std::uint32_t mine =
        // A bit for each node of the part.
        whole ? ~0U : (bit(end - begin) - 1) << begin % word_size;
    std::uint32_t& seen = memory->seen[word];
    const std::uint32_t open = mine & ~(whole ? seen : group.atomic(seen).load());
    for_bits(word, open, [&](Node node) { prefetch(targets + offsets[node - first]); });
    std::uint32_t found = 0;
    std::uint32_t empty = 0;
    std::uint64_t edges = 0;
    for_bits(word, open, [&](Node node) {
      const std::uint64_t its_first = offsets[node - first];
      const std::uint64_t its_end = offsets[node - first + 1];
      if (its_first == its_end) empty |= bit(node);
      for (std::uint64_t edge = its_first; edge < its_end; ++edge) {
        const Node to = targets[edge];
        if ((from[to / word_size] & bit(to)) == 0) continue;
        values[node - first] = state.level + 1;
        found |= bit(node);
        edges += its_end - its_first;
        return;
      }
    });
    if ((found | empty) == 0) return;
    tally.add(group, static_cast<double>(edges));
    std::uint32_t& next = memory->bits[(state.level + 1) % 2][word];
    if (whole) {
      next |= found;
      seen |= found | empty;
    } else {  // other threads may handle other bits of this word, for nodes of the next shard
      group.atomic(next).fetch_or(found);
      group.atomic(seen).fetch_or(found | empty);
    }
  }

  template <class Group>
  Next tell(Group& group, State& state) const {
    const auto& words = memory->bits[state.level % 2];
    auto& old = memory->bits[(state.level + 1) % 2];
    bool any = false;
    for_words(group, 0, words.size(), [&](std::size_t i) {
      old[i] = 0;
      if (words[i] == 0) return;
      any = true;
      // Ranks that join in this exchange need them too. Only a request lets ranks join.
      if (!alone() || asked) out.send_to_all(group, {static_cast<std::uint32_t>(i), words[i]});
    });
    state.from_list = !state.known;
    state.known = true;
    return any ? Next::exchange : Next::halt;
  }
};

}  // namespace cohort::apps
