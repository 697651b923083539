// Messages and output of cohortc. Every case in diagnostics/*.cl is compiled by itself, and Clang's
// own verifier compares the diagnostics with the expected-... comments. Generated code is compiled
// again. Random mutations of all sources must not crash cohortc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/compile.hpp"

namespace cohort::compiler {
namespace {

const std::filesystem::path folder = COHORT_TEST_PROGRAMS;

std::string read(const std::filesystem::path& file) {
  std::ifstream stream{file};
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// ---- diagnostics

struct Case {
  std::string file;
  std::string title;
  std::string text;
  Transmit transmit = Transmit::annotated;
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.title; }  // NOLINT: gtest's name

/// The cases of a file, each below a line `// ---- title`.
std::vector<Case> cases_of(const std::string& name, Transmit transmit) {
  std::vector<Case> result;
  std::istringstream lines{read(folder / "diagnostics" / name)};
  constexpr std::string_view mark = "// ---- ";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark)) {
      result.push_back({name, line.substr(mark.size()), "", transmit});
    } else if (!result.empty()) {
      result.back().text += line + "\n";
    }
  }
  return result;
}

std::vector<Case> all_cases() {
  std::vector<Case> result;
  for (const char* each :
       {"parameters.cl", "divergence.cl", "transmission.cl", "local.cl", "places.cl"}) {
    for (Case& found : cases_of(each, Transmit::annotated)) result.push_back(std::move(found));
  }
  for (Case& found : cases_of("live.cl", Transmit::live)) result.push_back(std::move(found));
  return result;
}

class Diagnostics : public testing::TestWithParam<Case> {};

TEST_P(Diagnostics, AreThoseExpected) {
  CompileOptions options;
  options.file = GetParam().file;
  options.text = GetParam().text;
  options.transmit = GetParam().transmit;
  options.verify = true;
  const CompileResult result = compile(options);
  EXPECT_TRUE(result.fine) << result.diagnostics;
}

INSTANTIATE_TEST_SUITE_P(Dialect, Diagnostics, testing::ValuesIn(all_cases()),
                         [](const auto& test) {
                           std::string name;
                           for (const char each : test.param.title)
                             name +=
                                 std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '_';
                           return name + "_" + std::to_string(test.index);
                         });

TEST(DiagnosticsOf, AMissingTransmitComeWithCaretNoteAndFixIt) {
  CompileOptions options;
  options.file = "level.cl";
  options.text =
      "kernel void f(global int *p) {\n  int level = 0;\n  resizing_global_barrier();\n  p[level] "
      "= 1;\n}\n";
  const CompileResult result = compile(options);
  EXPECT_FALSE(result.fine);
  EXPECT_TRUE(result.output.empty());
  EXPECT_THAT(
      result.diagnostics,
      testing::HasSubstr("level.cl:3:3: error: 'level' is read by groups that join at this "
                         "resizing_global_barrier, but is neither 'transmit' nor computed again\n"
                         "  resizing_global_barrier();\n"
                         "  ^~~~~~~~~~~~~~~~~~~~~~~~~\n"));
  EXPECT_THAT(result.diagnostics,
              testing::HasSubstr(
                  "level.cl:2:7: note: declare 'level' 'transmit' to hand its value to joining "
                  "groups\n  int level = 0;\n      ^\n  transmit "));
}

// ---- outputs

std::string emit(const std::string& file, Output output, Transmit transmit = Transmit::annotated) {
  CompileOptions options;
  options.file = (folder / file).string();
  options.output = output;
  options.transmit = transmit;
  const CompileResult result = compile(options);
  EXPECT_TRUE(result.fine) << result.diagnostics;
  return result.output;
}

void expect_opencl(const std::string& text) {
  CompileOptions options;
  options.file = "emitted.cl";
  options.text = text;
  options.output = Output::none;
  const CompileResult result = compile(options);
  // The engine's functions are declared but not defined. Later passes report that; Clang must
  // report nothing.
  EXPECT_TRUE(result.fine || result.diagnostics.find("is called but not defined in this file") !=
                                 std::string::npos)
      << result.diagnostics;
  EXPECT_THAT(result.diagnostics, testing::Not(testing::HasSubstr("warning: incompatible")));
}

