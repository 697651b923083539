// Decodes the tokens of a Llama model in one kernel: a phase is a step, five per layer and one for
// the LM head. Each token reads all weights once, so the kernel is as fast as the memory.
// Attention over long contexts is cut into pieces that are combined by the group that finishes the
// last one (flash-decoding: Dao, Haziza, Massa and Sizov 2023; online softmax: Milakov and
// Gimelshein 2018).
// Invariant: each row of a matrix, and each piece of attention, is computed by one group in a fixed
// order. So all results are the same bits, whatever the number of groups.
#pragma once

#include <chrono>
#include <cmath>

#include "apps/decode/dot.hpp"
#include "apps/decode/llama.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

/// A request in a slot of the batch.
struct DecodeSlot {
  static constexpr std::uint32_t idle = ~0U;

  std::uint32_t request = idle;
  std::uint32_t position = 0;  ///< position of `token`, including the context
  std::uint32_t token = 0;     ///< the token to decode
};

inline constexpr std::uint32_t max_batch = 8;

/// A token's logit and its number in one word, ordered by the logit: a more likely token is larger.
/// Among equal logits, the lower number is larger.
COHORT_FN inline std::uint64_t ranked_token(float logit, std::uint32_t token) {
  const std::uint32_t bits = bits_of(logit);
  const std::uint32_t order = (bits >> 31U) != 0 ? ~bits : bits | (1U << 31U);
  return (static_cast<std::uint64_t>(order) << 32U) | ~token;
}
COHORT_FN inline std::uint32_t token_of(std::uint64_t ranked) {
  return ~static_cast<std::uint32_t>(ranked);
}
COHORT_FN inline float logit_of(std::uint64_t ranked) {
  const auto order = static_cast<std::uint32_t>(ranked >> 32U);
  return float_of((order >> 31U) != 0 ? order & ~(1U << 31U) : ~order);
}

/// How attention over a context is cut into pieces. This depends only on the length of the context.
struct AttentionPieces {
  static constexpr std::uint32_t least_length = 64;
  static constexpr std::uint32_t enough = 16;  ///< number of pieces per head that keeps a GPU busy
  static constexpr std::uint32_t most_length = 1024;

  static COHORT_FN std::uint32_t count(std::uint32_t positions) {
    const std::uint32_t wanted = (positions + least_length - 1) / least_length;
    const std::uint32_t needed = (positions + most_length - 1) / most_length;
    const std::uint32_t some = wanted < enough ? wanted : enough;
    return some > needed ? some : needed;
  }
};

/// The time in nanoseconds, by the device's clock or the engine's.
COHORT_FN inline std::uint64_t decode_clock() {
#ifdef __CUDA_ARCH__
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
#else
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
#endif
}

/// `batch`: number of slots, including idle ones. `room`: number of floats for vectors in a group's
/// local memory.
template <std::uint32_t batch, std::uint32_t room>
struct Decode {
  static constexpr Traits traits{.max_local_size = 256};
  static constexpr const char* name = "decode";  // identifies checkpoints
  /// Number of query heads that share a pass over the keys and values of their group.
  static constexpr std::uint32_t max_queries = 4;

  enum class Phase : std::uint32_t {
    project,    ///< compute queries, keys and values
    attend,     ///< compute attention over the context
    add_heads,  ///< multiply by the attention's output matrix, and add to the residual
    expand,     ///< multiply by the gate and up matrices
    contract,   ///< multiply by the down matrix, and add to the residual
    choose,     ///< multiply by the LM head, and choose the most likely token
  };
  struct State {
    std::uint32_t turn = 0;  ///< number of tokens of each slot so far
    std::uint32_t layer = 0;
    Phase phase = Phase::project;
    std::uint64_t at = 0;  ///< progress within the phase, if steps are short
    std::uint32_t next_request = 0;
    DecodeSlot slot[batch];  ///< between two turns, a request that has ended makes room for another
  };
  struct Local {
    float vectors[room];
    float largest[max_queries];  ///< largest score of a piece of attention
    float total[max_queries];
  };
  static_assert(room >= AttentionPieces::most_length * max_queries + max_queries * 256);

