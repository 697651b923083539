// A kernel in a module of its own, which is loaded by its first launch.
#include <cstdint>

namespace cohort::test {
namespace {

__global__ void never_launched_before(std::uint32_t* word) { *word = 1; }

}  // namespace

void launch_late(std::uint32_t* word, cudaStream_t stream) {
  never_launched_before<<<1, 32, 0, stream>>>(word);
}

}  // namespace cohort::test