TEST(PlainOutput, IsARegularKernel) {
  const std::string text = emit("figure4.cl", Output::plain);
  EXPECT_THAT(text, testing::HasSubstr("__kernel void graph_app("));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("transmit")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("resizing")));
  EXPECT_THAT(text, testing::HasSubstr("cohort_global_barrier(cohort_barrier);"));
  expect_opencl(text);
}

TEST(PlainOutput, OfAllProgramsCompilesAgain) {
  for (const char* each : {"programs.cl", "ranges.cl", "functions.cl"})
    expect_opencl(emit(each, Output::plain));
}

TEST(OpenClOutput, OfAllProgramsCompilesAgain) {
  expect_opencl(emit("figure4.cl", Output::opencl));
  expect_opencl(emit("programs.cl", Output::opencl));
  expect_opencl(emit("ranges.cl", Output::opencl));
  expect_opencl(emit("functions.cl", Output::opencl));
  expect_opencl(emit("live.cl", Output::opencl, Transmit::live));
}

TEST(CppOutput, IsTheSameForEveryEngineButForWhereItRuns) {
  const std::string cpu = emit("figure4.cl", Output::cpu);
  const std::string cuda = emit("figure4.cl", Output::cuda);
  const auto kernel = [](const std::string& text) {
    const std::size_t from = text.find("namespace cohort_program");
    return text.substr(from, text.find("extern \"C\"") - from);
  };
  EXPECT_EQ(kernel(cpu), kernel(cuda));
  EXPECT_THAT(cuda, testing::HasSubstr("cohort::cuda::Engine"));
}

// Compares text, because only nvcc's host pass rejects the braces alone.
TEST(CppOutput, NamesTheVectorsThatAnInitialiserLeavesOut) {
  EXPECT_THAT(emit("programs.cl", Output::cuda),
              testing::HasSubstr("partly_t_{{}, {}, cl::Vec<unsigned int, 4>{}, {"));
}

TEST(Outputs, KeepWhatTheAuthorSaysOfUnrolling) {
  const auto emitted = [](Output output) {
    CompileOptions options;
    options.file = "unrolled.cl";
    options.text = R"(kernel void unrolled(global uint *out, uint n) {
  uint sum = 0;
  __attribute__((opencl_unroll_hint(4)))
  for (uint i = 0; i < n; i++) sum += out[i];
  #pragma unroll 8
  for (uint i = 0; i < n; i++) sum ^= out[i];
  #pragma unroll
  for (uint i = 0; i < 3; i++) sum += out[i];
  if (get_global_id() == 0) out[0] = sum;
})";
    options.output = output;
    const CompileResult result = compile(options);
    EXPECT_TRUE(result.fine) << result.diagnostics;
    return result.output;
  };
  for (const Output output : {Output::cpu, Output::cuda}) {
    EXPECT_THAT(emitted(output), testing::ContainsRegex("COHORT_CL_UNROLL\\(4\\)\n *for"));
    EXPECT_THAT(emitted(output), testing::ContainsRegex("COHORT_CL_UNROLL\\(8\\)\n *for"));
    EXPECT_THAT(emitted(output), testing::ContainsRegex("COHORT_CL_UNROLL_ALL\n *for"));
  }
  for (const Output output : {Output::opencl, Output::plain}) {
    EXPECT_THAT(emitted(output), testing::HasSubstr("__attribute__((opencl_unroll_hint(4)))"));
    EXPECT_THAT(emitted(output), testing::HasSubstr("__attribute__((opencl_unroll_hint(8)))"));
    EXPECT_THAT(emitted(output), testing::HasSubstr("__attribute__((opencl_unroll_hint))"));
    expect_opencl(emitted(output));
  }
}

// ---- requirements for every output

constexpr Output outputs[] = {Output::cpu, Output::cuda, Output::opencl, Output::plain};

CompileResult compile_text(const std::string& text, Output output) {
  CompileOptions options;
  options.file = "given.cl";
  options.text = text;
  options.output = output;
  return compile(options);
}

