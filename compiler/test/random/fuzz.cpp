// make fuzz-compiler: checks random kernels with fresh seeds for some minutes, or the kernel of one
// seed again.
//   fuzz_compiler [MINUTES [FOLDER [SEED]]]   failing programs go to FOLDER (compiler-failures)
//   fuzz_compiler again SEED [FOLDER]         status 1 if its kernel still fails
// Each file is compiled and run in a child process, so that crashes and hangs are noticed. A
// failing kernel is shortened: statements are left out as long as it fails in the same way.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "random/runs.hpp"
#if defined(COHORT_TEST_OPENCL)
#include "random/plain.hpp"
#endif

namespace cohort::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seeds = std::vector<std::uint64_t>;
using LeftOut = std::set<std::uint32_t>;

#if defined(COHORT_TEST_OPENCL)
constexpr std::uint32_t each_file = 12;
// Without per-thread, which OpenCL does not support.
constexpr std::uint64_t modes = random_modes - 1;
#else
constexpr std::uint32_t each_file = 40;
constexpr std::uint64_t modes = random_modes;
#endif
constexpr unsigned time_limit = 1800;  // seconds per file, also on a busy machine

/// Counters shared by all processes.
struct Counts {
  std::atomic<std::uint64_t> kernels{0};
  std::atomic<std::uint64_t> joins{0};
  std::atomic<std::uint64_t> leaves{0};
  std::atomic<std::uint64_t> failures{0};
};
Counts& counts() {
  static auto* const shared = new (::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Counts;
  return *shared;
}

struct Verdict {
  std::string what;  ///< "right", "differs", "is refused", "crashes" or "hangs"
  std::string text;
  [[nodiscard]] bool right() const { return what == "right"; }
  /// Without names and values, so that a shortened kernel fails for the same reason.
  [[nodiscard]] std::string reason() const {
    const std::size_t error = text.find("error: ");
    if (what != "is refused" || error == std::string::npos) return what;
    std::string result;
    bool quoted = false;
    for (const char each : text.substr(error, text.find('\n', error) - error)) {
      quoted ^= each == '\'';
      if (!quoted) result += each;
    }
    return result;
  }
};

/// Every eighth file is compiled with optimisation. The others use Clang if it is installed,
/// because it compiles faster.
std::string choose_compiler(std::uint64_t seed) {
  if (seed / random_modes / each_file % 8 == 0) return "-O2";
  static const bool clang = std::system("clang++ --version > /dev/null 2>&1") == 0;  // NOLINT
  if (clang) ::setenv("CXX", "clang++", 0);  // NOLINT(concurrency-mt-unsafe): one thread
  return "-O0";
}

/// Compiles and runs the kernels of a file. Returns the first failure, if any.
Verdict check(const RandomFile& file, const Seeds& seeds, const fs::path& scratch,
              std::uint64_t turns) {
  const std::string optimise = choose_compiler(seeds[0]);
  std::optional<Program> program;
  try {
    program = compiled(file, scratch / "kernels.cl", optimise);
  } catch (const Error& error) {
    return {"is refused", error.what()};
  }
  Verdict result{"right", ""};
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      const RandomRun each = run(*program, file.kernels[i], seeds[i] + turn);
      counts().joins += each.joins;
      counts().leaves += each.leaves;
      if (each.wrong.empty()) continue;
      result.what = "differs";
      result.text += "seed " + std::to_string(seeds[i]) + "\n" + each.wrong;
      break;
    }
  }
#if defined(COHORT_TEST_OPENCL)
  PlainProgram plain{file.text()};
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::string wrong = run_plain(plain, file.kernels[i]);
    if (!wrong.empty())
      return {"differs",
              result.text + "seed " + std::to_string(seeds[i]) + " without cohortc\n" + wrong};
  }
#endif
  return result;
}