  LlamaLayout layout;
  const Bf16* weights;
  const float* rotations;  ///< cosine and sine by position after the context, and by pair
  Bf16* keys;              ///< by layer, slot, head, position and dimension
  Bf16* values;
  float* residual;             ///< indexed by slot
  float* queries;              ///< indexed by slot
  float* heads;                ///< the attention's results, by slot and head
  float* expanded;             ///< indexed by slot
  float* pieces;               ///< unfinished attention, by slot, bundle of heads and piece
  float* piece_sums;           ///< the largest score and the sum of each of its heads
  std::uint32_t* pieces_done;  ///< indexed by slot and bundle
  std::uint64_t* likeliest;    ///< ranked tokens by turn modulo 2 and slot
  std::uint32_t* tokens;       ///< the results, indexed by request and place
  float* token_logits;
  float* logits;         ///< all logits of the first turns, by turn and slot
  std::uint64_t* times;  ///< start time of each turn
  std::uint32_t num_slots;
  std::uint32_t positions;  ///< number of positions of a slot
  std::uint32_t context;    ///< positions before a request's first token
  std::uint32_t requests;
  std::uint32_t max_tokens;  ///< maximum number of tokens of a request
  std::uint32_t stop;        ///< a token divisible by this ends its request; 0: none does
  std::uint32_t kept_turns;  ///< number of first turns whose logits are all kept
  std::uint32_t max_turns;
  std::uint64_t seed;
  std::uint64_t chunk;  ///< row pairs or pieces of attention per group and step; 0: all

  template <class Visit>
  void buffers(Visit& visit) const {
    const Llama& shape = layout.shape;
    const std::size_t cache =
        std::size_t{shape.layers} * num_slots * shape.kv_heads * positions * shape.head_dim;
    visit("keys", keys, cache);
    visit("values", values, cache);
    visit("residual", residual, std::size_t{batch} * shape.hidden);
    visit("queries", queries, std::size_t{batch} * shape.attention_width());
    visit("heads", heads, std::size_t{batch} * shape.attention_width());
    visit("expanded", expanded, std::size_t{batch} * shape.ffn);
    visit("pieces", pieces, num_pieces() * max_queries * shape.head_dim);
    visit("piece_sums", piece_sums, num_pieces() * 2 * max_queries);
    visit("pieces_done", pieces_done, std::size_t{batch} * bundles());
    visit("likeliest", likeliest, std::size_t{2} * batch);
    visit("tokens", tokens, std::size_t{requests} * max_tokens);
    visit("token_logits", token_logits, std::size_t{requests} * max_tokens);
    visit("logits", logits, std::size_t{kept_turns} * batch * shape.vocabulary);
    visit("times", times, std::size_t{max_turns} + 1);
  }

  /// Number of query heads that are computed together.
  [[nodiscard]] COHORT_FN std::uint32_t queries_together() const {
    const std::uint32_t sharing = layout.shape.heads / layout.shape.kv_heads;
    std::uint32_t together = sharing < max_queries ? sharing : max_queries;
    while (sharing % together != 0) --together;
    return together;
  }
  /// Number of such bundles of heads in a layer.
  [[nodiscard]] COHORT_FN std::uint32_t bundles() const {
    return layout.shape.heads / queries_together();
  }
  [[nodiscard]] COHORT_FN std::size_t num_pieces() const {
    return std::size_t{batch} * bundles() * AttentionPieces::count(positions);
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    if (state.phase == Phase::project && state.layer == 0 && state.at == 0 &&
        !begin_turn(group, state))
      return Next::halt;
    switch (state.phase) {
      case Phase::project: project(group, state); break;
      case Phase::attend: attend(group, state); break;
      case Phase::add_heads: add_heads(group, state); break;
      case Phase::expand: expand(group, state); break;
      case Phase::contract: contract(group, state); break;
      case Phase::choose: choose(group, state); break;
    }
    return Next::again;
  }

 private:
  /// Rows are computed in pairs. Larger batches compute two pairs with the same staged vectors.
  static constexpr std::uint32_t tile_pairs = batch >= 4 ? 2 : 1;
  static constexpr std::uint32_t tile_rows = 2 * tile_pairs;
  /// Number of bytes that a group prefetches before the barrier, from its part of the next phase's
  /// weights. They keep the memory busy while groups meet and stage their vectors.
  static constexpr std::uint32_t prefetched_bytes = 64 * 1024;

  /// Number of keys that a thread loads before it uses the first.
#ifdef __CUDA_ARCH__
  static constexpr std::uint32_t scores_in_flight = 4;
#else
  static constexpr std::uint32_t scores_in_flight = 1;
#endif

