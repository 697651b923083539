// The scene that the demo and the sizing experiment draw: a tiled floor, a ring and twelve balls,
// by sphere tracing (Hart 1996). CPUs and CUDA share this source. A pixel follows at most four
// rays: one to the scene, one from there to the light, and two more for the reflection. A ray takes
// at most 96 steps, and a step computes the distance to 14 shapes. Invariant: a pixel depends only
// on the scene, its place and the size of the picture.
#pragma once

#include <cmath>
#include <cstdint>

#include "cohort/kernel.hpp"

namespace cohort::tool {

struct Vector {
  float x = 0;
  float y = 0;
  float z = 0;
};

COHORT_FN constexpr Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
COHORT_FN constexpr Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
COHORT_FN constexpr Vector operator*(float k, Vector a) { return {k * a.x, k * a.y, k * a.z}; }
COHORT_FN constexpr float dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
COHORT_FN inline float length(Vector a) { return sqrtf(dot(a, a)); }
COHORT_FN inline Vector unit(Vector a) { return (1 / length(a)) * a; }

/// The moving parts of the scene. A frame is one of `frames` in a loop.
struct Scene {
  static constexpr std::uint32_t balls = 12;
  static constexpr std::uint32_t frames = 24;
  static constexpr float radius = 0.35F;  // radius of a ball

  Vector ball[balls];
  Vector eye;
  Vector right;
  Vector up;
  Vector forward;

  /// The scene of a frame. Computed on the host.
  [[nodiscard]] static Scene at(std::uint32_t frame);
};

/// The object that a ray has met.
struct Met {
  float distance;
  std::uint32_t shape;
};

class RayMarcher {
 public:
  COHORT_FN explicit RayMarcher(const Scene& scene) : scene_(scene) {}

  /// The pixel at column `x` and row `y`, as 0x00BBGGRR.
  [[nodiscard]] COHORT_FN std::uint32_t pixel(std::uint32_t x, std::uint32_t y, std::uint32_t width,
                                              std::uint32_t height) const {
    const float scale = 1 / static_cast<float>(height);
    const float across = (2 * static_cast<float>(x) + 1 - static_cast<float>(width)) * scale;
    const float down = (2 * static_cast<float>(y) + 1 - static_cast<float>(height)) * scale;
    const Vector ray = unit(across * scene_.right + -down * scene_.up + 1.8F * scene_.forward);
    Vector from = scene_.eye;
    Vector direction = ray;
    Vector color;
    float weight = 1;
    for (int bounce = 0; bounce < 2 && weight > 0; ++bounce) {
      const Met met = march(from, direction, far_away);
      if (met.shape == nothing) {
        color = color + weight * sky(direction);
        break;
      }
      const Vector place = from + met.distance * direction;
      const Vector normal = normal_at(place);
      const float mirrors = met.shape == floor_shape ? 0.2F : 0.45F;
      const float share = bounce == 0 ? 1 - mirrors : 1;
      color = color + weight * share * lit(met.shape, place, normal);
      weight *= mirrors;
      from = place + 0.01F * normal;
      direction = direction - 2 * dot(direction, normal) * normal;
    }
    return level(color.x) | level(color.y) << 8U | level(color.z) << 16U;
  }

 private:
  static constexpr int steps = 96;
  static constexpr float far_away = 30;
  static constexpr float close = 0.001F;
  static constexpr std::uint32_t floor_shape = Scene::balls;
  static constexpr std::uint32_t ring_shape = Scene::balls + 1;
  static constexpr std::uint32_t nothing = Scene::balls + 2;
  /// Points towards the sun. A function, because device code cannot use a constant of a class type.
  [[nodiscard]] COHORT_FN static constexpr Vector light() { return {0.48F, 0.8F, -0.36F}; }

  [[nodiscard]] COHORT_FN static float least(float a, float b) { return a < b ? a : b; }
  [[nodiscard]] COHORT_FN static float most(float a, float b) { return a > b ? a : b; }

