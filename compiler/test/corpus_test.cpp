// Runs the programs of corpus/*.cl, one per feature. The comment above each program lists the
// values that it stores in its slots. They must be the same however groups join and leave.
#include <gtest/gtest.h>

#include <climits>
#include <sstream>

#include "random/runs.hpp"
#if defined(COHORT_TEST_OPENCL)
#include "random/plain.hpp"
#endif

namespace cohort::test {
namespace {

const std::filesystem::path folder = std::filesystem::path{COHORT_TEST_PROGRAMS} / "corpus";

struct Case {
  std::string kernel;
  std::vector<int> expected;
  bool has_items = false;  // a second buffer is passed
};

/// The kernels of a file, each below a line `// = values`.
std::vector<Case> cases_of(const std::filesystem::path& file) {
  std::ifstream stream{file};
  std::vector<Case> result;
  std::string line;
  while (std::getline(stream, line)) {
    if (!line.starts_with("// = ")) continue;
    Case each;
    std::istringstream values{line.substr(5)};
    for (int value = 0; values >> value;) each.expected.push_back(value);
    std::getline(stream, line);
    const std::size_t end = line.find("(global int *out");
    if (end == std::string::npos) throw std::runtime_error{file.string() + ": " + line};
    const std::size_t begin = line.rfind(' ', end) + 1;
    each.kernel = line.substr(begin, end - begin);
    each.has_items = line.find("items") != std::string::npos;
    result.push_back(std::move(each));
  }
  return result;
}

std::vector<std::string> files() {
  std::vector<std::string> result;
  for (const auto& each : std::filesystem::directory_iterator{folder}) {
    if (each.path().extension() == ".cl") result.push_back(each.path().stem().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// A kernel stores the largest and the smallest value of each slot in `out`.
constexpr std::size_t slots = 16;
std::vector<int> first_out() {
  std::vector<int> result(2 * slots, INT_MIN);
  for (std::size_t slot = 0; slot < slots; ++slot) result[2 * slot + 1] = INT_MAX;
  return result;
}
std::vector<int> expected_out(const Case& of) {
  std::vector<int> result = first_out();
  for (std::size_t slot = 0; slot < of.expected.size(); ++slot)
    result[2 * slot] = result[2 * slot + 1] = of.expected[slot];
  return result;
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, PutsTheValuesThatItSays) {
  const std::filesystem::path file = folder / (GetParam() + ".cl");
  const Program program =
      Program::from_file(file, {.engine = engine_name,
                                .transmit = GetParam() == "live" ? "live" : "annotated",
                                .optimise = "-O0"});
  const std::vector<Case> cases = cases_of(file);
  EXPECT_EQ(cases.size(), program.kernels().size()) << "a kernel does not say what it puts";
  std::uint64_t joins = 0;
  for (const Case& each : cases) {
    for (std::uint64_t turn = 0; turn < 6 && !HasFailure(); ++turn) {
      SCOPED_TRACE(testing::Message() << each.kernel << ", turn " << turn);
      ProgramKernel kernel = program.kernel(each.kernel);
      const std::vector<int> before = first_out();
      Shared<int> out(before.begin(), before.end());
      Shared<int> items(80);
      kernel.set("out", out.data());
      if (each.has_items) kernel.set("items", items.data());
      const Report report = run_shaken(kernel, turn % 3 == 2 ? larger_groups : 1, turn);
      joins += report.joins;
      EXPECT_EQ(std::vector<int>(out.begin(), out.end()), expected_out(each));
    }
  }
  EXPECT_GT(joins, 0U);
}

#if defined(COHORT_TEST_OPENCL)
TEST_P(Corpus, PutsThemWithoutCohortc) {
  const std::filesystem::path file = folder / (GetParam() + ".cl");
  std::string text;
  for (const std::filesystem::path& each : {folder / "corpus.h", file}) {
    std::ifstream stream{each};
    for (std::string line; std::getline(stream, line);) {
      if (!line.starts_with("#include")) text += line + "\n";
    }
  }
  PlainProgram program{text};
  for (const Case& each : cases_of(file)) {
    std::vector<int> out = first_out();
    std::vector<int> items(80);
    std::vector<PlainProgram::Argument> arguments{PlainProgram::buffer(out)};
    if (each.has_items) arguments.push_back(PlainProgram::buffer(items));
    program.run(each.kernel, arguments);
    EXPECT_EQ(out, expected_out(each)) << each.kernel;
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Dialect, Corpus, testing::ValuesIn(files()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace cohort::test
