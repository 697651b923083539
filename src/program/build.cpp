#include "program/build.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "program/cache.hpp"
#include "program/process.hpp"

namespace cohort::program {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here changes it
  return value == nullptr ? "" : value;
}

std::string read(const fs::path& file) {
  std::ifstream stream{file, std::ios::binary};
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// FNV-1a, computed twice with different starting values: 128 bits make the names of files unique.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char each : text) {
      for (std::uint64_t& word : words_)
        word = (word ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    }
    for (std::uint64_t& word : words_)
      // Separates the strings: ("a", "b") differs from ("ab", "")
      word = (word ^ 0x100U) * 0x100000001b3U;
  }
  [[nodiscard]] std::string text() const {
    std::ostringstream result;
    result << std::hex << std::setfill('0');
    for (const std::uint64_t word : words_) result << std::setw(16) << word;
    return result.str();
  }

 private:
  std::array<std::uint64_t, 2> words_{0xcbf29ce484222325U, 0x84222325cbf29ce4U};
};

/// The shared library that contains this code. Empty if the code is in the program itself.
const fs::path& own_library() {
  static const auto& path = *[] {
    static const char here = 0;
    Dl_info found{};
    void* object = nullptr;
    auto* const own = new fs::path;
    if (::dladdr1(&here, &found, &object, RTLD_DL_LINKMAP) == 0 || object == nullptr) return own;
    *own = static_cast<const link_map*>(object)->l_name;
    std::error_code error;
    if (own->is_relative() && !own->empty()) *own = fs::absolute(*own, error);
    return own;
  }();
  return path;
}

/// Computed at load time, because a relative path refers to the working folder of that time.
[[maybe_unused]] const fs::path& at_load = own_library();

/// Folders that may contain bin/ and include/ of this installation: two levels above the
/// executable, and two levels above the library.
std::vector<fs::path> installations() {
  std::error_code error;
  std::vector<fs::path> result{
      fs::read_symlink("/proc/self/exe", error).parent_path().parent_path()};
  if (const fs::path& library = own_library(); !library.empty()) {
    const fs::path folder = fs::weakly_canonical(library, error).parent_path();
    result = {folder.parent_path(), folder.parent_path().parent_path()};
  }
  return result;
}

/// The path of cohortc. In this order: $COHORT_CC, this installation's, the one in the build
/// folder, the one on PATH.
std::string cohortc() {
  if (std::string named = environment("COHORT_CC"); !named.empty()) return named;
  for (const fs::path& each : installations()) {
    if (fs::path found = each / "bin" / "cohortc"; fs::is_regular_file(found))
      return found.string();
  }
  return fs::is_regular_file(COHORT_CC_BUILT) ? COHORT_CC_BUILT : "cohortc";
}

/// The folders of the library's headers: this installation's, or the source tree's.
std::vector<fs::path> headers() {
  if (const std::string named = environment("COHORT_INCLUDE"); !named.empty()) return {named};
  for (const fs::path& each : installations()) {
    if (fs::is_regular_file(each / "include" / "cohort" / "dialect.hpp")) return {each / "include"};
  }
  return {COHORT_HEADERS_BUILT, COHORT_GENERATED_BUILT};
}

const char* name_of(ResizingBarrier barrier) {
  switch (barrier) {
    case ResizingBarrier::query: return "query";
    case ResizingBarrier::plain: return "plain";
    case ResizingBarrier::modelled: return "modelled";
    case ResizingBarrier::one_pass: break;
  }
  return "one_pass";
}

/// Runs cohortc on the source file.
Translated translate(const fs::path& source, const ProgramOptions& options, const fs::path& to,
                     const fs::path& description) {
  std::vector<std::string> command{cohortc(),
                                   source.string(),
                                   "--emit=" + options.engine,
                                   "--transmit=" + options.transmit,
                                   "-o",
                                   to.string(),
                                   "--describe=" + description.string()};
  for (const std::string& each : options.defines) command.insert(command.end(), {"-D", each});
  for (const fs::path& each : options.include_paths)
    command.insert(command.end(), {"-I", each.string()});
  command.insert(command.end(), options.build_options.begin(), options.build_options.end());
  const Finished finished = run(command);
  if (finished.status == -1 || finished.status == 127) {
    throw Error{Errc::unsupported,
                "cannot run " + command[0] +
                    ", the compiler of kernels; install it or set COHORT_CC to its path"};
  }
  if (finished.status != 0)
    throw Error{Errc::bad_file, source.string() + " does not compile:\n" + finished.text};
  return {read(to), read(description), finished.text};
}

/// The path of nvcc: $CUDACXX, or the toolkit's default folder, or on PATH.
std::string nvcc() {
  if (std::string named = environment("CUDACXX"); !named.empty()) return named;
  const fs::path usual = "/usr/local/cuda/bin/nvcc";
  return fs::is_regular_file(usual) ? usual.string() : "nvcc";
}

std::string architecture(const ProgramOptions& options) {
  if (!options.architecture.empty()) return options.architecture;
  std::string named = environment("COHORT_CUDA_ARCH");
  return named.empty() ? "native" : named;
}

