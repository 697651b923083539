// Products of rows of bf16 weights with vectors of floats that the threads of a group share.
// A team computes a row: a warp on a GPU, a thread elsewhere.
// Invariant: the order in which a product is summed up depends on the length of the row alone, so
// results do not depend on the number of groups.
#pragma once

#include <cstring>
#include <type_traits>

#include "apps/decode/llama.hpp"
#include "apps/share.hpp"

namespace cohort::apps {

#ifdef __CUDA_ARCH__
#define COHORT_APPS_UNROLLED _Pragma("unroll")
#define COHORT_APPS_UNROLLED_4 _Pragma("unroll 4")
#else
#define COHORT_APPS_UNROLLED
#define COHORT_APPS_UNROLLED_4
#endif

/// The threads that work on one row, or on one position of the context.
class RowTeam {
 public:
  /// A team of `lanes` threads on a GPU, a power of two of at most 32; of one thread elsewhere.
  template <class Group>
  COHORT_FN RowTeam(const Group& group, [[maybe_unused]] std::uint32_t lanes)
#ifdef __CUDA_ARCH__
      : lanes_(lanes),
#else
      : lanes_(1),
#endif
        lane_(group.local_id() % lanes_),
        team_(group.local_id() / lanes_),
        teams_(group.local_size() / lanes_) {
  }

  [[nodiscard]] COHORT_FN std::uint32_t lanes() const { return lanes_; }
  [[nodiscard]] COHORT_FN std::uint32_t lane() const { return lane_; }
  [[nodiscard]] COHORT_FN std::uint32_t team() const { return team_; }
  [[nodiscard]] COHORT_FN std::uint32_t teams() const { return teams_; }

  /// Returns the sum of all lanes' values to every lane. All teams of a warp call it together.
  [[nodiscard]] COHORT_FN float sum(float value) const {
#ifdef __CUDA_ARCH__
    for (std::uint32_t apart = lanes_ / 2; apart > 0; apart /= 2)
      value += __shfl_xor_sync(~0U, value, apart);
#endif
    return value;
  }
  [[nodiscard]] COHORT_FN float most(float value) const {
#ifdef __CUDA_ARCH__
    for (std::uint32_t apart = lanes_ / 2; apart > 0; apart /= 2)
      value = fmaxf(value, __shfl_xor_sync(~0U, value, apart));
#endif
    return value;
  }

 private:
  std::uint32_t lanes_;
  std::uint32_t lane_;
  std::uint32_t team_;
  std::uint32_t teams_;
};

/// Number of threads in a warp of a GPU.
inline constexpr std::uint32_t warp_lanes = 32;
/// Number of weights that a warp loads at once: 16 bytes in each lane.
inline constexpr std::uint32_t warp_weights = 8 * warp_lanes;

/// The index of element `k` of a staged vector. On a GPU the eight floats of a lane are split into
/// two places, so that the 16-byte loads of a warp's lanes touch each bank of shared memory once.
COHORT_FN constexpr std::uint32_t staged_at(std::uint32_t k) {
#ifdef __CUDA_ARCH__
  return (k & ~255U) | ((k & 4U) << 5U) | ((k & 0xF8U) >> 1U) | (k & 3U);
#else
  return k;
#endif
}
/// The number of floats that a staged vector of `length` elements takes.
COHORT_FN constexpr std::uint32_t staged_room(std::uint32_t length) {
  return (length + warp_weights - 1) / warp_weights * warp_weights;
}

/// Eight consecutive numbers, as floats.
template <class View>
COHORT_FN void load8(const View& from, std::size_t at, float (&to)[8]) {
#ifdef __CUDA_ARCH__
  const uint4 words = *reinterpret_cast<const uint4*>(&from[at]);
  const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
  COHORT_APPS_UNROLLED
  for (std::uint32_t i = 0; i < 4; ++i) {
    to[2 * i] = __uint_as_float(word[i] << 16U);
    to[2 * i + 1] = __uint_as_float(word[i] & 0xFFFF0000U);
  }
#else
  for (std::uint32_t i = 0; i < 8; ++i) to[i] = from_bf16(from[at + i]);
#endif
}

/// Four consecutive numbers, floats or bf16, as floats.
template <class View>
COHORT_FN void load4(const View& from, std::size_t at, float (&to)[4]) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(from[at]) == sizeof(float)) {
    const float4 words = *reinterpret_cast<const float4*>(&from[at]);
    to[0] = words.x;
    to[1] = words.y;
    to[2] = words.z;
    to[3] = words.w;
  } else {
    const uint2 words = *reinterpret_cast<const uint2*>(&from[at]);
    to[0] = __uint_as_float(words.x << 16U);
    to[1] = __uint_as_float(words.x & 0xFFFF0000U);
    to[2] = __uint_as_float(words.y << 16U);
    to[3] = __uint_as_float(words.y & 0xFFFF0000U);
  }