  /// A matrix by which the kernel multiplies vectors.
  struct Matrix {
    const Bf16* at;
    std::uint32_t pairs;  ///< half of the number of its rows
    std::uint32_t length;
  };
  [[nodiscard]] COHORT_FN Matrix qkv(std::uint32_t layer) const {
    return {weights + layout.qkv(layer), layout.shape.qkv_rows() / 2, layout.shape.hidden};
  }
  [[nodiscard]] COHORT_FN Matrix output(std::uint32_t layer) const {
    return {weights + layout.output(layer), layout.shape.hidden / 2,
            layout.shape.attention_width()};
  }
  [[nodiscard]] COHORT_FN Matrix gate_up(std::uint32_t layer) const {
    return {weights + layout.gate_up(layer), layout.shape.ffn, layout.shape.hidden};
  }
  [[nodiscard]] COHORT_FN Matrix down(std::uint32_t layer) const {
    return {weights + layout.down(layer), layout.shape.hidden / 2, layout.shape.ffn};
  }
  [[nodiscard]] COHORT_FN Matrix head() const {
    return {weights + layout.head(), layout.shape.vocabulary / 2, layout.shape.hidden};
  }

  /// Sets the slots of a turn from the tokens that the previous turn has chosen. All groups compute
  /// the same result; group 0 stores the tokens. Returns false if all requests have ended.
  template <class Group>
  COHORT_FN bool begin_turn(Group& group, State& state) const {
    const bool stores = group.global_id() == 0;
    if (stores) group.view(times)[state.turn] = decode_clock();
    bool any = false;
    COHORT_APPS_UNROLLED
    for (std::uint32_t b = 0; b < batch; ++b) {
      if (b >= num_slots) break;
      DecodeSlot& slot = state.slot[b];
      bool free = state.turn == 0;
      if (slot.request != DecodeSlot::idle) {
        const std::uint64_t ranked =
            group.atomic(likeliest[(state.turn + 1) % 2 * batch + b]).load();
        const std::uint32_t index = slot.position - context;
        slot.token = token_of(ranked);
        ++slot.position;
        if (stores) {
          const std::size_t at = std::size_t{slot.request} * max_tokens + index;
          group.view(tokens)[at] = slot.token;
          group.view(token_logits)[at] = logit_of(ranked);
        }
        free = index + 1 == max_tokens || (stop != 0 && slot.token % stop == 0);
      }
      if (free) {
        slot = DecodeSlot{};
        if (state.next_request < requests) {
          slot.request = state.next_request++;
          slot.position = context;
          slot.token = first_token(seed, slot.request, layout.shape.vocabulary);
        }
      }
      any |= slot.request != DecodeSlot::idle;
    }
    return any;
  }

  static COHORT_FN bool is_idle(const State& state, std::uint32_t slot) {
    return state.slot[slot].request == DecodeSlot::idle;
  }

  /// Stages the elements of a vector that `load(k, four)` loads, four at a time. A thread has
  /// several loads in flight before it stores the first.
  template <class Group, class Load>
  COHORT_FN void stage_elements(const Group& group, float* to, std::uint32_t count,
                                const Load& load) const {
#ifdef __CUDA_ARCH__
    constexpr std::uint32_t in_flight = 8;
#else
    constexpr std::uint32_t in_flight = 1;
#endif
    const std::uint32_t stride = 4 * group.local_size();
    for (std::uint32_t first = 4 * group.local_id(); first < count; first += in_flight * stride) {
      float four[in_flight][4];
      COHORT_APPS_UNROLLED
      for (std::uint32_t i = 0; i < in_flight; ++i) {
        if (first + i * stride < count) load(first + i * stride, four[i]);
      }
      COHORT_APPS_UNROLLED
      for (std::uint32_t i = 0; i < in_flight; ++i) {
        const std::uint32_t k = first + i * stride;
        if (k >= count) break;
        float* const at = to + staged_at(k);  // the four elements are neighbours there too
        COHORT_APPS_UNROLLED
        for (std::uint32_t j = 0; j < 4; ++j) at[j] = four[i][j];
      }
    }
  }
  /// Clears the rest of a staged vector.
  template <class Group>
  static COHORT_FN void clear_rest(const Group& group, float* to, std::uint32_t count,
                                   std::uint32_t apart) {
    for (const std::size_t i : group.local_stride(apart - count))
      to[staged_at(static_cast<std::uint32_t>(count + i))] = 0;
  }

