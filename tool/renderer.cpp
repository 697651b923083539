#include "tool/renderer.hpp"

#include <zlib.h>

#include <cstdlib>
#include <numbers>
#include <stdexcept>

#include "tool/record.hpp"
#include "tool/statistics.hpp"

namespace cohort::tool {
namespace {

/// A number as four bytes, the highest first.
std::string bytes_of(std::uint32_t value) {
  std::string result;
  for (const unsigned shift : {24U, 16U, 8U, 0U})
    result += static_cast<char>(value >> shift & 0xFFU);
  return result;
}

/// Length, type and data of a part of a PNG file, and their checksum.
std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto checksum =
      ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return bytes_of(static_cast<std::uint32_t>(data.size())) + body +
         bytes_of(static_cast<std::uint32_t>(checksum));
}

std::string compressed(const std::string& data) {
  uLongf size = ::compressBound(data.size());
  std::string result(size, 0);
  if (::compress(reinterpret_cast<Bytef*>(result.data()), &size,
                 reinterpret_cast<const Bytef*>(data.data()), data.size()) != Z_OK)
    throw std::runtime_error{"zlib cannot compress a picture"};
  result.resize(size);
  return result;
}

}  // namespace

Scene Scene::at(std::uint32_t frame) {
  constexpr float turn = 2 * std::numbers::pi_v<float>;
  const float phase = turn * static_cast<float>(frame % frames) / frames;
  Scene scene{};
  for (std::uint32_t i = 0; i < balls; ++i) {
    const float around = turn * static_cast<float>(i) / balls + phase / balls;
    const float height = 0.8F + 0.45F * std::sin(phase + 3 * around);
    scene.ball[i] = {3.2F * std::cos(around), height, 3.2F * std::sin(around)};
  }
  scene.eye = {6 * std::sin(0.3F * std::sin(phase)), 3.2F, -7};
  scene.forward = unit(Vector{0, 0.6F, 0} - scene.eye);
  scene.right = unit({scene.forward.z, 0, -scene.forward.x});
  const Vector &f = scene.forward, &r = scene.right;
  scene.up = {f.y * r.z - f.z * r.y, f.z * r.x - f.x * r.z, f.x * r.y - f.y * r.x};
  return scene;
}

Picture draw_alone(std::uint32_t width, std::uint32_t height, std::uint32_t frame) {
  Picture picture{width, height, std::vector<std::uint32_t>(std::size_t{width} * height)};
  const RayMarcher marcher{Scene::at(frame)};
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x)
      picture.pixels[std::size_t{y} * width + x] = marcher.pixel(x, y, width, height);
  }
  return picture;
}

double difference(const Picture& one, const Picture& other) {
  if (one.width != other.width || one.pixels.size() != other.pixels.size()) return 1;
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.pixels.size(); ++i) {
    bool same = true;
    for (const unsigned shift : {0U, 8U, 16U}) {
      const auto level = [shift](std::uint32_t pixel) {
        return static_cast<int>(pixel >> shift & 0xFFU);
      };
      same = same && std::abs(level(one.pixels[i]) - level(other.pixels[i])) <= 4;
    }
    count += same ? 0 : 1;
  }
  return static_cast<double>(count) / static_cast<double>(one.pixels.size());
}

std::string png(const Picture& picture) {
  std::string rows;
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    rows += '\0';  // the row has no filter
    for (std::uint32_t x = 0; x < picture.width; ++x) {
      const std::uint32_t pixel = picture.pixels[std::size_t{y} * picture.width + x];
      for (const unsigned shift : {0U, 8U, 16U}) rows += static_cast<char>(pixel >> shift & 0xFFU);
    }
  }
  const std::string eight_bits_of_rgb{"\x08\x02\0\0\0", 5};
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR", bytes_of(picture.width) + bytes_of(picture.height) + eight_bits_of_rgb) +
         chunk("IDAT", compressed(rows)) + chunk("IEND", "");
}

void write_png(const std::filesystem::path& file, const Picture& picture) {
  write_atomically(file, png(picture));
}

std::uint32_t width_for(std::chrono::nanoseconds work) {
  return width_for(work, [](std::uint32_t width) {
    return fastest_of(3, [width] {
      const std::uint64_t begin = cpu::now();
      static_cast<void>(draw_alone(width, height_of(width), 0));
      return static_cast<double>(cpu::now() - begin) / 1e9;
    });
  });
}

Renderer::Renderer(std::uint32_t width) {
  for (std::uint32_t frame = 0; frame < Scene::frames; ++frame)
    expected_.push_back(draw_alone(width, height_of(width), frame));
  picture_ = expected_.front();
}

void Renderer::check() {
  if (picture_.pixels != expected_[frame_].pixels) wrong_.fetch_add(1, std::memory_order_relaxed);
  frame_ = (frame_ + 1) % Scene::frames;
}

}  // namespace cohort::tool
