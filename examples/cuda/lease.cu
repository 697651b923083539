// cuBLAS next to a kernel that has all SMs: a lease holds 66 of them for one stream.
#include <cublas_v2.h>

#include <algorithm>
#include <chrono>
#include <cohort/cuda.hpp>
#include <iostream>

struct State {
  unsigned step = 0;
};

/// Adds 1 to each item in every step, until the job is cancelled.
__global__ void background(cohort::GridArg arg, unsigned* items, int n) {
  cohort::Grid<State> grid{arg};
  if (!grid) return;
  for (State s = grid.state();;) {
    for (auto i : grid.stride(n)) ++items[i];
    ++s.step;
    if (grid.sync(s)) return;
  }
}

int main() {
  std::string why;
  if (!cohort::cuda::available(&why)) {
    std::cout << "SKIPPED: " << why << '\n';
    return 77;
  }
  constexpr int size = 1024, n = 1'000'000;
  cohort::cuda::Engine engine;
  const auto a = engine.fill<float>(size * size, 1.0F);
  const auto b = engine.fill<float>(size * size, 2.0F);
  const auto c = engine.fill<float>(size * size, 0.0F);
  const auto workspace = engine.allocate<float>(8 << 20);

  cudaStream_t stream;  // of higher priority than the jobs, so that freed SMs come here
  cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -5);
  cublasHandle_t blas;
  cublasCreate(&blas);
  cublasSetStream(blas, stream);
  cublasSetWorkspace(blas, workspace.data(), workspace.size() * sizeof(float));
  const auto product = [&] {
    const float one = 1, zero = 0;
    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, a.data(), size, b.data(),
                size, &zero, c.data(), size);
  };
  product();  // loads cuBLAS's kernels, which could wait for a running job
  cudaStreamSynchronize(stream);

  const auto items = engine.fill<unsigned>(n, 0);
  const auto job = engine.launch(background, {.local_size = 256}, items.data(), n);
  job.wait_for(std::chrono::milliseconds{10});
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    {
      const auto lease = engine.lease(stream, {.sms = 66});
      product();
    }
    cudaStreamSynchronize(stream);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    times.push_back(took.count());
  }
  job.suspend();  // all its blocks are at the same step then
  const std::vector<unsigned> counts = items.read();
  const bool good =
      std::all_of(counts.begin(), counts.end(), [&](unsigned each) { return each == counts[0]; });
  std::sort(times.begin(), times.end());
  std::cout << "a product next to the job takes " << times[50] << " us (median); the job did "
            << counts[0] << " steps, " << (good ? "none lost" : "WITH ERRORS") << '\n';
  cublasDestroy(blas);
  cudaStreamDestroy(stream);
  return good && c.read()[0] == 2.0F * size ? 0 : 1;
}