std::vector<std::string> compiler(const ProgramOptions& options) {
  std::vector<std::string> command;
  if (options.engine == "cuda") {
    command = {nvcc(),
               "-x",
               "cu",
               "-std=c++20",
               "-shared",
               "-w",
               "-Xcompiler",
               "-fPIC",
               "-arch=" + architecture(options),
               "--diag-suppress=20014"};  // the library is compiled with this option too
  } else {
    const std::string named = environment("CXX");
    command = {named.empty() ? "c++" : named,
               "-x",
               "c++",
               "-std=c++20",
               "-shared",
               "-w",
               "-fPIC",
               "-pthread",
               "-fwrapv",  // OpenCL C programs rely on this option and the next
               "-fno-strict-aliasing"};
  }
  const auto& asked = options.build_options;
  if (std::find(asked.begin(), asked.end(), "-cl-fast-relaxed-math") != asked.end()) {
    // -ffast-math is not used: it links code that changes the floating-point mode of the program
    // that loads this object.
    if (options.engine == "cuda") {
      command.emplace_back("--use_fast_math");
    } else {
      command.insert(command.end(),
                     {"-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros",
                      "-fassociative-math", "-freciprocal-math", "-ffinite-math-only"});
    }
  }
  command.push_back(options.optimise);
  if (options.engine == "cuda" && options.optimise == "-O0")
    command.insert(command.end(), {"-Xcicc", "-O0"});  // -O applies to host code only
  command.push_back(std::string{"-DCOHORT_CL_BARRIER="} + name_of(options.barrier));
  if (options.transmit == "per-thread")
    command.push_back("-DCOHORT_CL_MAX_LOCAL=" + std::to_string(options.max_local_size));
  return command;
}

/// Adds the content of the library's headers, but not their path: code compiled with one copy of
/// the headers is valid for an identical copy elsewhere.
void add_headers(Hash& hash) {
  for (const fs::path& folder : headers()) {
    std::error_code error;
    std::vector<fs::path> files;
    for (const auto& each : fs::recursive_directory_iterator{folder, error}) {
      if (each.is_regular_file()) files.push_back(each.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& each : files) {
      hash.add(each.lexically_relative(folder).string());
      hash.add(read(each));
    }
  }
}

void check_source(const fs::path& source) {
  if (!fs::is_regular_file(source))
    throw Error{Errc::bad_options, "no file '" + source.string() + "'"};
}

/// Adds everything else on which the machine code depends: the compiler's version and, for
/// -arch=native, the GPUs that nvcc would find.
void add_compiler(Hash& hash, const std::vector<std::string>& command) {
  hash.add(run({command[0], "--version"}).text);
  if (std::find(command.begin(), command.end(), "-arch=native") == command.end()) return;
  std::istringstream steps{
      run({command[0], "--dryrun", "-arch=native", "-E", "-x", "cu", "/dev/null"}).text};
  for (std::string word; steps >> word;) {
    if (word.find("__CUDA_ARCH_LIST__") != std::string::npos) hash.add(word);
  }
}

/// Reports generated code that does not compile. All details go into one file. The error names that
/// file instead of quoting code that the user did not write.
[[noreturn]] void report_bug(const fs::path& source, const std::string& code,
                             const std::vector<std::string>& command, const std::string& output) {
  std::string name = fs::temp_directory_path() / "cohortc-bug-XXXXXX.cpp";
  const int file = ::mkstemps(name.data(), 4);
  if (file >= 0) ::close(file);
  std::ofstream all{name, std::ios::binary};
  all << code << "#if 0  // The command, its output, and the source:\n";
  for (const std::string& each : command) all << each << ' ';
  all << '\n' << output << '\n' << read(source) << "\n#endif\n";
  all.close();
  std::istringstream lines{output};
  std::string first;
  for (std::string line; std::getline(lines, line) && first.empty();) {
    if (line.find("error") != std::string::npos) first = ": " + line.substr(line.find("error"));
  }
  throw Error{Errc::bad_file, source.string() + ": " + command[0] +
                                  " does not compile what cohortc wrote, which is a bug of "
                                  "cohortc; please report it with " +
                                  (file >= 0 && all ? "the file " + name : "this source") + first};
}

}  // namespace

Translated translate_for_opencl(const fs::path& source, const ProgramOptions& options) {
  check_source(source);
  if (options.transmit == "per-thread") {
    throw Error{Errc::unsupported,
                "programs for the engine opencl have one State for a group; use another transmit "
                "than per-thread"};
  }
  const Scratch scratch{cache_folder(options)};
  return translate(source, options, scratch.file("program.cl"), scratch.file("program.json"));
}

Built build(const fs::path& source, const ProgramOptions& options) {
  check_source(source);
  if (options.engine != "cpu" && options.engine != "cuda") {
    throw Error{Errc::bad_options,
                "no engine '" + options.engine + "' for programs; there is cpu, cuda, opencl"};
  }
  const fs::path cache = cache_folder(options);
  const Scratch scratch{cache};
  const fs::path written = scratch.file("program.cpp");
  Translated translated = translate(source, options, written, scratch.file("program.json"));

  Hash hash;
  hash.add(translated.code);
  std::vector<std::string> command = compiler(options);
  for (const std::string& each : command) hash.add(each);
  add_compiler(hash, command);
  add_headers(hash);
  // The object's undefined symbols are the engine's functions. They are in the program that loads
  // it, or in this library.
  const fs::path& library = own_library();
  hash.add(library.filename().string());
  fs::path kept = cache / (source.stem().string() + "-" + hash.text() + ".so");
  if (!fs::exists(kept)) {
    const fs::path made = scratch.file("program.so");
    for (const fs::path& each : headers()) command.push_back("-I" + each.string());
    command.insert(command.end(), {"-o", made.string(), written.string()});
    if (!library.empty()) command.insert(command.end(), {"-Xlinker", library.string()});
    const Finished finished = run(command);
    if (finished.status == -1 || finished.status == 127) {
      throw Error{Errc::unsupported,
                  "cannot run " + command[0] + "; install a C++ compiler or set " +
                      (options.engine == "cuda" ? "CUDACXX" : "CXX") + " to its path"};
    }
    if (finished.status != 0) report_bug(source, translated.code, command, finished.text);
    scratch.keep(made, kept);
  }
  return {std::move(kept), std::move(translated.warnings)};
}

}  // namespace cohort::program
