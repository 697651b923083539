// Kernels of one step that a decoder needs: they make its weights and the context with which its
// requests begin, and read the weights as fast as the memory allows.
// Invariant: the results do not depend on the number of groups.
#pragma once

#include "apps/decode/dot.hpp"
#include "apps/decode/llama.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

/// Makes the weights of a model.
struct GenerateWeights {
  /// Number of weights that are made together; they are in one row.
  static constexpr std::uint32_t unit = 8;

  LlamaLayout layout;
  std::uint64_t seed;
  Bf16* weights;

  template <class Group>
  COHORT_FN Next step(Group& group, Nothing& /*state*/) const {
    for_items(group, 0, units(), [this](std::size_t which) { make(which); });
    return Next::halt;
  }
  COHORT_FN void make(std::size_t which) const {
    const std::size_t at = which * unit;
    const Llama& shape = layout.shape;
    if (at < layout.table()) return row_major(Tensor::embedding, 0, at, at);
    if (at >= layout.final_norm()) {
      const std::size_t behind = at - layout.final_norm();
      return behind < shape.hidden ? row_major(Tensor::final_norm, 0, at, behind)
                                   : row_major(Tensor::head, 0, at, behind - shape.hidden);
    }
    const auto layer = static_cast<std::uint32_t>((at - layout.table()) / layout.layer_size());
    if (at < layout.qkv(layer))
      return row_major(Tensor::attention_norm, layer, at, at - layout.attention_norm(layer));
    if (at < layout.output(layer)) return make_qkv(layer, at, at - layout.qkv(layer));
    if (at < layout.ffn_norm(layer))
      return row_major(Tensor::output, layer, at, at - layout.output(layer));
    if (at < layout.gate_up(layer))
      return row_major(Tensor::ffn_norm, layer, at, at - layout.ffn_norm(layer));
    if (at < layout.down(layer)) {
      const std::size_t in = at - layout.gate_up(layer);
      const std::size_t row = in / shape.hidden;
      return row_major(row % 2 == 0 ? Tensor::gate : Tensor::up, layer, at,
                       row / 2 * shape.hidden + in % shape.hidden);
    }
    row_major(Tensor::down, layer, at, at - layout.down(layer));
  }
  [[nodiscard]] COHORT_FN std::size_t units() const { return layout.size() / unit; }

 private:
  COHORT_FN void make_qkv(std::uint32_t layer, std::size_t at, std::size_t in) const {
    const Llama& shape = layout.shape;
    const auto row = static_cast<std::uint32_t>(in / shape.hidden);
    const std::uint32_t half = shape.head_dim / 2;
    const std::uint32_t pair = row / 2;
    std::uint32_t head = pair / half;
    const std::uint32_t in_head = pair % half + row % 2 * half;
    Tensor tensor = Tensor::query;
    if (head >= shape.heads) {
      head -= shape.heads;
      tensor = head < shape.kv_heads ? Tensor::key : Tensor::value;
      if (head >= shape.kv_heads) head -= shape.kv_heads;
    }
    row_major(tensor, layer, at,
              (std::size_t{head} * shape.head_dim + in_head) * shape.hidden + in % shape.hidden);
  }
  COHORT_FN void row_major(Tensor tensor, std::uint32_t layer, std::size_t at,
                           std::size_t index) const {
    const TensorValues values{layout.shape, seed, tensor, layer};
    for (std::uint32_t i = 0; i < unit; i += 4) values.quad((index + i) / 4, weights + at + i);
  }
};

/// Makes the keys or values of the context, in all layers and slots.
struct GenerateContext {
  Llama shape;
  std::uint64_t seed;
  std::uint32_t slots;
  std::uint32_t positions;  ///< number of positions for which there is room
  std::uint32_t context;    ///< number of positions to make
  Bf16* caches[2];          ///< keys and values, by layer, slot, head, position and dimension

  template <class Group>
  COHORT_FN Next step(Group& group, Nothing& /*state*/) const {
    for_items(group, 0, units(), [this](std::size_t which) { make(which); });
    return Next::halt;
  }
  /// Four numbers that are made together.
  [[nodiscard]] COHORT_FN std::size_t units() const {
    return 2 * std::size_t{shape.layers} * slots * shape.kv_heads * quads();
  }
  COHORT_FN void make(std::size_t which) const {
    const std::size_t quad = which % quads();
    // Keys come first, then values.
    const auto head_row = static_cast<std::uint32_t>(which / quads());
    const std::uint32_t rows = shape.layers * slots * shape.kv_heads;
    const std::uint32_t values = head_row / rows;
    const std::uint32_t row = head_row % rows;
    const std::uint32_t head = row % shape.kv_heads;
    const std::uint32_t slot = row / shape.kv_heads % slots;
    const std::uint32_t layer = row / shape.kv_heads / slots;
    const std::uint64_t bits =
        context_values(seed, values != 0, layer, slot).quad(head * quads() + quad);
    Bf16* const out = caches[values] + std::size_t{row} * positions * shape.head_dim + quad * 4;
    for (std::uint32_t i = 0; i < 4; ++i)
      out[i] = to_bf16(context_width * CountedRandom::number(bits, i));
  }

 private:
  [[nodiscard]] COHORT_FN std::size_t quads() const {  // number of quads in a head
    return std::size_t{context} * shape.head_dim / 4;
  }
};

/// Reads memory `passes` times, to measure the bandwidth that is available to a decoder.
struct ReadMemory {
  struct alignas(16) Words {
    std::uint64_t low;
    std::uint64_t high;
  };
  struct State {
    std::uint32_t pass = 0;
  };

  const Words* memory;
  std::size_t count;
  std::uint32_t passes;
  std::uint64_t* sum;  ///< sum of all words, so that the compiler cannot drop a read

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    std::uint64_t mine = 0;
    const std::size_t begin = count * group.group_id() / group.num_groups();
    const std::size_t end = count * (group.group_id() + 1) / group.num_groups();
    if (group.alone()) {
      for (std::size_t i = begin; i < end; ++i) mine += memory[i].low ^ memory[i].high;
    } else {
      constexpr std::uint32_t in_flight = 8;
      const std::size_t stride = group.local_size();
      std::size_t i = begin + group.local_id();
      for (; i + (in_flight - 1) * stride < end; i += in_flight * stride) {
        Words words[in_flight];
        COHORT_APPS_UNROLLED
        for (std::uint32_t j = 0; j < in_flight; ++j) words[j] = memory[i + j * stride];
        COHORT_APPS_UNROLLED
        for (std::uint32_t j = 0; j < in_flight; ++j) mine += words[j].low ^ words[j].high;
      }
      for (; i < end; i += stride) mine += memory[i].low ^ memory[i].high;
    }
    group.atomic(*sum).fetch_add(mine);
    return ++state.pass < passes ? Next::again : Next::halt;
  }
};

}  // namespace cohort::apps