#else
  for (std::uint32_t i = 0; i < 4; ++i) {
    const auto number = from[at + i];
    if constexpr (std::is_convertible_v<const View&, const Bf16*>) {
      to[i] = from_bf16(number);
    } else {
      to[i] = static_cast<float>(number);
    }
  }
#endif
}

/// Prefetches memory that is read after the next barrier.
COHORT_FN inline void prefetch_to_l2([[maybe_unused]] const void* memory) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(memory)));
#endif
}

#ifndef __CUDA_ARCH__
namespace detail {

inline constexpr std::uint32_t vector_width = 16;
using FloatVector = float __attribute__((vector_size(4 * vector_width)));
using WordVector = std::uint32_t __attribute__((vector_size(4 * vector_width)));
using Bf16Vector = Bf16 __attribute__((vector_size(2 * vector_width)));

/// One vector of sums for each row and each slot of the batch.
template <std::uint32_t rows, std::uint32_t batch>
struct VectorSums {
  FloatVector sum[rows][batch];
};

/// Adds the products of `count` weights of each row with the vectors, which are `apart` floats from
/// each other.
template <std::uint32_t rows, std::uint32_t batch>
[[gnu::always_inline]] inline void add_products(VectorSums<rows, batch>& sums,
                                                const Bf16* const (&row)[rows], const float* x,
                                                std::size_t apart, std::uint32_t count) {
  FloatVector sum[rows][batch];
  std::memcpy(sum, sums.sum, sizeof sum);
  for (std::uint32_t k = 0; k < count; k += vector_width) {
    Bf16Vector narrow[rows] = {};
    FloatVector with[batch] = {};
    if (k + vector_width <= count) {
      for (std::uint32_t r = 0; r < rows; ++r)
        std::memcpy(&narrow[r], row[r] + k, sizeof(Bf16Vector));
      for (std::uint32_t b = 0; b < batch; ++b)
        std::memcpy(&with[b], x + b * apart + k, sizeof(FloatVector));
    } else {
      for (std::uint32_t r = 0; r < rows; ++r)
        std::memcpy(&narrow[r], row[r] + k, (count - k) * sizeof(Bf16));
      for (std::uint32_t b = 0; b < batch; ++b)
        std::memcpy(&with[b], x + b * apart + k, (count - k) * sizeof(float));
    }
    for (std::uint32_t r = 0; r < rows; ++r) {
      const WordVector wide = __builtin_convertvector(narrow[r], WordVector) << 16;
      FloatVector weight;
      std::memcpy(&weight, &wide, sizeof weight);
      for (std::uint32_t b = 0; b < batch; ++b) sum[r][b] += weight * with[b];
    }
  }
  std::memcpy(sums.sum, sum, sizeof sum);
}

#ifdef __x86_64__
template <std::uint32_t rows, std::uint32_t batch>
[[gnu::target("avx512f,avx512bw"), gnu::noinline]] void add_products_avx512(
    VectorSums<rows, batch>& sums, const Bf16* const (&row)[rows], const float* x,
    std::size_t apart, std::uint32_t count) {
  add_products(sums, row, x, apart, count);
}
template <std::uint32_t rows, std::uint32_t batch>
[[gnu::target("avx2,fma"), gnu::noinline]] void add_products_avx2(VectorSums<rows, batch>& sums,
                                                                  const Bf16* const (&row)[rows],
                                                                  const float* x, std::size_t apart,
                                                                  std::uint32_t count) {
  add_products(sums, row, x, apart, count);
}
#endif

}  // namespace detail
#endif

