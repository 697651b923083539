#include "bench/frames.hpp"
#include "cohort/cuda.hpp"

namespace cohort::bench {
inline namespace frame_kernels {

constexpr std::uint32_t threads = 256;

struct Occupy {
  std::uint64_t nanoseconds;

  template <class Group>
  COHORT_FN void operator()(Group& /*group*/) const {
#ifdef __CUDA_ARCH__
    const std::uint64_t until = cuda::Platform::timer() + nanoseconds;
    while (cuda::Platform::timer() < until) {
    }
#endif
  }
};

}  // namespace frame_kernels

namespace {

class CudaFrames final : public FrameEngine {
 public:
  explicit CudaFrames(std::optional<std::uint32_t> capacity) : engine_({.capacity = capacity}) {}

  [[nodiscard]] std::uint32_t groups() const override { return engine_.capacity(); }
  void resize(std::uint32_t width) override {
    width_ = width;
    height_ = tool::height_of(width);
    pixels_ = engine_.fill<std::uint32_t>(std::size_t{width_} * height_, 0);
    next_ = 0;
  }
  TaskReport draw() override {
    const tool::Drawing drawing{tool::Scene::at(next_++), width_, height_, pixels_.data()};
    return engine_.submit(drawing, {.groups = groups(), .local_size = threads, .priority = 1})
        .wait();
  }
  [[nodiscard]] tool::Picture picture() const override { return {width_, height_, pixels_.read()}; }
  TaskReport occupy(std::chrono::nanoseconds t) override {
    const Occupy occupy{static_cast<std::uint64_t>(t.count())};
    return engine_.submit(occupy, {.groups = groups(), .local_size = threads}).wait();
  }

 private:
  cuda::Engine engine_;
  Buffer<std::uint32_t> pixels_;
  std::uint32_t width_ = 0;
  std::uint32_t height_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace

std::unique_ptr<FrameEngine> cuda_frames(std::optional<std::uint32_t> capacity) {
  return std::make_unique<CudaFrames>(capacity);
}

}  // namespace cohort::bench