  /// Stages the residual of each slot times `norm`. Products with it become those of the normalised
  /// vector by the slot's `scale`, 1 / rms(x).
  template <class Group>
  COHORT_FN void stage_normalised(Group& group, const State& state, const Bf16* norm,
                                  float (&scale)[batch]) const {
    const std::uint32_t hidden = layout.shape.hidden;
    const bool embeds = state.phase == Phase::project && state.layer == 0;
    const std::uint32_t apart = staged_room(hidden);
    const auto now = group.view(static_cast<const float*>(residual));
    float squares[batch] = {};
    COHORT_APPS_UNROLLED
    for (std::uint32_t b = 0; b < batch; ++b) {
      float* const to = group.local().vectors + b * apart;
      const bool idle = is_idle(state, b);
      // Row of the embedding.
      const Bf16* const row = weights + std::size_t{state.slot[b].token} * hidden;
      stage_elements(group, to, hidden, [&](std::uint32_t k, float(&four)[4]) {
        float of_norm[4];
        load4(norm, k, of_norm);
        if (embeds) {
          load4(row, k, four);
        } else {
          load4(now, std::size_t{b} * hidden + k, four);
        }
        COHORT_APPS_UNROLLED
        for (std::uint32_t j = 0; j < 4; ++j) {
          if (idle) four[j] = 0;
          squares[b] += four[j] * four[j];
          four[j] *= of_norm[j];
        }
      });
      clear_rest(group, to, hidden, apart);
    }
    COHORT_APPS_UNROLLED
    for (std::uint32_t b = 0; b < batch; ++b) {
      scale[b] = 0;
      if (is_idle(state, b)) continue;
      const float sum = group.reduce(squares[b], Plus{});
      scale[b] = 1.0F / sqrtf(sum / static_cast<float>(hidden) + Llama::epsilon);
    }
    if (embeds) {  // the residual begins as the embedding; every portion of the phase may write it
      for (std::uint32_t b = 0; b < num_slots; ++b) {
        if (is_idle(state, b)) continue;
        const Bf16* const row = weights + std::size_t{state.slot[b].token} * hidden;
        for (const std::size_t i : group.stride(hidden))
          group.view(residual)[b * hidden + i] = from_bf16(row[i]);
      }
    }
    group.barrier();
  }
  struct Plus {
    COHORT_FN float operator()(float a, float b) const { return a + b; }
  };

  /// Stages `count` elements from `first` on of each slot's vector of `length`.
  template <class Group>
  COHORT_FN void stage(Group& group, const State& state, const float* vectors, std::uint32_t length,
                       std::uint32_t first, std::uint32_t count, std::uint32_t apart) const {
    const auto from = group.view(vectors);
    group.barrier();  // until all threads have read the previously staged vectors
    COHORT_APPS_UNROLLED
    for (std::uint32_t b = 0; b < batch; ++b) {
      float* const to = group.local().vectors + b * apart;
      const bool idle = is_idle(state, b);
      stage_elements(group, to, count, [&](std::uint32_t k, float(&four)[4]) {
        if (idle) {
          for (float& each : four) each = 0;
        } else {
          load4(from, std::size_t{b} * length + first + k, four);
        }
      });
      clear_rest(group, to, count, apart);
    }
    group.barrier();
  }

  /// The group's own part of [begin, end).
  struct Part {
    std::size_t begin;
    std::size_t end;
  };
  template <class Group>
  static COHORT_FN Part part_of(const Group& group, std::size_t begin, std::size_t end) {
    return {begin + (end - begin) * group.group_id() / group.num_groups(),
            begin + (end - begin) * (group.group_id() + 1) / group.num_groups()};
  }

  /// Multiplies the group's pairs of rows with the vectors. `stage_part(first, count, apart)`
  /// stages a part of the vectors, `apart` floats from each other; AllStaged if that is done. Then
  /// one lane calls `done(pair, slot, product, other product)`.
  template <class Group, class StagePart, class Done>
  COHORT_FN void multiply(Group& group, const State& state, const Portion& now, const Matrix& by,
                          const StagePart& stage_part, const Done& done) const {
    const RowTeam team{group, warp_lanes};
    const Part mine = part_of(group, now.begin, now.end);
    // As many elements as fit at the same time, in whole passes of a warp.
    const std::uint32_t all = staged_room(by.length);
    const std::uint32_t most_elements = room / batch / warp_weights * warp_weights;
    const std::uint32_t apart = all < most_elements ? all : most_elements;
    const bool at_once = apart >= by.length;
    if (at_once) stage_part(0, by.length, apart);
    for (std::size_t first = mine.begin; first < mine.end; first += team.teams() * tile_pairs) {
      const std::size_t pair = first + team.team() * tile_pairs;
      // A warp without a pair of its own only helps to stage.
      const bool works = pair < mine.end;
      const Bf16* rows[tile_rows];
      COHORT_APPS_UNROLLED
      for (std::uint32_t r = 0; r < tile_rows; ++r) {
        const bool there = pair + r / 2 < mine.end;  // otherwise a row is computed twice
        rows[r] = by.at + (2 * (works ? pair : first) + (there ? r : r % 2)) * by.length;
      }
      RowSums<tile_rows, batch> sums;
      for (std::uint32_t k = 0; k < by.length; k += apart) {
        const std::uint32_t count = by.length - k < apart ? by.length - k : apart;
        if (!at_once) stage_part(k, count, apart);
        if (!works) continue;
        const Bf16* from[tile_rows];
        COHORT_APPS_UNROLLED
        for (std::uint32_t r = 0; r < tile_rows; ++r) from[r] = rows[r] + k;
        sums.add(team, from, group.local().vectors, apart, count);
      }
      if (!works) continue;
      float product[tile_rows][batch];
      sums.total(team, product);
      COHORT_APPS_UNROLLED
      for (std::uint32_t p = 0; p < tile_pairs; ++p) {
        if (pair + p >= mine.end) continue;
        COHORT_APPS_UNROLLED
        for (std::uint32_t b = 0; b < batch; ++b) {
          if (team.lane() == b % team.lanes() && !is_idle(state, b))
            done(pair + p, b, product[2 * p][b], product[2 * p + 1][b]);
        }
      }
    }
  }
  struct AllStaged {
    COHORT_FN void operator()(std::uint32_t /*first*/, std::uint32_t /*count*/,
                              std::uint32_t /*apart*/) const {}
  };

