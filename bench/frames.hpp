// The sizing experiment's two kernels on an engine: frames of the scene, and one that occupies all
// groups.
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
  /// Starts a loop of frames of this width. Not while one is drawn.
  virtual void resize(std::uint32_t width) = 0;
  /// Draws the next frame on all groups.
  virtual TaskReport draw() = 0;
  /// The last frame.
  [[nodiscard]] virtual tool::Picture picture() const = 0;
  /// Occupies all groups for `t`. A clock decides when that is over, so it takes as long on every
  /// machine.
  virtual TaskReport occupy(std::chrono::nanoseconds t) = 0;
};

/// On a GPU.
[[nodiscard]] std::unique_ptr<FrameEngine> cuda_frames(std::optional<std::uint32_t> capacity);

}  // namespace cohort::bench
