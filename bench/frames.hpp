// The two kernels of the sizing experiment on an engine: one draws frames of the scene, the other
// occupies all groups.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "cohort/task.hpp"
#include "tool/renderer.hpp"

namespace cohort::bench {

class FrameEngine {
 public:
  FrameEngine() = default;
  FrameEngine(const FrameEngine&) = delete;
  FrameEngine& operator=(const FrameEngine&) = delete;
  virtual ~FrameEngine() = default;

  [[nodiscard]] virtual std::uint32_t groups() const = 0;
  /// Starts a loop of frames of this width. Not while a frame is being drawn.
  virtual void resize(std::uint32_t width) = 0;
  /// Draws the next frame on all groups.
  virtual TaskReport draw() = 0;
  /// The last frame.
  [[nodiscard]] virtual tool::Picture picture() const = 0;
  /// Occupies all groups for a time `t`. A clock decides when `t` is over, so this takes equally
  /// long on every machine.
  virtual TaskReport occupy(std::chrono::nanoseconds t) = 0;
};

/// The same on a GPU.
[[nodiscard]] std::unique_ptr<FrameEngine> cuda_frames(std::optional<std::uint32_t> capacity);

}  // namespace cohort::bench
