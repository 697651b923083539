// Kernels over ranges of work-items, and kernels with local parameters, run while groups join and
// leave. Every work-item of the range must run exactly once and see the right ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "resized_runs.hpp"

namespace cohort::test {
namespace {

using Items = Shared<std::uint32_t>;

const Program& ranges() {
  static const Program program =
      Program::from_file(std::filesystem::path{COHORT_TEST_PROGRAMS} / "ranges.cl",
                         {.engine = engine_name, .optimise = "-O1"});
  return program;
}

Items numbers(std::size_t count) {
  Items result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<std::uint32_t>(i * 40503U);
  return result;
}

/// Later attempts are larger, so that they run longer on a device.
std::uint32_t scaled(std::uint32_t size, std::uint32_t attempt) {
  return size << std::min(attempt / 3, 6U);
}

TEST(Ranges, TransposeAMatrixByTilesInLocalMemory) {
  repeat_until_joined([](std::uint32_t attempt) {
    const std::uint32_t width = scaled(50, attempt);
    const std::uint32_t height = 37;
    const Items from = numbers(std::size_t{width} * height);
    Items to(from.size());
    ProgramKernel kernel = ranges().kernel("transpose");
    kernel.set("to", to.data()).set("from", from.data()).set("width", width).set("height", height);
    kernel.set_local("tile", 4 * 5 * sizeof(std::uint32_t));
    kernel.set_range({.global = {(width + 3) / 4 * 4, 40, 1}, .local = {4, 4, 1}});
    Report report = run_resizing(kernel, 16, attempt);
    std::size_t wrong = 0;
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x)
        wrong += to[x * height + y] != from[y * width + x] ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0U);
    return report;
  });
}

struct Shape {
  NDRange range;
  std::uint64_t dimensions;
};

class WorkItems : public testing::TestWithParam<Shape> {};

TEST_P(WorkItems, RunOnceAndKnowWhoTheyAre) {
  const auto [shape, dimensions] = GetParam();
  const std::uint32_t threads = shape.local[0] * shape.local[1] * shape.local[2];
  repeat_until_joined([&](std::uint32_t attempt) {
    NDRange range = shape;
    range.global[0] = scaled(range.global[0], attempt);
    const auto [x, y, z] = range.global;
    Shared<std::uint64_t> out(std::size_t{x} * y * z);
    Items times(out.size());
    ProgramKernel kernel = ranges().kernel("who");
    kernel.set("out", out.data()).set("times", times.data()).set_range(range);
    Report report = run_resizing(kernel, threads, attempt);
    EXPECT_THAT(times, testing::Each(1U));
    EXPECT_THAT(out, testing::Each(1U | dimensions << 8U | std::uint64_t{x} << 16U |
                                   std::uint64_t{y} << 28U | std::uint64_t{z} << 40U));
    return report;
  });
}

INSTANTIATE_TEST_SUITE_P(Of, WorkItems,
                         testing::Values(Shape{{{60, 1, 1}, {1, 1, 1}}, 1},
                                         Shape{{{64, 1, 1}, {8, 1, 1}}, 1},
                                         Shape{{{12, 10, 1}, {3, 2, 1}}, 2},
                                         Shape{{{6, 4, 6}, {2, 1, 3}}, 3},
                                         Shape{{{5, 3, 7}, {1, 1, 1}}, 3}),
                         [](const auto& test) { return "Shape" + std::to_string(test.index); });

TEST(Ranges, SumInLocalMemoryOfAnySize) {
  for (const std::uint32_t threads : {1U, 4U, 16U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << threads);
    repeat_until_joined([&](std::uint32_t attempt) {
      const std::uint32_t groups = scaled(40, attempt);
      const std::uint32_t n = groups * threads - threads / 2;
      const Items in = numbers(n);
      Items out(groups);
      ProgramKernel kernel = ranges().kernel("sums");
      kernel.set("in", in.data()).set("n", n).set("out", out.data());
      kernel.set_local("part", threads * sizeof(std::uint32_t));
      kernel.set_range({.global = {groups * threads, 1, 1}, .local = {threads, 1, 1}});
      Report report = run_resizing(kernel, threads, attempt);
      Items expected(groups);
      for (std::uint32_t i = 0; i < n; ++i) expected[i / threads] += in[i];
      EXPECT_EQ(out, expected);
      return report;
    });
  }
}

TEST(Ranges, LetAKernelCallAnotherAndChangeItsParameters) {
  repeat_until_joined([](std::uint32_t attempt) {
    const std::uint32_t width = scaled(16, attempt);
    Items rows = numbers(std::size_t{width} * 5);
    Items expected = rows;
    for (std::uint32_t i = 0; i < expected.size(); ++i) {
      if (i % width < width - 3) expected[i] *= (10 + 3) * 2 + 1;
    }
    ProgramKernel kernel = ranges().kernel("scale_all");
    kernel.set("rows", rows.data()).set("n", width - 3).set("by", 10U).set_local("seen", 8);
    kernel.set_range({.global = {width, 5, 1}, .local = {4, 1, 1}});
    Report report = run_resizing(kernel, 4, attempt);
    EXPECT_EQ(rows, expected);
    return report;
  });
}

