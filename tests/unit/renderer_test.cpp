// The pictures of the demo and of the sizing experiment.
#include "tool/renderer.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cohort/cpu.hpp"

namespace cohort::tool {
namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t result = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    result = result << 8U | static_cast<unsigned char>(bytes.at(i));
  return result;
}

/// Reads a PNG file of 8-bit RGB without filters, and checks its checksums.
Picture decoded(const std::string& file) {
  Picture result;
  std::string packed;
  std::string last;
  for (std::size_t at = 8; at < file.size();) {
    const std::uint32_t size = number_at(file, at);
    const std::string body = file.substr(at + 4, size + 4);
    EXPECT_EQ(
        number_at(file, at + 8 + size),
        ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
    last = body.substr(0, 4);
    if (last == "IHDR") {
      result.width = number_at(body, 4);
      result.height = number_at(body, 8);
    }
    if (last == "IDAT") packed += body.substr(4);
    at += size + 12;
  }
  EXPECT_EQ(last, "IEND");
  const std::size_t row = 1 + 3 * std::size_t{result.width};
  std::string rows(row * result.height, 0);
  uLongf size = rows.size();
  EXPECT_EQ(::uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                         reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  EXPECT_EQ(size, rows.size());
  const auto level = [&rows](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(rows[at]));
  };
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (at % row % 3 != 1 && at % row != 0) continue;
    if (at % row == 0) {
      EXPECT_EQ(rows[at], 0) << "a filter";
    } else {
      result.pixels.push_back(level(at) | level(at + 1) << 8U | level(at + 2) << 16U);
    }
  }
  return result;
}

std::string stored(const std::string& name) {
  std::ifstream file{std::filesystem::path{COHORT_TEST_PICTURES} / name, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(Renderer, DrawsTheStoredPictures) {
  for (const std::uint32_t frame : {0U, 13U}) {
    const Picture drawn = draw_alone(96, 54, frame);
    const Picture expected = decoded(stored("frame-" + std::to_string(frame) + ".png"));
    // Compilers that fuse multiplications and additions move an edge by a pixel.
    EXPECT_LT(difference(drawn, expected), 0.01) << "frame " << frame;
  }
  EXPECT_GT(difference(draw_alone(96, 54, 0), draw_alone(96, 54, 13)), 0.05);
  EXPECT_EQ(difference(draw_alone(96, 54, 0), draw_alone(32, 18, 0)), 1);
}

TEST(Renderer, DrawsTheSameOnAnyNumberOfGroups) {
  cpu::Engine engine{{.capacity = 5}};
  Renderer renderer{48};
  for (std::uint32_t frame = 0; frame < Scene::frames + 2; ++frame) {
    engine.submit([&renderer](auto& group) { renderer.draw(group); }, {.groups = 1 + frame % 5})
        .wait();
    EXPECT_EQ(renderer.picture().pixels, draw_alone(48, 27, frame).pixels);
  }
  EXPECT_EQ(renderer.wrong(), 0U);
  EXPECT_GT(renderer.used().count(), 0);
}

TEST(Renderer, WritesAPngThatHasThePixels) {
  const Picture drawn = draw_alone(33, 7, 5);
  const Picture read = decoded(png(drawn));
  EXPECT_EQ(read.width, 33U);
  EXPECT_EQ(read.height, 7U);
  EXPECT_EQ(read.pixels, drawn.pixels);
}

TEST(Renderer, FindsAPictureThatTakesAGivenTime) {
  // A machine that needs a microsecond for each pixel.
  const auto seconds_of = [](std::uint32_t width) { return width * height_of(width) * 1e-6; };
  EXPECT_EQ(width_for(std::chrono::milliseconds{36}, seconds_of), 240U);  // about 253 x 142
  EXPECT_EQ(width_for(std::chrono::nanoseconds{1}, seconds_of), 32U);
}

}  // namespace
}  // namespace cohort::tool