  /// The portion of a phase's pairs of rows that this step computes.
  template <class Group>
  COHORT_FN Portion pairs_now(const Group& group, const State& state, const Matrix& by) const {
    return portion(group, state.at, by.pairs, chunk, most_of(by.length / 16, 1));
  }
  static COHORT_FN constexpr std::uint32_t most_of(std::uint32_t a, std::uint32_t b) {
    return a > b ? a : b;
  }

  /// Ends a portion. After the last one, `next` follows, which begins with the rows of `then`.
  template <class Group>
  COHORT_FN void conclude(const Group& group, State& state, const Portion& now, Phase next,
                          const Matrix& then) const {
    state.at = now.last ? 0 : now.end;
    if (!now.last) return;
    state.phase = next;
    if (group.alone()) return;
    const Part mine = part_of(group, 0, then.pairs);
    const auto* const begin =
        reinterpret_cast<const std::byte*>(then.at + 2 * mine.begin * then.length);
    const std::size_t bytes = (mine.end - mine.begin) * 2 * then.length * sizeof(Bf16);
    constexpr std::size_t line = 128;
    for (const std::size_t i : group.local_stride(least(bytes, prefetched_bytes) / line))
      prefetch_to_l2(begin + i * line);
  }

  template <class Group>
  COHORT_FN void project(Group& group, State& state) const {
    const Llama& shape = layout.shape;
    const Matrix by = qkv(state.layer);
    const Portion now = pairs_now(group, state, by);
    float scale[batch];
    stage_normalised(group, state, weights + layout.attention_norm(state.layer), scale);
    const std::uint32_t half = shape.head_dim / 2;
    multiply(
        group, state, now, by, AllStaged{},
        [&](std::size_t pair, std::uint32_t b, float one, float other) {
          one *= scale[b];
          other *= scale[b];
          const std::uint32_t position = state.slot[b].position;
          auto head_index = static_cast<std::uint32_t>(pair) / half;
          const std::uint32_t i = static_cast<std::uint32_t>(pair) % half;
          if (head_index < shape.heads + shape.kv_heads) {
            const float* const turn = rotations + (std::size_t{position - context} * half + i) * 2;
            const float before = one;
            one = before * turn[0] - other * turn[1];
            other = other * turn[0] + before * turn[1];
          }
          if (head_index < shape.heads) {
            const std::size_t at = (std::size_t{b} * shape.heads + head_index) * shape.head_dim + i;
            group.view(queries)[at] = one;
            group.view(queries)[at + half] = other;
            return;
          }
          head_index -= shape.heads;
          const bool is_key = head_index < shape.kv_heads;
          if (!is_key) head_index -= shape.kv_heads;
          const std::size_t at = cached_at(state.layer, b, head_index, position) + i;
          const auto cache = group.view(is_key ? keys : values);
          cache[at] = to_bf16(one);
          cache[at + half] = to_bf16(other);
        });
    conclude(group, state, now, Phase::attend, output(state.layer));
  }
  /// The index at which the keys or values of a position begin.
  [[nodiscard]] COHORT_FN std::size_t cached_at(std::uint32_t layer, std::uint32_t slot,
                                                std::uint32_t kv_head,
                                                std::uint32_t position) const {
    const Llama& shape = layout.shape;
    return (((std::size_t{layer} * num_slots + slot) * shape.kv_heads + kv_head) * positions +
            position) *
           shape.head_dim;
  }

