// The shapes of Llama models, and their random weights: each weight is a hash of the seed, its
// matrix and its place in the matrix, so that any thread can compute any of them.
// Invariant: the weights of a matrix do not depend on the order in which it is stored.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cohort/kernel.hpp"

namespace cohort::apps {

/// The upper 16 bits of a float.
using Bf16 = std::uint16_t;

COHORT_FN inline float float_of(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}
COHORT_FN inline std::uint32_t bits_of(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  return std::bit_cast<std::uint32_t>(value);
#endif
}

COHORT_FN inline float from_bf16(Bf16 value) {
  return float_of(static_cast<std::uint32_t>(value) << 16U);
}
/// Rounds to the nearest number, and to the even one of two nearest.
COHORT_FN inline Bf16 to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  return static_cast<Bf16>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

/// A decoder of the Llama family: RMSNorm, rotary embedding, grouped-query attention and SwiGLU.
struct Llama {
  std::uint32_t hidden;
  std::uint32_t layers;
  std::uint32_t heads;
  std::uint32_t kv_heads;
  std::uint32_t head_dim;
  std::uint32_t ffn;  ///< width of the feed-forward network
  std::uint32_t vocabulary;
  bool tied = false;  ///< whether the embedding is also the LM head
  double rope_theta = 500000;

  static constexpr float epsilon = 1e-5F;  ///< the epsilon of RMSNorm

  [[nodiscard]] COHORT_FN constexpr std::uint32_t attention_width() const {
    return heads * head_dim;
  }
  [[nodiscard]] COHORT_FN constexpr std::uint32_t qkv_rows() const {
    return (heads + 2 * kv_heads) * head_dim;
  }

  friend constexpr bool operator==(const Llama&, const Llama&) = default;
};

struct NamedLlama {
  std::string_view name;
  Llama shape;
};

/// `1b` and `8b` have the shapes of Llama 3.2 1B and Llama 3.1 8B, whose rotary embedding is also
/// scaled; the others are for tests and short measurements.
inline constexpr std::array llamas{
    NamedLlama{"tiny",
               {.hidden = 64,
                .layers = 2,
                .heads = 4,
                .kv_heads = 2,
                .head_dim = 16,
                .ffn = 176,
                .vocabulary = 512}},
    NamedLlama{"100m",
               {.hidden = 768,
                .layers = 12,
                .heads = 12,
                .kv_heads = 4,
                .head_dim = 64,
                .ffn = 2048,
                .vocabulary = 32000}},
    NamedLlama{"1b",
               {.hidden = 2048,
                .layers = 16,
                .heads = 32,
                .kv_heads = 8,
                .head_dim = 64,
                .ffn = 8192,
                .vocabulary = 128256,
                .tied = true}},
    NamedLlama{"8b",
               {.hidden = 4096,
                .layers = 32,
                .heads = 32,
                .kv_heads = 8,
                .head_dim = 128,
                .ffn = 14336,
                .vocabulary = 128256}},
};

/// Pseudo-random numbers by their index (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
class CountedRandom {
 public:
  COHORT_FN constexpr CountedRandom(std::uint64_t seed, std::uint64_t stream)
      : key_(mixed(seed + golden * (mixed(stream + 1) | 1U))) {}

  /// The four numbers from index 4·`quad` on: 16 bits each, the first in the lowest bits.
  [[nodiscard]] COHORT_FN constexpr std::uint64_t quad(std::uint64_t quad) const {
    return mixed(key_ + golden * (quad + 1));
  }
  /// Number `index`, at least -1 and below 1.
  [[nodiscard]] COHORT_FN constexpr float operator[](std::uint64_t index) const {
    return number(quad(index / 4), static_cast<std::uint32_t>(index % 4));
  }
  /// One of the four numbers of a quad, at least -1 and below 1.
  [[nodiscard]] static COHORT_FN constexpr float number(std::uint64_t quad, std::uint32_t which) {
    return static_cast<float>(static_cast<std::int16_t>(quad >> (16 * which))) * 0x1p-15F;
  }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;
  static COHORT_FN constexpr std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9U;
    number = (number ^ (number >> 27U)) * 0x94D049BB133111EBU;
    return number ^ (number >> 31U);
  }

  std::uint64_t key_;
};

/// The matrices and vectors of a model. The first nine are in each layer.
enum class Tensor : std::uint32_t {
  query,
  key,
  value,
  output,
  gate,
  up,
  down,
  attention_norm,
  ffn_norm,
  final_norm,
  embedding,
  head,
};

/// The random numbers of a tensor: its weights by row and column, as they are usually stored.
class TensorValues {
 public:
  COHORT_FN TensorValues(const Llama& shape, std::uint64_t seed, Tensor tensor, std::uint32_t layer)
      : random_(seed, layer * 16ULL + static_cast<std::uint32_t>(tensor)),
        base_(tensor == Tensor::attention_norm || tensor == Tensor::ffn_norm ||
                      tensor == Tensor::final_norm
                  ? 1.0F
                  : 0.0F),
        width_(half_width(shape, tensor)) {}