  /// The distance from a point to the next shape.
  [[nodiscard]] COHORT_FN Met nearest(Vector p) const {
    Met result{p.y, floor_shape};
    const float along = sqrtf(p.x * p.x + p.z * p.z) - 2.2F;
    const float ring = sqrtf(along * along + (p.y - 1) * (p.y - 1)) - 0.18F;
    if (ring < result.distance) result = {ring, ring_shape};
    Met ball{far_away * far_away, 0};  // the square of the distance to the ball's centre
    for (std::uint32_t i = 0; i < Scene::balls; ++i) {
      const Vector away = p - scene_.ball[i];
      if (dot(away, away) < ball.distance) ball = {dot(away, away), i};
    }
    const float surface = sqrtf(ball.distance) - Scene::radius;
    return surface < result.distance ? Met{surface, ball.shape} : result;
  }

  [[nodiscard]] COHORT_FN Met march(Vector from, Vector direction, float limit) const {
    float gone = 0;
    for (int step = 0; step < steps && gone < limit; ++step) {
      const Met next = nearest(from + gone * direction);
      if (next.distance < close) return {gone, next.shape};
      gone += next.distance;
    }
    return {gone, nothing};
  }

  /// The surface's normal, by differences at the corners of a tetrahedron.
  [[nodiscard]] COHORT_FN Vector normal_at(Vector p) const {
    constexpr float e = 0.002F;
    const float a = nearest(p + Vector{e, -e, -e}).distance;
    const float b = nearest(p + Vector{-e, -e, e}).distance;
    const float c = nearest(p + Vector{-e, e, -e}).distance;
    const float d = nearest(p + Vector{e, e, e}).distance;
    return unit({a - b - c + d, c + d - a - b, b + d - a - c});
  }

  [[nodiscard]] COHORT_FN Vector lit(std::uint32_t shape, Vector place, Vector normal) const {
    const float slant = most(0, dot(normal, light()));
    const bool sunny = slant > 0 && march(place + 0.01F * normal, light(), 8).shape == nothing;
    const float brightness = (sunny ? 0.8F * slant : 0) + 0.2F + 0.1F * normal.y;
    return brightness * color_of(shape, place);
  }

  [[nodiscard]] COHORT_FN static Vector color_of(std::uint32_t shape, Vector place) {
    if (shape == ring_shape) return {0.9F, 0.75F, 0.35F};
    if (shape == floor_shape) {
      const bool dark =
          ((static_cast<int>(floorf(place.x)) + static_cast<int>(floorf(place.z))) & 1) != 0;
      return dark ? Vector{0.25F, 0.28F, 0.34F} : Vector{0.85F, 0.85F, 0.8F};
    }
    const float shade = static_cast<float>(shape) / Scene::balls;
    return {0.9F - 0.6F * shade, 0.3F + 0.3F * shade, 0.3F + 0.6F * shade};
  }

  [[nodiscard]] COHORT_FN static Vector sky(Vector direction) {
    const float height = most(0, direction.y);
    return {0.75F - 0.5F * height, 0.85F - 0.35F * height, 0.95F - 0.1F * height};
  }

  /// A brightness from 0 to 1 as a byte, with a gamma of 2.
  [[nodiscard]] COHORT_FN static std::uint32_t level(float brightness) {
    return static_cast<std::uint32_t>(255 * sqrtf(least(1, most(0, brightness))) + 0.5F);
  }

  Scene scene_;
};

/// Draws a picture on any number of groups, a pixel at a time.
struct Drawing {
  Scene scene;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t* pixels;

  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    const RayMarcher marcher{scene};
    for (const std::size_t at : group.stride(std::size_t{width} * height)) {
      pixels[at] = marcher.pixel(static_cast<std::uint32_t>(at % width),
                                 static_cast<std::uint32_t>(at / width), width, height);
    }
  }
};

}  // namespace cohort::tool