TEST(Outputs, RefuseTheSameConstructs) {
  const std::string statements[] = {
      "switch (n) { case 1 ... 3: p[0] = 2; }",
      "__asm__(\"nop\");",
      "p[0] = p[1] ?: 2;",
      "p[0] = ({ int x = n; x; });",
      "p[0] = __builtin_choose_expr(1, n, p);",
      "p[0] = _Generic(n, int : 1, default : 2);",
      "goto *&&end; end: p[0] = 1;",
      "p[0] = __builtin_offsetof(struct part, second);",
  };
  for (const std::string& statement : statements) {
    SCOPED_TRACE(statement);
    for (const Output output : outputs) {
      const CompileResult result = compile_text(
          "struct part { int first, second; };\nkernel void f(global int *p, int n) { " +
              statement + " }",
          output);
      EXPECT_FALSE(result.fine) << result.output;
      EXPECT_THAT(result.diagnostics, testing::HasSubstr("is not supported"));
    }
  }
  for (const Output output : outputs) {
    EXPECT_FALSE(compile_text("kernel void f(read_only image2d_t i) {}", output).fine);
    EXPECT_FALSE(compile_text("#pragma pack(1)\nstruct s { char c; int i; };\n"
                              "kernel void f(global struct s *p) { p->i = 1; }",
                              output)
                     .fine);
  }
}

TEST(Outputs, ConvertConstantArgumentsOfFunctionsWrittenInPlace) {
  const std::string text =
      "int twice(int x) { resizing_global_barrier(); return x * 2; }\n"
      "int low(uchar x) { resizing_global_barrier(); return x + 1; }\n"
      "kernel void f(global int *p) { p[0] = twice(1 + 2); p[1] = low(300); }";
  for (const Output output : outputs) {
    if (output == Output::plain) continue;  // plain output calls functions instead of inlining them
    const CompileResult result = compile_text(text, output);
    ASSERT_TRUE(result.fine) << result.diagnostics;
    EXPECT_THAT(result.output, testing::HasSubstr("((int)(1 + 2)) * 2"));
    EXPECT_THAT(result.output, testing::HasSubstr("(unsigned char)("));
  }
}

// Clang survives these inputs. The passes once overflowed their stack on a sum of some 20,000
// terms.
TEST(Outputs, SurviveDeepExpressions) {
  std::string sum = "p[0]";
  for (int i = 1; i < 20000; ++i) sum += " + p[" + std::to_string(i) + "]";
  std::string nested;
  for (int i = 0; i < 200; ++i) nested += "if (p[" + std::to_string(i) + "]) { ";
  nested += "p[0] = 1;" + std::string(200, '}');
  for (const Output output : outputs) {
    const CompileResult result =
        compile_text("kernel void f(global int *p) { p[0] = " + sum + "; " + nested + " }", output);
    EXPECT_TRUE(result.fine) << result.diagnostics;
    EXPECT_THAT(result.output, testing::HasSubstr("p_[19999]"));
  }
}

TEST(Outputs, RefuseWhatIsTooDeep) {
  std::string sum = "p[0]";
  for (int i = 1; i < 200000; ++i) sum += "+1";
  const CompileResult result =
      compile_text("kernel void f(global int *p) { p[0] = " + sum + "; }", Output::cpu);
  EXPECT_FALSE(result.fine);
  EXPECT_THAT(result.diagnostics,
              testing::HasSubstr("error: nesting more than 100000 levels deep is not supported"));
}

TEST(Outputs, KeepTheLayoutThatTheAuthorDemands) {
  const std::string text =
      "typedef int wide __attribute__((aligned(16)));\n"
      "struct part { char c; wide w; char d __attribute__((aligned(8))); };\n"
      "struct tight { char c; int i __attribute__((packed)); };\n"
      "kernel void f(global struct part *p, global struct tight *t) { p->w = t->i; }";
  for (const Output output : {Output::cpu, Output::cuda}) {
    const CompileResult result = compile_text(text, output);
    ASSERT_TRUE(result.fine) << result.diagnostics;
    EXPECT_THAT(result.output, testing::HasSubstr("__attribute__((aligned(16))) int w_;"));
    EXPECT_THAT(result.output, testing::HasSubstr("sizeof(part_) == 32 && alignof(part_) == 16"));
    EXPECT_THAT(result.output, testing::HasSubstr("sizeof(tight_) == 5 && alignof(tight_) == 1"));
  }
  for (const Output output : {Output::opencl, Output::plain})
    EXPECT_THAT(compile_text(text, output).output,
                testing::HasSubstr("__attribute__((aligned(16))) int w_;"));
}