/// The products of a few rows with the vector of each slot of the batch.
template <std::uint32_t rows, std::uint32_t batch>
class RowSums {
 public:
  /// Adds the part of `count` weights from each `row` on. `x` is staged, and the vectors of the
  /// slots are `apart` floats from each other. All parts but the last are multiples of
  /// warp_weights.
  COHORT_FN void add([[maybe_unused]] const RowTeam& team, const Bf16* const (&row)[rows],
                     const float* x, std::size_t apart, std::uint32_t count) {
#ifdef __CUDA_ARCH__
    // Enough loads in flight to keep the memory busy with few warps on an SM.
    constexpr std::uint32_t in_flight = batch == 1 ? 16 / rows : 8 / rows;
    const std::uint32_t lane = team.lane();
    std::uint32_t k = 0;
    for (; k + in_flight * warp_weights <= count; k += in_flight * warp_weights) {
      uint4 words[in_flight][rows];
      COHORT_APPS_UNROLLED
      for (std::uint32_t i = 0; i < in_flight; ++i) {
        COHORT_APPS_UNROLLED
        for (std::uint32_t r = 0; r < rows; ++r)
          words[i][r] = stream(row[r] + k + i * warp_weights + 8 * lane);
      }
      COHORT_APPS_UNROLLED
      for (std::uint32_t i = 0; i < in_flight; ++i)
        multiply(words[i], x + k + i * warp_weights + 4 * lane, apart);
    }
    COHORT_APPS_ROLLED
    for (; k < count; k += warp_weights) {
      uint4 words[rows];
      const bool there = k + 8 * lane < count;  // otherwise the staged floats are zero
      COHORT_APPS_UNROLLED
      for (std::uint32_t r = 0; r < rows; ++r)
        words[r] = there ? stream(row[r] + k + 8 * lane) : uint4{0, 0, 0, 0};
      multiply(words, x + k + 4 * lane, apart);
    }
#elif defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw")) {
      detail::add_products_avx512(sums_, row, x, apart, count);
    } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      detail::add_products_avx2(sums_, row, x, apart, count);
    } else {
      detail::add_products(sums_, row, x, apart, count);
    }
#else
    detail::add_products(sums_, row, x, apart, count);
#endif
  }

  /// Returns the products to every lane.
  COHORT_FN void total([[maybe_unused]] const RowTeam& team, float (&product)[rows][batch]) const {
    COHORT_APPS_UNROLLED
    for (std::uint32_t r = 0; r < rows; ++r) {
      COHORT_APPS_UNROLLED
      for (std::uint32_t b = 0; b < batch; ++b) {
#ifdef __CUDA_ARCH__
        product[r][b] = team.sum(sums_[r][b]);
#else
        // Adds halves, in the same order as the lanes of a warp.
        float lane[detail::vector_width];
        std::memcpy(lane, &sums_.sum[r][b], sizeof lane);
        for (std::uint32_t apart = detail::vector_width / 2; apart > 0; apart /= 2)
          for (std::uint32_t i = 0; i < apart; ++i) lane[i] += lane[i + apart];
        product[r][b] = lane[0];
#endif
      }
    }
  }

 private:
#ifdef __CUDA_ARCH__
  /// Weights are read once for each token, so they need no place in the L1 cache.
  static __device__ uint4 stream(const Bf16* weights) {
    uint4 words;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "l"(__cvta_generic_to_global(weights)));
    return words;
  }
  __device__ void multiply(const uint4 (&words)[rows], const float* x, std::size_t apart) {
    COHORT_APPS_UNROLLED
    for (std::uint32_t b = 0; b < batch; ++b) {
      const float4 low = *reinterpret_cast<const float4*>(x + b * apart);
      const float4 high = *reinterpret_cast<const float4*>(x + b * apart + 4 * warp_lanes);
      COHORT_APPS_UNROLLED
      for (std::uint32_t r = 0; r < rows; ++r) {
        const uint4& w = words[r];
        float sum = sums_[r][b];
        sum = fmaf(__uint_as_float(w.x << 16U), low.x, sum);
        sum = fmaf(__uint_as_float(w.x & 0xFFFF0000U), low.y, sum);
        sum = fmaf(__uint_as_float(w.y << 16U), low.z, sum);
        sum = fmaf(__uint_as_float(w.y & 0xFFFF0000U), low.w, sum);
        sum = fmaf(__uint_as_float(w.z << 16U), high.x, sum);
        sum = fmaf(__uint_as_float(w.z & 0xFFFF0000U), high.y, sum);
        sum = fmaf(__uint_as_float(w.w << 16U), high.z, sum);
        sum = fmaf(__uint_as_float(w.w & 0xFFFF0000U), high.w, sum);
        sums_[r][b] = sum;
      }
    }
  }

  float sums_[rows][batch] = {};
#else
  detail::VectorSums<rows, batch> sums_ = {};
#endif
};

}  // namespace cohort::apps