  /// A piece of attention: some positions of a slot, for a bundle of heads.
  struct Piece {
    std::uint32_t slot;
    std::uint32_t bundle;
    std::uint32_t index;  ///< index among the `count` pieces of this context
    std::uint32_t count;
    std::uint32_t begin;
    std::uint32_t end;
  };
  static COHORT_FN std::uint32_t context_of(const State& state, std::uint32_t slot) {
    return is_idle(state, slot) ? 0 : state.slot[slot].position + 1;
  }
  COHORT_FN std::uint32_t count_pieces(const State& state) const {
    std::uint32_t count = 0;
    for (std::uint32_t b = 0; b < num_slots; ++b)
      count += AttentionPieces::count(context_of(state, b)) * bundles();
    return count;
  }
  COHORT_FN Piece find_piece(const State& state, std::uint32_t which) const {
    std::uint32_t slot = 0;
    std::uint32_t length = context_of(state, 0);
    std::uint32_t count = AttentionPieces::count(length);
    while (which >= count * bundles()) {
      which -= count * bundles();
      length = context_of(state, ++slot);
      count = AttentionPieces::count(length);
    }
    const std::uint32_t index = which % count;
    const auto cut = [&](std::uint32_t at) {
      return static_cast<std::uint32_t>(std::uint64_t{length} * at / count);
    };
    return {slot, which / count, index, count, cut(index), cut(index + 1)};
  }

