#include "tool/cuda_product.hpp"

namespace cohort::tool {
// named, because nvcc warns of unused templates in unnamed namespaces.
inline namespace product_kernels {

constexpr std::uint32_t tile = 64;   // side of the square of elements that a group computes at once
constexpr std::uint32_t depth = 16;  // depth of a slice in shared memory
constexpr std::uint32_t threads = 256;
constexpr std::uint32_t each = 4;  // side of a thread's square of elements

/// Small whole numbers, so that sums are exact in any order.
__device__ float number(std::size_t i, std::uint32_t salt) {
  return static_cast<float>((i * 2654435761U + salt) >> 7U & 7U);
}

__global__ void fill_numbers(float* left, float* right, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x) {
    left[i] = number(i, 1);
    right[i] = number(i, 77);
  }
}

/// The reference product: one thread per element, by columns, in integers.
__global__ void expect(const float* left, const float* right, float* product, std::uint32_t side) {
  const std::uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t row = blockIdx.y;
  if (column >= side) return;
  std::uint32_t sum = 0;
  for (std::uint32_t k = 0; k < side; ++k) {
    sum += static_cast<std::uint32_t>(left[std::size_t{row} * side + k]) *
           static_cast<std::uint32_t>(right[std::size_t{k} * side + column]);
  }
  product[std::size_t{row} * side + column] = static_cast<float>(sum);
}

struct Tally {
  std::uint32_t done = 0;   // number of computed elements
  std::uint32_t wrong = 0;  // number of elements that differ from the reference
};

struct Multiply {
  const float* left;
  const float* right;
  const float* expected;
  float* product;
  std::uint32_t side;
  Tally* tally;

  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    const std::uint32_t tiles = (side + tile - 1) / tile;
    for (std::uint32_t i = group.group_id(); i < tiles * tiles; i += group.num_groups())
      multiply(group, i / tiles * tile, i % tiles * tile);
  }

 private:
  template <class Group>
  COHORT_FN void multiply(Group& group, std::uint32_t row, std::uint32_t column) const {
#ifdef __CUDA_ARCH__
    __shared__ float a[depth][tile + each];
    __shared__ float b[depth][tile + each];
    const std::uint32_t me = group.local_id();
    const std::uint32_t down = me / (tile / each) * each;
    const std::uint32_t across = me % (tile / each) * each;
    float sums[each][each] = {};
    for (std::uint32_t k = 0; k < side; k += depth) {
      for (std::uint32_t i = me; i < depth * tile; i += threads) {
        const std::uint32_t of_left = k + i % depth;
        a[i % depth][i / depth] = at(left, row + i / depth, of_left);
        b[i / tile][i % tile] = at(right, k + i / tile, column + i % tile);
      }
      group.barrier();
#pragma unroll
      for (std::uint32_t j = 0; j < depth; ++j) {
#pragma unroll
        for (std::uint32_t y = 0; y < each; ++y) {
#pragma unroll
          for (std::uint32_t x = 0; x < each; ++x) sums[y][x] += a[j][down + y] * b[j][across + x];
        }
      }
      group.barrier();
    }
    Tally mine;
    for (std::uint32_t y = 0; y < each; ++y) {
      for (std::uint32_t x = 0; x < each; ++x) {
        if (row + down + y >= side || column + across + x >= side) continue;
        const std::size_t place = std::size_t{row + down + y} * side + column + across + x;
        product[place] = sums[y][x];
        ++mine.done;
        mine.wrong += expected[place] == sums[y][x] ? 0 : 1;
      }
    }
    const auto plus = [](std::uint32_t one, std::uint32_t other) { return one + other; };
    mine = {group.reduce(mine.done, plus), group.reduce(mine.wrong, plus)};
    if (me != 0) return;
    group.atomic(tally->done).fetch_add(mine.done);
    if (mine.wrong != 0) group.atomic(tally->wrong).fetch_add(mine.wrong);
#endif
  }
  COHORT_FN float at(const float* matrix, std::uint32_t row, std::uint32_t column) const {
    return row < side && column < side ? matrix[std::size_t{row} * side + column] : 0.0F;
  }
};

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw Error{Errc::device_lost, std::string{"bench: "} + cudaGetErrorString(error)};
}

}  // namespace product_kernels

struct CudaProduct::Inside {
  cuda::Engine& engine;
  std::uint32_t side;
  std::size_t count = std::size_t{side} * side;
  Buffer<float> left = engine.fill(count, 0.0F);
  Buffer<float> right = engine.fill(count, 0.0F);
  Buffer<float> expected = engine.fill(count, -1.0F);
  Buffer<float> product = engine.fill(count, -1.0F);
  Buffer<Tally> tally = engine.fill(1, Tally{});
};

CudaProduct::CudaProduct(cuda::Engine& engine, std::uint32_t side)
    : inside_(new Inside{engine, side}) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  fill_numbers<<<1024, 256, 0, stream>>>(inside_->left.data(), inside_->right.data(),
                                         inside_->count);
  expect<<<dim3{(side + 127) / 128, side}, 128, 0, stream>>>(
      inside_->left.data(), inside_->right.data(), inside_->expected.data(), side);
  check(cudaGetLastError());
  check(cudaStreamSynchronize(stream));
  check(cudaStreamDestroy(stream));
}
CudaProduct::~CudaProduct() = default;

TaskReport CudaProduct::run(TaskOptions options) const {
  inside_->tally.fill(Tally{});
  const Multiply multiply{inside_->left.data(),    inside_->right.data(), inside_->expected.data(),
                          inside_->product.data(), inside_->side,         inside_->tally.data()};
  options.local_size = threads;
  return inside_->engine.submit(multiply, options).wait();
}

bool CudaProduct::right() const {
  const Tally tally = inside_->tally.read().front();
  return tally.done == inside_->count && tally.wrong == 0;
}

}  // namespace cohort::tool
