// cohortc: compiles kernels in the paper's OpenCL C dialect for cohort's engines.
// Exit status: 0 success, 1 errors in the source, 2 bad command line or file (one line on stderr
// says what to change).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>

#include "cli/manual.hpp"
#include "cohort/version.hpp"
#include "compiler/compile.hpp"

namespace cohort::compiler {
namespace {

enum Exit : int { fine = 0, failed = 1, bad_input = 2 };

struct Options {
  std::vector<std::string> files;
  CompileOptions compile;
  std::string out = "-";
  std::string describe;
  bool stats = false;
};

int complain(const std::string& message) {
  std::cerr << "cohortc: " << message << '\n';
  return bad_input;
}

bool write(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text;
    return static_cast<bool>(std::cout.flush());
  }
  std::ofstream stream{file, std::ios::binary};
  stream << text;
  return static_cast<bool>(stream.flush());
}

/// Prints the paper's table 1 for the given sources.
void print_stats(const std::vector<std::pair<std::string, KernelStats>>& rows) {
  std::cout << std::left << std::setw(12) << "app" << std::setw(20) << "kernel" << std::right
            << std::setw(9) << "barriers" << std::setw(6) << "kill" << std::setw(6) << "fork"
            << std::setw(10) << "transmit" << std::setw(6) << "lines" << '\n';
  for (const auto& [app, row] : rows) {
    std::cout << std::left << std::setw(12) << app << std::setw(20) << row.name << std::right
              << std::setw(9)
              << (std::to_string(row.resizing_barriers) + " / " + std::to_string(row.barriers))
              << std::setw(6) << row.kills << std::setw(6) << row.forks << std::setw(10)
              << row.transmits << std::setw(6) << row.lines << '\n';
  }
}

int run(const Options& options) {
  bool all_fine = true;
  std::vector<std::pair<std::string, KernelStats>> rows;
  if (options.files.size() > 1 && !options.stats && options.compile.output != Output::none) {
    return complain("several files need --stats or --emit=none; compile them one by one");
  }
  if (options.compile.output == Output::opencl &&
      options.compile.transmit == Transmit::per_thread) {
    return complain(
        "--transmit per-thread: not available with --emit=opencl, where a group sends one State; "
        "use --transmit=live");
  }
  for (const std::string& file : options.files) {
    if (!std::filesystem::is_regular_file(file)) return complain("no file '" + file + "'");
    CompileOptions each = options.compile;
    each.file = file;
    if (options.stats) each.output = Output::none;
    each.colour = isatty(STDERR_FILENO) != 0;
    const CompileResult result = compile(each);
    std::cerr << result.diagnostics;
    all_fine &= result.fine;
    for (const KernelStats& row : result.stats)
      rows.emplace_back(std::filesystem::path{file}.stem().string(), row);
    if (!result.fine || options.stats) continue;
    if (each.output != Output::none && !write(options.out, result.output))
      return complain("cannot write '" + options.out + "'");
    if (!options.describe.empty() && !write(options.describe, result.description)) {
      return complain("cannot write '" + options.describe + "'");
    }
  }
  if (options.stats) print_stats(rows);
  return all_fine ? fine : failed;
}

/// Selects one of `choices` by name, like CLI::CheckedTransformer, but with an error that lists the
/// names.
template <class Value>
CLI::Validator one_of(const std::string& option, const std::map<std::string, Value>& choices) {
  return {[option, choices](std::string& text) {
            const auto found = choices.find(text);
            if (found != choices.end()) {
              text = std::to_string(static_cast<int>(found->second));
              return std::string{};
            }
            std::string names;
            for (const auto& each : choices) names += (names.empty() ? "" : ", ") + each.first;
            throw CLI::ParseError{option + " " + text + ": use one of " + names,
                                  CLI::ExitCodes::ValidationError};
          },
          ""};
}

constexpr const char* after_the_options =
    ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nthe source has errors\n.TP\n"
    ".B 2\nbad input: one line on the standard error says what to change\n"
    ".SH SEE ALSO\n.BR cohort (1)\n";

int start(int argc, char** argv) {
  CLI::App tool{"Compiles cooperative kernels written in OpenCL C for cohort's engines.",
                "cohortc"};
  tool.set_version_flag("--version", "cohortc " COHORT_VERSION " (clang " COHORT_CLANG_VERSION ")");
  Options options;
  tool.add_option("file", options.files, "OpenCL C with the cooperative extension")
      ->required()
      ->type_name("FILE");
  const std::map<std::string, Output> outputs{{"cpu", Output::cpu},
                                              {"cuda", Output::cuda},
                                              {"opencl", Output::opencl},
                                              {"plain", Output::plain},
                                              {"none", Output::none}};
  tool.add_option("--emit", options.compile.output,
                  "Output format: cpu|cuda|opencl|plain|none (default: cpu)")
      ->type_name("TARGET")
      ->transform(one_of("--emit", outputs));
  const std::map<std::string, Transmit> modes{{"annotated", Transmit::annotated},
                                              {"live", Transmit::live},
                                              {"all", Transmit::all},
                                              {"per-thread", Transmit::per_thread}};
  tool.add_option("--transmit", options.compile.transmit,
                  "What joining groups receive: annotated|live|all|per-thread (default: annotated)")
      ->type_name("MODE")
      ->transform(one_of("--transmit", modes));
  tool.add_option("-o,--out", options.out, "Output file (default: standard output)")
      ->type_name("FILE");
  tool.add_option("--describe", options.describe,
                  "Write a description of the kernels to this file, as JSON")
      ->type_name("FILE");
  tool.add_option("-D,--define", options.compile.defines, "Define a macro; may be repeated")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  tool.add_option("-I,--include", options.compile.include_paths,
                  "Add a folder to the include path; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  const std::vector<std::string> standards{"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};
  tool.add_option("--cl-std", options.compile.standard,
                  "Version of OpenCL C: CL1.0 to CL3.0 (default: CL3.0)")
      ->type_name("VERSION")
      ->check(CLI::IsMember{standards, CLI::ignore_case});
  // Options of clBuildProgram, with one dash as in OpenCL. Most of them only permit optimisations
  // that cohortc makes anyway.
  const std::map<std::string, std::string> permissions{
      {"fast-relaxed-math", "Optimise as if accuracy, infinities and NaNs did not matter"},
      {"single-precision-constant", "Literals without a suffix are floats"},
      {"mad-enable", ""},
      {"no-signed-zeros", ""},
      {"unsafe-math-optimizations", ""},
      {"finite-math-only", ""},
      {"denorms-are-zero", ""},
      {"opt-disable", ""},
      {"strict-aliasing", ""},
      {"kernel-arg-info", ""},
      {"fp32-correctly-rounded-divide-sqrt", ""},
      {"uniform-work-group-size", ""}};
  for (const auto& [name, what] : permissions) {
    auto* const flag = tool.add_flag_callback(
        "--cl-" + name,
        [&options, name = name, counts = !what.empty()] {
          if (counts) options.compile.build_options.push_back("-cl-" + name);
        },
        what);
    if (what.empty()) flag->group("");
  }
  tool.add_flag("--remarks", options.compile.remarks,
                "Report what each kernel transmits and why it cannot be suspended");
  tool.add_flag("--verify", options.compile.verify,
                "Compare the diagnostics with the expected-error comments in the source");
  tool.add_flag("--stats", options.stats,
                "Count primitives, transmitted variables and lines: table 1 of the paper");
  tool.add_flag_callback(
          "--manual",
          [&tool] {
            throw CLI::CallForVersion{cli::manual_page(tool, after_the_options), 0};
          },
          "Print the manual page")
      ->group("");
  std::vector<std::string> words;  // in reverse, as the parser expects them
  for (int i = argc - 1; i > 0; --i) {
    const std::string word = argv[i];
    words.push_back((word.starts_with("-cl-") ? "-" : "") + word);
  }
  try {
    tool.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return tool.exit(error);
    return complain(std::string{error.what()} + "; see `cohortc --help`");
  }
  return run(options);
}

}  // namespace
}  // namespace cohort::compiler

int main(int argc, char** argv) try {
  return cohort::compiler::start(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "cohortc: " << error.what() << '\n';
  return 1;
}