  template <class Group>
  COHORT_FN void attend(Group& group, State& state) const {
    const Portion now =
        portion(group, state.at, count_pieces(state), chunk, AttentionPieces::least_length);
    // The words of the other turn were read in its first phase, and are written in its last.
    if (state.layer == 0 && group.global_id() == 0) {
      for (std::uint32_t b = 0; b < batch; ++b)
        group.atomic(likeliest[(state.turn + 1) % 2 * batch + b]).store(0);
    }
    const Part mine = part_of(group, now.begin, now.end);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      const Piece piece = find_piece(state, static_cast<std::uint32_t>(i));
      attend_piece(group, state, piece);
      group.barrier();  // until all threads are done with local memory
    }
    conclude(group, state, now, Phase::add_heads, output(state.layer));
  }

  template <class Group>
  COHORT_FN void attend_piece(Group& group, const State& state, const Piece& piece) const {
    const Llama& shape = layout.shape;
    const std::uint32_t dim = shape.head_dim;
    const std::uint32_t together = queries_together();
    const std::uint32_t length = piece.end - piece.begin;
    Local& local = group.local();
    float* const scores = local.vectors;  // indexed by query and position
    float* const parts = local.vectors + max_queries * AttentionPieces::most_length;
    const std::uint32_t kv_head = piece.bundle * together / (shape.heads / shape.kv_heads);
    const std::size_t cached = cached_at(state.layer, piece.slot, kv_head, piece.begin);
    const std::size_t first_query =
        (std::size_t{piece.slot} * shape.heads + piece.bundle * together) * dim;
    const float scale = 1.0F / sqrtf(static_cast<float>(dim));

    // Scores: a team takes a position, and each of its lanes eight dimensions of it.
    const RowTeam team{group, dim / 8};
    const auto its_keys = group.view(static_cast<const Bf16*>(keys));
    const auto its_queries = group.view(static_cast<const float*>(queries));
    for (std::uint32_t d = 8 * team.lane(); d < dim; d += 8 * team.lanes()) {
      float query[max_queries][8];
      COHORT_APPS_UNROLLED
      for (std::uint32_t q = 0; q < max_queries; ++q) {
        for (std::uint32_t j = 0; j < 8; ++j)
          query[q][j] =
              q < together ? static_cast<float>(its_queries[first_query + q * dim + d + j]) : 0;
      }
      // All teams of a warp have the same number of iterations, because their lanes add up
      // together.
      for (std::uint32_t round = 0; round < length; round += scores_in_flight * team.teams()) {
        float key[scores_in_flight][8] = {};
        COHORT_APPS_UNROLLED
        for (std::uint32_t i = 0; i < scores_in_flight; ++i) {
          const std::uint32_t p = round + i * team.teams() + team.team();
          if (p < length) load8(its_keys, cached + std::size_t{p} * dim + d, key[i]);
        }
        COHORT_APPS_UNROLLED
        for (std::uint32_t i = 0; i < scores_in_flight; ++i) {
          const std::uint32_t p = round + i * team.teams() + team.team();
          COHORT_APPS_UNROLLED
          for (std::uint32_t q = 0; q < max_queries; ++q) {
            if (q >= together) break;
            float product = 0;
            COHORT_APPS_UNROLLED
            for (std::uint32_t j = 0; j < 8; ++j) product += query[q][j] * key[i][j];
            product = team.sum(product) * scale;
            if (p < length && team.lane() == 0) {
              float& score = scores[q * AttentionPieces::most_length + p];
              score = d == 0 ? product : score + product;
            }
          }
        }
      }
    }
    group.barrier();

    // Weights: the exponentials of the scores, relative to the largest.
    const RowTeam warp{group, warp_lanes};
    for (std::uint32_t q = warp.team(); q < together; q += warp.teams()) {
      float* const row = scores + q * AttentionPieces::most_length;
      float largest = -INFINITY;
      for (std::uint32_t p = warp.lane(); p < length; p += warp.lanes())
        largest = fmaxf(largest, row[p]);
      largest = warp.most(largest);
      float total = 0;
      for (std::uint32_t p = warp.lane(); p < length; p += warp.lanes()) {
        const float weight = expf(row[p] - largest);
        row[p] = weight;
        total += weight;
      }
      total = warp.sum(total);
      if (warp.lane() == 0) {
        local.largest[q] = largest;
        local.total[q] = total;
      }
    }
    group.barrier();

    // Sums of weighted values: each team adds up some positions, then the teams are added up.
    const auto its_values = group.view(static_cast<const Bf16*>(values));
    const std::uint32_t with_room =
        (room - max_queries * AttentionPieces::most_length) / (max_queries * dim);
    const std::uint32_t adding = team.teams() < with_room ? team.teams() : with_room;
    if (team.team() < adding) {
      for (std::uint32_t d = 8 * team.lane(); d < dim; d += 8 * team.lanes()) {
        float sum[max_queries][8] = {};
        COHORT_APPS_UNROLLED_4
        for (std::uint32_t p = team.team(); p < length; p += adding) {
          float value[8];
          load8(its_values, cached + std::size_t{p} * dim + d, value);
          COHORT_APPS_UNROLLED
          for (std::uint32_t q = 0; q < max_queries; ++q) {
            if (q >= together) break;
            const float weight = scores[q * AttentionPieces::most_length + p];
            COHORT_APPS_UNROLLED
            for (std::uint32_t j = 0; j < 8; ++j) sum[q][j] += weight * value[j];
          }
        }
        COHORT_APPS_UNROLLED
        for (std::uint32_t q = 0; q < max_queries; ++q) {
          if (q >= together) break;
          for (std::uint32_t j = 0; j < 8; ++j)
            parts[(team.team() * max_queries + q) * dim + d + j] = sum[q][j];
        }
      }
    }
    group.barrier();
    const std::size_t place =
        (std::size_t{piece.slot} * bundles() + piece.bundle) * AttentionPieces::count(positions);
    const auto unfinished = group.view(pieces);
    const auto sums = group.view(piece_sums);
    for (const std::size_t i : group.local_stride(std::size_t{together} * dim)) {
      float sum = 0;
      for (std::uint32_t t = 0; t < adding; ++t) sum += parts[t * max_queries * dim + i];
      if (piece.count == 1) {
        group.view(heads)[first_query + i] = sum / local.total[i / dim];
      } else {
        unfinished[(place + piece.index) * max_queries * dim + i] = sum;
      }
    }
    if (piece.count == 1) return;
    for (const std::size_t q : group.local_stride(together)) {
      sums[(place + piece.index) * 2 * max_queries + q] = local.largest[q];
      sums[(place + piece.index) * 2 * max_queries + max_queries + q] = local.total[q];
    }

    // The group that finishes the last piece combines all of them, in their order.
    group.barrier();
    std::uint32_t& done = pieces_done[piece.slot * bundles() + piece.bundle];
    std::uint32_t before = 0;
    // Releases this group's piece, and acquires the others' in the group that counts last.
    if (group.local_id() == 0) before = group.atomic(done).fetch_add(1, Order::acq_rel);
    if (group.broadcast(before) + 1 != piece.count) return;
    if (group.local_id() == 0) group.atomic(done).store(0);
    for (const std::size_t i : group.local_stride(std::size_t{together} * dim)) {
      const std::size_t q = i / dim;
      float largest = -INFINITY;
      for (std::uint32_t s = 0; s < piece.count; ++s)
        largest = fmaxf(largest, static_cast<float>(sums[(place + s) * 2 * max_queries + q]));
      float sum = 0;
      float total = 0;
      for (std::uint32_t s = 0; s < piece.count; ++s) {
        const std::size_t at = (place + s) * 2 * max_queries + q;
        const float share = expf(static_cast<float>(sums[at]) - largest);
        sum += share * static_cast<float>(unfinished[(place + s) * max_queries * dim + i]);
        total += share * static_cast<float>(sums[at + max_queries]);
      }
      group.view(heads)[first_query + i] = sum / total;
    }
  }

  /// Adds the product of a matrix with vectors to the residual.
  template <class Group>
  COHORT_FN Portion add_to_residual(Group& group, const State& state, const Matrix& by,
                                    const float* vectors) const {
    const Portion now = pairs_now(group, state, by);
    multiply(
        group, state, now, by,
        [&](std::uint32_t first, std::uint32_t count, std::uint32_t apart) {
          stage(group, state, vectors, by.length, first, count, apart);
        },
        [&](std::size_t pair, std::uint32_t b, float one, float other) {
          const auto sum = group.view(residual);
          const std::size_t at = std::size_t{b} * layout.shape.hidden + 2 * pair;
          sum[at] = static_cast<float>(sum[at]) + one;
          sum[at + 1] = static_cast<float>(sum[at + 1]) + other;
        });
    return now;
  }

  template <class Group>
  COHORT_FN void add_heads(Group& group, State& state) const {
    const Portion now = add_to_residual(group, state, output(state.layer), heads);
    conclude(group, state, now, Phase::expand, gate_up(state.layer));
  }

  template <class Group>
  COHORT_FN void expand(Group& group, State& state) const {
    const Matrix by = gate_up(state.layer);
    const Portion now = pairs_now(group, state, by);
    float scale[batch];
    stage_normalised(group, state, weights + layout.ffn_norm(state.layer), scale);
    multiply(group, state, now, by, AllStaged{},
             [&](std::size_t unit, std::uint32_t b, float gate, float up) {
               gate *= scale[b];
               up *= scale[b];
               group.view(expanded)[std::size_t{b} * layout.shape.ffn + unit] =
                   gate / (1.0F + expf(-gate)) * up;
             });
    conclude(group, state, now, Phase::contract, down(state.layer));
  }

  template <class Group>
  COHORT_FN void contract(Group& group, State& state) const {
    const Portion now = add_to_residual(group, state, down(state.layer), expanded);
    const bool last = state.layer + 1 == layout.shape.layers;
    conclude(group, state, now, last ? Phase::choose : Phase::project,
             last ? head() : qkv(state.layer + 1));
    if (now.last && !last) ++state.layer;
  }

  template <class Group>
  COHORT_FN void choose(Group& group, State& state) const {
    const Matrix by = head();
    const Portion now = pairs_now(group, state, by);
    float scale[batch];
    stage_normalised(group, state, weights + layout.final_norm(), scale);
    const bool keeps = state.turn < kept_turns;
    std::uint64_t best[batch] = {};
    multiply(group, state, now, by, AllStaged{},
             [&](std::size_t pair, std::uint32_t b, float one, float other) {
               const auto token = static_cast<std::uint32_t>(2 * pair);
               one *= scale[b];
               other *= scale[b];
               const std::uint64_t first = ranked_token(one, token);
               const std::uint64_t second = ranked_token(other, token + 1);
               const std::uint64_t better = first > second ? first : second;
               // A lane has the same slot each time, so the index is not one at run time.
               COHORT_APPS_UNROLLED
               for (std::uint32_t i = 0; i < batch; ++i) {
                 if (i == b && best[i] < better) best[i] = better;
               }
               if (!keeps) return;
               const std::size_t at =
                   (std::size_t{state.turn} * batch + b) * layout.shape.vocabulary + token;
               group.view(logits)[at] = one;
               group.view(logits)[at + 1] = other;
             });
    COHORT_APPS_UNROLLED
    for (std::uint32_t b = 0; b < batch; ++b) {
      if (is_idle(state, b)) continue;
      const std::uint64_t its_best = group.reduce(best[b], Larger{});
      if (group.local_id() == 0 && its_best != 0)
        group.atomic(likeliest[state.turn % 2 * batch + b]).fetch_max(its_best);
    }
    conclude(group, state, now, Phase::project, qkv(0));
    if (!now.last) return;
    state.layer = 0;
    ++state.turn;
  }
  struct Larger {
    COHORT_FN std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
      return a < b ? b : a;
    }
  };
};

}  // namespace cohort::apps