/// check() in a child process.
Verdict checked(const Seeds& seeds, const LeftOut& left_out = {}, std::uint64_t turns = 3) {
  RandomFile file;
  file.transmit = style_of(seeds[0]).transmit;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    auto kernel = random_kernel(seeds[i], "k" + std::to_string(i), left_out);
    if (!kernel) return {"right", ""};
    file.kernels.push_back(std::move(*kernel));
  }
  std::string scratch = (fs::temp_directory_path() / "fuzz-compiler-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) throw std::runtime_error{"cannot write to " + scratch};
  std::cout << std::flush;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(time_limit);
    ::setenv("COHORT_CACHE", scratch.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    try {
      const Verdict verdict = check(file, seeds, scratch, turns);
      std::ofstream{fs::path{scratch} / "verdict"} << verdict.what << '\n' << verdict.text;
    } catch (const std::exception& error) {
      std::ofstream{fs::path{scratch} / "verdict"} << "fails\n" << error.what();
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Verdict result;
  if (WIFSIGNALED(status)) {
    result.what = WTERMSIG(status) == SIGALRM ? "hangs" : "crashes";
    result.text = "signal " + std::to_string(WTERMSIG(status)) + "\n";
  } else {
    std::ifstream stream{fs::path{scratch} / "verdict"};
    std::getline(stream, result.what);
    std::ostringstream text;
    text << stream.rdbuf();
    result.text = text.str();
  }
  fs::remove_all(scratch);
  return result;
}

/// Reports a kernel that fails, and stores its shortened text.
void tell(std::uint64_t seed, const Verdict& verdict, const fs::path& folder) {
  LeftOut left_out;
  const RandomKernel whole = *random_kernel(seed, "k0");
  Verdict last = verdict;
  const auto until = Clock::now() + std::chrono::minutes{3};
  for (std::uint32_t size = whole.pieces; size > 0; size /= 2) {
    for (std::uint32_t from = 0; from < whole.pieces && Clock::now() < until; from += size) {
      LeftOut more = left_out;
      for (std::uint32_t i = from; i < std::min(from + size, whole.pieces); ++i) more.insert(i);
      if (more == left_out) continue;
      const Verdict now = checked({seed}, more, 8);
      if (now.reason() != verdict.reason()) continue;
      left_out = std::move(more);
      last = now;
    }
  }
  fs::create_directories(folder);
  const fs::path file = folder / (std::to_string(seed) + ".cl");
  const RandomKernel rest = *random_kernel(seed, "k0", left_out);
  std::ofstream stream{file};
  std::istringstream lines{last.text};
  stream << "// Seed " << seed << " on the engine " << engine_name
         << ", --transmit=" << style_of(seed).transmit << ": " << last.what << ".\n";
  for (std::string line; std::getline(lines, line);) stream << "// " << line << '\n';
  stream << "// a = " << rest.a << ", b = " << static_cast<unsigned>(rest.b) << ", c = " << rest.c
         << ", f = " << rest.f << ", n = " << random_items << "; " << left_out.size() << " of "
         << whole.pieces << " statements are left out\n"
         << random_prelude << rest.text;
  std::cout << "seed " << seed << " " << last.what << ", see " << file.string() << std::endl;
}

/// Checks kernels one by one after their file failed.
void tell_apart(const Seeds& seeds, const Verdict& verdict, const fs::path& folder) {
  bool any = false;
  for (const std::uint64_t seed : seeds) {
    const Verdict alone = checked({seed}, {}, 12);
    if (alone.right()) continue;
    any = true;
    if (counts().failures.fetch_add(1) < 20) tell(seed, alone, folder);
  }
  if (any) return;
  ++counts().failures;
  std::cout << "the kernels of the seeds " << seeds[0] << ", " << seeds[0] + random_modes << " ... "
            << seeds.back() << " together: " << verdict.what << "\n"
            << verdict.text << std::endl;
}

int fuzz(double minutes, const fs::path& folder, std::uint64_t first) {
  const auto until = Clock::now() + std::chrono::duration<double>(minutes * 60);
  std::cout << "fuzzing cohortc for " << minutes << " minutes on the engine " << engine_name
            << ", first seed " << first << std::endl;
  static_cast<void>(counts());
  const std::uint32_t workers = cpu::usable_cpus();
  std::vector<pid_t> all;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (std::uint64_t file = worker; Clock::now() < until; file += workers) {
        const std::uint64_t begin = first + file / modes * random_modes * each_file + file % modes;
        Seeds seeds;
        for (std::uint64_t i = 0; i < each_file; ++i) seeds.push_back(seed_in_file(begin, i));
        const Verdict verdict = checked(seeds);
        counts().kernels += each_file;
        if (!verdict.right()) tell_apart(seeds, verdict, folder);
      }
      ::_exit(0);
    }
    all.push_back(child);
  }
  for (const pid_t each : all) ::waitpid(each, nullptr, 0);
  std::cout << counts().kernels << " kernels, in which groups joined " << counts().joins
            << " times and left " << counts().leaves << " times: " << counts().failures
            << " failed\n";
  return counts().failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  using namespace cohort::test;
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const auto argument = [&](std::size_t i, const std::string& otherwise) {
    return i < arguments.size() && !arguments[i].empty() ? arguments[i] : otherwise;
  };
  const std::string folder = "compiler-failures";
  try {
    if (argument(0, "") == "again") {
      const std::uint64_t seed = std::stoull(argument(1, ""));
      const Verdict verdict = checked({seed}, {}, 12);
      std::cout << "seed " << seed << " " << verdict.what << '\n' << verdict.text;
      if (!verdict.right() && arguments.size() > 2) tell(seed, verdict, arguments[2]);
      return verdict.right() ? 0 : 1;
    }
    const std::uint64_t seed = std::stoull(argument(2, std::to_string(std::random_device{}())));
    return fuzz(std::stod(argument(0, "1")), argument(1, folder),
                seed / random_modes * random_modes);
  } catch (const std::invalid_argument&) {
    std::cerr << "fuzz_compiler [MINUTES [FOLDER [SEED]]], or fuzz_compiler again SEED [FOLDER]\n";
    return 2;
  }
}
