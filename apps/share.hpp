// Divides the items of a step among the groups: in blocks, so that groups do not share cache lines,
// and in portions, for short steps.
// Invariant: the parts of all groups are disjoint and cover the portion, for every number of
// groups.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cohort/kernel.hpp"

/// Pragma for loops that mostly run once. Unrolling them would cost a GPU extra instruction
/// fetches.
#ifdef __CUDA_ARCH__
#define COHORT_APPS_ROLLED _Pragma("unroll 1")
#else
#define COHORT_APPS_ROLLED
#endif

namespace cohort::apps {

COHORT_FN constexpr std::size_t least(std::size_t a, std::size_t b) { return a < b ? a : b; }
COHORT_FN constexpr std::size_t most(std::size_t a, std::size_t b) { return a < b ? b : a; }

/// How many bits are set.
COHORT_FN inline std::uint32_t num_bits(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(word));
#endif
}

/// Prefetches memory that is needed soon.
COHORT_FN inline void prefetch(const void* memory) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L1 [%0];" ::"l"(__cvta_generic_to_global(memory)));
#else
  __builtin_prefetch(memory);
#endif
}

/// The items [begin, end) of a phase that one step does.
struct Portion {
  std::size_t begin;
  std::size_t end;
  bool last;  ///< whether this is the last portion of the phase
};

/// An adaptive chunk: steps are whole while at least a quarter of the groups is active. Otherwise
/// each group takes its share among all groups, or enough to be worth a barrier. So a returning
/// group waits at most one full step, or one such chunk.
inline constexpr std::uint64_t even_chunk = ~std::uint64_t{0};

/// Chunk size for `count` items; 0: all. `work` is the work per item, relative to the usual amount.
/// With more work per item, fewer items are worth a barrier.
template <class Group>
COHORT_FN std::size_t chunk_for(const Group& group, std::size_t count, std::uint64_t chunk,
                                std::uint32_t work = 1) {
  if (chunk != even_chunk) return chunk;
  if (group.num_groups() * 4 >= group.max_groups()) return 0;
  const std::size_t worth_a_barrier = (group.alone() ? 4096 : 4 * group.local_size()) / work;
  return most(most(worth_a_barrier, 1), count / group.max_groups());
}

/// Chunk size for a kernel of the paper, whose steps are whole by default.
constexpr std::uint64_t chunk_in_paper(std::uint64_t chunk) {
  return chunk != even_chunk ? chunk : 0;
}

/// The next items of a phase: at most `chunk` per group, starting at item `at` of `count`; 0: no
/// limit. Every group gets the same result, so the caller may keep `at` in the State. `work`: see
/// chunk_for.
template <class Group>
COHORT_FN Portion portion(const Group& group, std::size_t at, std::size_t count,
                          std::uint64_t chunk, std::uint32_t work = 1) {
  chunk = chunk_for(group, count, chunk, work);
  if (chunk == 0) return {at, count, true};
  const std::uint32_t groups = group.num_groups();
  if ((count - at) / groups <= chunk) return {at, count, true};
  const std::size_t end = at + chunk * groups;
  return {at, end, end == count};
}

/// Two words on different cache lines, by turn modulo 2. Set if an earlier portion of the turn has
/// left work.
struct TurnFlags {
  static constexpr std::size_t words = 32;

  std::uint32_t* at;

  template <class Visit>
  void buffers(Visit& visit) const {
    visit("flags", at, words);
  }
  COHORT_FN std::uint32_t& of(std::uint32_t turn) const { return at[std::size_t{turn % 2} * 16]; }

  /// Ends a turn or a portion of it. `left`: this thread has work for the next turn. Halts after a
  /// turn in which neither a thread of the group nor an earlier portion has left work.
  template <class Group, class State>
  COHORT_FN Next conclude(const Group& group, State& state, const Portion& now, bool left) const {
    state.at = now.last ? 0 : now.end;
    if (!now.last) {
      if (left) group.atomic(of(state.turn)).store(1);
      return Next::again;
    }
    left |= group.atomic(of(state.turn)).load() != 0;
    if (group.global_id() == 0) group.atomic(of(state.turn + 1)).store(0);
    ++state.turn;
    return left ? Next::again : Next::halt;
  }
};

/// Calls `visit(first, last)` for this group's blocks of [begin, end). Blocks go round robin, at
/// least eight per group. Each begins at a multiple of 64 items after `begin`.
template <class Group, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_blocks(const Group& group, std::size_t begin,
                                               std::size_t end, Visit visit) {
  const std::size_t groups = group.num_groups();
  const std::size_t even = (end - begin) / (groups * 8) / 64 * 64;
  const std::size_t block = least(most(even, most(64, group.local_size())), 65536);
  for (std::size_t first = begin + group.group_id() * block; first < end; first += groups * block)
    visit(first, least(first + block, end));
}

/// Calls `visit(i)` for this thread's items of [begin, end).
template <class Group, class Visit>
COHORT_DETAIL_INLINE COHORT_FN void for_items(const Group& group, std::size_t begin,
                                              std::size_t end, Visit visit) {
  for_blocks(group, begin, end, [&](std::size_t first, std::size_t last) {
    if (group.alone()) {  // a simple loop, which compilers can vectorise
      for (std::size_t i = first; i < last; ++i) visit(i);
    } else {
      for (const std::size_t i : group.local_stride(last - first)) visit(first + i);
    }
  });
}

}  // namespace cohort::apps