TEST(PlainOutput, KeepsTheNamesOfKernels) {
  const CompileResult result = compile_text(
      "int f(int x) { return x; }\nkernel void f_(global int *p) { p[0] = f(1); }", Output::plain);
  ASSERT_TRUE(result.fine) << result.diagnostics;
  EXPECT_THAT(result.output, testing::HasSubstr("__kernel void f_("));
  EXPECT_THAT(result.output, testing::HasSubstr("int f__(int x__)"));
}

TEST(Stats, CountWhatTable1OfThePaperCounts) {
  CompileOptions options;
  options.file = (folder / "figure4.cl").string();
  options.output = Output::none;
  const CompileResult result = compile(options);
  ASSERT_EQ(result.stats.size(), 1U);
  EXPECT_EQ(result.stats[0].resizing_barriers, 2U);
  EXPECT_EQ(result.stats[0].barriers, 2U);
  EXPECT_EQ(result.stats[0].kills, 0U);
  EXPECT_EQ(result.stats[0].transmits, 3U);
  EXPECT_GT(result.stats[0].lines, 30U);
}

TEST(Description, TellsTheLayoutOfTheState) {
  CompileOptions options;
  options.file = (folder / "figure4.cl").string();
  const std::string text = compile(options).description;
  EXPECT_THAT(text, testing::HasSubstr("\"name\": \"in_nodes\",\n            \"offset\": 8,"));
  EXPECT_THAT(text, testing::HasSubstr("\"phase\": 2"));
}

// ---- fuzzing

/// Changes the text in a few places: single characters, or whole lines copied from anywhere in the
/// corpus.
std::string mutate(std::string text, const std::vector<std::string>& lines, std::mt19937& random) {
  const auto below = [&](std::size_t end) { return end == 0 ? 0 : random() % end; };
  for (std::size_t times = 1 + below(4); times > 0; --times) {
    if (text.empty()) break;
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0: text.erase(at, 1 + below(12)); break;
      case 1: text.insert(at, 1, static_cast<char>(32 + below(95))); break;
      case 2: text[at] = "{}();,*&=+-<>[]0a"[below(17)]; break;
      case 3:
        text.insert(text.find('\n', at) == std::string::npos ? at : text.find('\n', at),
                    "\n" + lines[below(lines.size())]);
        break;
      case 4: text.insert(at, text.substr(below(text.size()), below(40))); break;
      default: {
        const std::size_t end = text.find('\n', at);
        if (end != std::string::npos) text.erase(at, end - at);
      }
    }
  }
  return text;
}

TEST(Fuzz, NoMutationCrashesTheCompiler) {
  std::vector<std::string> corpus;
  for (const Case& each : all_cases()) corpus.push_back(each.text);
  corpus.push_back(read(folder / "figure4.cl"));
  std::vector<std::string> lines;
  for (const std::string& each : corpus) {
    std::istringstream stream{each};
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  const char* scale = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
  const int count = static_cast<int>(2000 * (scale == nullptr ? 1.0 : std::atof(scale)));
  const std::filesystem::path last = std::filesystem::path{testing::TempDir()} /
                                     ("cohortc-fuzz-" + std::to_string(getpid()) + ".cl");
  constexpr int batch = 40;  // mutants per process, so that a crash is noticed and reported
  for (int first = 0; first < count; first += batch) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
      std::mt19937 random{static_cast<std::uint32_t>(first)};
      for (int i = 0; i < batch; ++i) {
        CompileOptions options;
        options.file = "fuzz.cl";
        options.text = mutate(corpus[random() % corpus.size()], lines, random);
        options.transmit = static_cast<Transmit>(random() % 4);
        options.output = static_cast<Output>(1 + random() % 4);
        std::ofstream{last} << *options.text;
        static_cast<void>(compile(options));
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "batch " << first << " crashed on:\n"
        << read(last);
  }
}

}  // namespace
}  // namespace cohort::compiler