TEST(Ranges, CopyIntoLocalMemoryAndOutOfIt) {
  for (const std::uint32_t threads : {1U, 5U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << threads);
    repeat_until_joined([&](std::uint32_t attempt) {
      const std::uint32_t groups = scaled(40, attempt);
      const Items from = numbers(std::size_t{groups} * threads * 2);
      Items to(from.size());
      ProgramKernel kernel = ranges().kernel("copies");
      kernel.set("from", from.data()).set("to", to.data());
      kernel.set_local("plain", threads * 4).set_local("every_second", threads * 4);
      kernel.set_range({.global = {groups * threads, 1, 1}, .local = {threads, 1, 1}});
      Report report = run_resizing(kernel, threads, attempt);
      Items expected(from.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const std::size_t first = i / (2 * threads) * 2 * threads;
        const std::size_t l = i % (2 * threads) / 2;
        expected[i] =
            from[first + threads - 1 - l] + (l < threads - 1 ? from[first + 1 + 2 * l] : 0);
      }
      EXPECT_EQ(to, expected);
      return report;
    });
  }
}

TEST(Ranges, StartAgainAtEachLaunchAndGoOnAfterASuspend) {
  constexpr std::uint32_t many = 3000;
  Items times(many);
  Shared<std::uint64_t> out(many);
  ProgramKernel kernel = ranges().kernel("who");
  kernel.set("out", out.data()).set("times", times.data());
  kernel.set_range({.global = {many, 1, 1}, .local = {1, 1, 1}});
  std::uint32_t launches = 0;
  int suspended = 0;
  while (suspended == 0 && launches < 200) {
    const Job job = kernel.launch(engine(), {.max_groups = 4});
    ++launches;
    while (job.suspend() == Status::suspended) {
      ++suspended;
      job.resume();
    }
    EXPECT_EQ(job.wait().status, Status::finished);
  }
  EXPECT_THAT(times, testing::Each(launches));
}

TEST(LocalParameters, AreEachGroupsOwnWhileGroupsComeAndGo) {
  constexpr std::uint32_t rounds = 60;
  for (const std::uint32_t threads : {1U, 3U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << threads);
    repeat_until_joined([&](std::uint32_t attempt) {
      Items out = numbers(scaled(64, attempt));
      Items expected = out;
      for (std::uint32_t r = 0; r < rounds; ++r) {
        for (std::uint32_t& each : expected) each = each * 1664525U + r * 2654435761U + 1013904223U;
      }
      ProgramKernel kernel = ranges().kernel("local_parameters");
      kernel.set("out", out.data()).set("n", static_cast<std::uint32_t>(out.size()));
      kernel.set("rounds", rounds).set_local("shift", 6).set_local("key", 12);
      Report report = run_resizing(kernel, threads, attempt);
      EXPECT_EQ(out, expected);
      return report;
    });
  }
}

/// The message of the Error that `call` throws.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_options);
    return error.what();
  }
  return "nothing";
}

TEST(Ranges, ThatCannotBeAreRefused) {
  Items out(16);
  ProgramKernel kernel = ranges().kernel("transpose");
  using testing::HasSubstr;
  EXPECT_THAT(refusal([&] {
                kernel.set_range({.global = {10, 4, 1}, .local = {4, 4, 1}});
              }),
              HasSubstr("a global size of 10 is no multiple of the local size 4 in dimension 0"));
  EXPECT_THAT(refusal([&] {
                kernel.set_range({.global = {64, 64, 1}, .local = {64, 64, 1}});
              }),
              HasSubstr("work-groups of more than 1024 work-items"));
  EXPECT_THAT(refusal([&] { ranges().kernel("local_parameters").set_range({}); }),
              HasSubstr("does not run over a range"));
  EXPECT_THAT(refusal([&] { kernel.set("tile", out.data()); }),
              HasSubstr("'tile' of kernel transpose is in local memory; give its size"));
  EXPECT_THAT(refusal([&] { kernel.set_local("to", 4); }), HasSubstr("not in local memory"));
  EXPECT_THAT(refusal([&] { kernel.set_local("tile", 0); }), HasSubstr("it can have 1 to"));
  kernel.set("to", out.data()).set("from", out.data()).set("width", 4U).set("height", 4U);
  EXPECT_THAT(refusal([&] { static_cast<void>(kernel.launch(engine())); }),
              HasSubstr("'tile' of kernel transpose has not been set; give its size in bytes"));
  kernel.set_local("tile", 80);
  EXPECT_THAT(refusal([&] { static_cast<void>(kernel.launch(engine())); }),
              HasSubstr("kernel transpose asks about dimension 1; launch it over a range"));
  kernel.set_range({.global = {4, 4, 1}, .local = {4, 4, 1}});
  EXPECT_THAT(refusal([&] { static_cast<void>(kernel.launch(engine(), {.local_size = 4})); }),
              HasSubstr("local_size is 4, but the range has work-groups of 16"));
  EXPECT_EQ(kernel.launch(engine()).wait().status, Status::finished);
}

}  // namespace
}  // namespace cohort::test