  /// Four weights from index 4·`quad` on.
  COHORT_FN void quad(std::uint64_t quad, Bf16* out) const {
    const std::uint64_t bits = random_.quad(quad);
    for (std::uint32_t i = 0; i < 4; ++i)
      out[i] = to_bf16(base_ + width_ * CountedRandom::number(bits, i));
  }

 private:
  /// Weights are uniform in ±width. Most products then have the variance of their input, and what
  /// the layers add to the residual has a variance of about 1 in all.
  static COHORT_FN float half_width(const Llama& shape, Tensor tensor) {
    const auto uniform = [](float inputs) { return sqrtf(3.0F / inputs); };
    const float depth = sqrtf(0.5F / static_cast<float>(shape.layers));
    switch (tensor) {
      case Tensor::output: return uniform(static_cast<float>(shape.attention_width())) * depth;
      case Tensor::down: return uniform(static_cast<float>(shape.ffn)) * depth;
      case Tensor::attention_norm:
      case Tensor::ffn_norm:
      case Tensor::final_norm: return 0.125F;
      case Tensor::embedding: return 0.03125F;
      default: return uniform(static_cast<float>(shape.hidden));
    }
  }

  CountedRandom random_;
  float base_;
  float width_;
};

/// The keys or values of a slot before its first token, by head, position and dimension.
COHORT_FN inline CountedRandom context_values(std::uint64_t seed, bool values, std::uint32_t layer,
                                              std::uint32_t slot) {
  return {seed, (1ULL << 40U) + ((layer * 64ULL + slot) * 2 + (values ? 1 : 0))};
}
inline constexpr float context_width = 1.7320508F;  // gives a variance of 1

/// The first token of a request.
COHORT_FN inline std::uint32_t first_token(std::uint64_t seed, std::uint32_t request,
                                           std::uint32_t vocabulary) {
  return static_cast<std::uint32_t>(
      (CountedRandom{seed, 1ULL << 41U}.quad(request) >> 32U) * vocabulary >> 32U);
}

/// The positions of the tensors in memory, counted in weights: the embedding, the layers, the last
/// norm and the head. Two rows whose products are used together are neighbours: the two halves of a
/// rotated pair, and the gate and up rows of a unit.
struct LlamaLayout {
  Llama shape;

  [[nodiscard]] COHORT_FN std::size_t table() const {  // of the embedding or the head
    return std::size_t{shape.vocabulary} * shape.hidden;
  }
  [[nodiscard]] COHORT_FN std::size_t qkv_size() const {
    return std::size_t{shape.qkv_rows()} * shape.hidden;
  }
  [[nodiscard]] COHORT_FN std::size_t output_size() const {
    return std::size_t{shape.hidden} * shape.attention_width();
  }
  [[nodiscard]] COHORT_FN std::size_t down_size() const {
    return std::size_t{shape.hidden} * shape.ffn;
  }
  [[nodiscard]] COHORT_FN std::size_t layer_size() const {
    return 2 * std::size_t{shape.hidden} + qkv_size() + output_size() + 3 * down_size();
  }

  [[nodiscard]] COHORT_FN std::size_t attention_norm(std::uint32_t layer) const {
    return table() + layer * layer_size();
  }
  [[nodiscard]] COHORT_FN std::size_t qkv(std::uint32_t layer) const {
    return attention_norm(layer) + shape.hidden;
  }
  [[nodiscard]] COHORT_FN std::size_t output(std::uint32_t layer) const {
    return qkv(layer) + qkv_size();
  }
  [[nodiscard]] COHORT_FN std::size_t ffn_norm(std::uint32_t layer) const {
    return output(layer) + output_size();
  }
  [[nodiscard]] COHORT_FN std::size_t gate_up(std::uint32_t layer) const {
    return ffn_norm(layer) + shape.hidden;
  }
  [[nodiscard]] COHORT_FN std::size_t down(std::uint32_t layer) const {
    return gate_up(layer) + 2 * down_size();
  }
  [[nodiscard]] COHORT_FN std::size_t final_norm() const { return attention_norm(shape.layers); }
  [[nodiscard]] COHORT_FN std::size_t head() const {
    return shape.tied ? 0 : final_norm() + shape.hidden;
  }
  /// Number of all weights.
  [[nodiscard]] COHORT_FN std::size_t size() const {
    return final_norm() + shape.hidden + (shape.tied ? 0 : table());
  }
  /// Number of weights that are read for one token: one row of the embedding, and all other
  /// weights.
  [[nodiscard]] std::size_t read_per_token() const {
    return size() - (shape.tied ? 0 : table() - shape.hidden);
  }
};

}  // namespace cohort::apps
