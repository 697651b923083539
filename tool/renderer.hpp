// Draws pictures of the scene, the latency-critical work of the demo and the sizing experiment.
// Invariant: every frame is compared with the same frame drawn by a single thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cohort/platform/cpu.hpp"
#include "tool/scene.hpp"

namespace cohort::tool {

struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint32_t> pixels;  ///< row by row, as 0x00BBGGRR
};

/// The fraction of pixels in which a colour differs by more than 4 of 255. 1 if the sizes differ.
[[nodiscard]] double difference(const Picture& one, const Picture& other);
/// Draws a frame in the calling thread.
[[nodiscard]] Picture draw_alone(std::uint32_t width, std::uint32_t height, std::uint32_t frame);
/// The picture as a PNG file.
[[nodiscard]] std::string png(const Picture& picture);
void write_png(const std::filesystem::path& file, const Picture& picture);

/// The height of a 16:9 picture.
[[nodiscard]] constexpr std::uint32_t height_of(std::uint32_t width) { return width * 9 / 16; }
/// The width of a 16:9 picture that takes about `work`. `seconds_of(width)` measures one picture.
template <class SecondsOf>
[[nodiscard]] std::uint32_t width_for(std::chrono::nanoseconds work, SecondsOf seconds_of) {
  constexpr std::uint32_t step = 16;
  constexpr std::uint32_t most = 7680;
  std::uint32_t width = 6 * step;
  for (int i = 0; i < 3; ++i) {
    const double ratio = std::chrono::duration<double>{work}.count() / seconds_of(width);
    const double next = width * std::sqrt(ratio) / step;
    width = step * static_cast<std::uint32_t>(std::fmin(std::fmax(next, 2), most / step));
  }
  return width;
}
/// The same for one thread of this machine.
[[nodiscard]] std::uint32_t width_for(std::chrono::nanoseconds work);

/// Draws frames in a loop, each by any number of groups of the CPU engine.
class Renderer {
 public:
  /// Also draws every frame of the loop once, in the calling thread.
  explicit Renderer(std::uint32_t width);

  /// Draws the group's part of the next frame. Group 0 checks it after all groups are done.
  template <class Group>
  void draw(Group& group) {
    const std::uint64_t begin = cpu::now();
    const Drawing drawing{Scene::at(frame_), picture_.width, picture_.height,
                          picture_.pixels.data()};
    drawing(group);
    used_.fetch_add(cpu::now() - begin, std::memory_order_relaxed);
    group.global_barrier();  // orders the pixels before the check
    if (group.group_id() == 0) check();
  }

  /// The frame that was drawn last.
  [[nodiscard]] const Picture& picture() const { return picture_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_.load(); }
  /// CPU time spent drawing, summed over all groups.
  [[nodiscard]] std::chrono::nanoseconds used() const {
    return std::chrono::nanoseconds{used_.load()};
  }

 private:
  void check();

  Picture picture_;
  std::vector<Picture> expected_;  // indexed by frame
  // Number of the next frame; group 0 increments it at the end of a frame.
  std::uint32_t frame_ = 0;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> wrong_{0};
};

}  // namespace cohort::tool
