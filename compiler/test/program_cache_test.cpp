// The cache of compiled programs: who may write to it, how entries are named, and concurrent
// compilations. Fake compilers take only milliseconds: a shell script replaces cohortc and writes
// one line of C++, which the system's compiler compiles.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cohort/program.hpp"

namespace cohort::test {
namespace {

namespace fs = std::filesystem;

/// A fake cohortc. Its description of a program is {"kernels": [], "value": VALUE}, where VALUE
/// comes from -D VALUE=...
constexpr const char* stand_in = R"sh(#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in -o) out=$2;; -D) value=${2#VALUE=};; esac
  shift
done
echo 'extern "C" const char cohort_description[] =' > "$out"
echo "R\"({\"kernels\": [], \"value\": $value})\";" >> "$out"
)sh";

class ProgramCache : public testing::Test {
 protected:
  ProgramCache() {
    std::string name = fs::path{testing::TempDir()} / "program-cache-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    write(folder_ / "cohortc", stand_in);
    write(folder_ / "c++", "#!/bin/sh\nexec c++ \"$@\"\n");
    std::ofstream{source_ = folder_ / "program.cl"} << "what the stand-in does not read\n";
    set("COHORT_CC", folder_ / "cohortc");
    set("CXX", folder_ / "c++");
    set("COHORT_INCLUDE", folder_ / "include");  // an entry's name depends on the headers' content
    set("COHORT_CACHE", cache());
  }
  ~ProgramCache() override { fs::remove_all(folder_); }

  static void set(const char* name, const fs::path& value) {
    ::setenv(name, value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  static void write(const fs::path& file, const std::string& script) {
    std::ofstream{file} << script;
    fs::permissions(file, fs::perms::owner_all);
  }
  [[nodiscard]] fs::path cache() const { return folder_ / "cache"; }

  [[nodiscard]] std::string load(int value) const {
    ProgramOptions options;
    options.defines = {"VALUE=" + std::to_string(value)};
    return Program::from_file(source_, options).description();
  }
  [[nodiscard]] bool loads(int value) const {
    const std::string wanted = "\"value\": " + std::to_string(value) + "}";
    const std::string got = load(value);
    if (got.ends_with(wanted)) return true;
    ADD_FAILURE() << "VALUE=" << value << " gave " << got;
    return false;
  }
  /// The message of the Error with which a load fails.
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(load(1));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_options);
      return error.what();
    }
    return "not refused";
  }
  [[nodiscard]] std::set<std::string> entries() const {
    std::set<std::string> result;
    for (const auto& each : fs::directory_iterator{cache()})
      result.insert(each.path().filename().string());
    return result;
  }

  /// Runs `body` in a child process. Returns true if `body` returned true there without a test
  /// failure.
  template <class Body>
  static pid_t in_a_process(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = false;
      try {
        good = body() && !HasFailure();
      } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
      }
      ::_exit(good ? 0 : 1);
    }
    return child;
  }
  static bool succeeded(pid_t child) {
    int status = 1;
    ::waitpid(child, &status, 0);
    return status == 0;
  }

  fs::path folder_;
  fs::path source_;
};

// To run 200 rounds: COHORT_TEST_SCALE=40 build/release/tests/program_cache_test
TEST_F(ProgramCache, CompilationsAtOnceDoNotMeet) {
  const char* const scale = std::getenv("COHORT_TEST_SCALE");  // NOLINT(concurrency-mt-unsafe)
  const int rounds = scale == nullptr ? 5 : std::max(1, static_cast<int>(5 * std::atof(scale)));
  constexpr int threads = 8;
  // Each round has 16, so the two processes compile some of them at the same time.
  constexpr int distinct = 12;
  std::vector<pid_t> processes;
  for (int process = 0; process < 2; ++process) {
    processes.push_back(in_a_process([&] {
      std::vector<std::thread> all;
      std::atomic<int> wrong{0};
      for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&, thread] {
          for (int round = 0; round < rounds; ++round) {
            const int value = round * distinct + (thread + 4 * process) % distinct;
            try {
              if (!loads(value)) ++wrong;
            } catch (const std::exception& error) {
              std::cerr << "VALUE=" << value << ": " << error.what() << '\n';
              ++wrong;
            }
          }
        });
      }
      for (std::thread& each : all) each.join();
      return wrong == 0;
    }));
  }
  for (const pid_t each : processes) EXPECT_TRUE(succeeded(each));

  EXPECT_EQ(entries().size(), static_cast<std::size_t>(rounds * distinct))
      << "an entry for each program, and no scratch files";
  write(folder_ / "c++", "#!/bin/sh\n[ \"$1\" = --version ] && exec c++ --version\nexit 1\n");
  for (int value = 0; value < rounds * distinct; ++value) EXPECT_TRUE(loads(value)) << "later";
}

TEST_F(ProgramCache, EntriesAreOfOneCompilerVersionAndItsHeaders) {
  EXPECT_TRUE(loads(1));
  EXPECT_TRUE(loads(1));
  EXPECT_EQ(entries().size(), 1U);
  write(folder_ / "c++",
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'c++ of tomorrow' || exec c++ \"$@\"\n");
  EXPECT_TRUE(loads(1));
  EXPECT_EQ(entries().size(), 2U);
  fs::create_directory(folder_ / "include");
  std::ofstream{folder_ / "include" / "kernel.hpp"} << "// another header\n";
  EXPECT_TRUE(loads(1));
  EXPECT_EQ(entries().size(), 3U);
}

TEST_F(ProgramCache, HasNoEntryForCodeThatDoesNotCompileButAFileToReportItWith) {
  set("TMPDIR", folder_);
  write(folder_ / "c++",
        "#!/bin/sh\n[ \"$1\" = --version ] && exec echo 1\n"
        "echo 'In file included from a.hpp:'\necho 'program.cpp:3:1: error: no such thing'\n"
        "echo 'program.cpp:4:1: error: nor this'\nexit 1\n");
  std::string message;
  try {
    static_cast<void>(load(1));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_file);
    message = error.what();
  }
  EXPECT_THAT(message, testing::ContainsRegex("does not compile what cohortc wrote, which is a bug "
                                              "of cohortc; please report it with the file .*/"
                                              "cohortc-bug-.*cpp: error: no such thing$"));
  EXPECT_TRUE(entries().empty());
  std::size_t reports = 0;
  for (const auto& each : fs::directory_iterator{folder_}) {
    if (!each.path().filename().string().starts_with("cohortc-bug-")) continue;
    ++reports;
    std::ifstream stream{each.path()};
    const std::string all{std::istreambuf_iterator<char>{stream}, {}};
    for (const char* part : {"cohort_description", "-fwrapv", "nor this", "does not read"})
      EXPECT_THAT(all, testing::HasSubstr(part));
  }
  EXPECT_EQ(reports, 1U);
  ::unsetenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
}

TEST_F(ProgramCache, RemovesWhatAKilledCompilationLeft) {
  write(folder_ / "c++", "#!/bin/sh\n[ \"$1\" = --version ] && exit\nkill -9 $PPID\n");
  EXPECT_FALSE(succeeded(in_a_process([&] { return loads(1); })));
  EXPECT_THAT(entries(), testing::ElementsAre(testing::StartsWith("new-")));
  write(folder_ / "c++", "#!/bin/sh\nexec c++ \"$@\"\n");
  EXPECT_TRUE(loads(2));
  EXPECT_THAT(entries(), testing::ElementsAre(testing::StartsWith("program-")));
}

TEST_F(ProgramCache, KeepsWhatARunningCompilationWrites) {
  const fs::path go = folder_ / "go";
  write(folder_ / "c++", "#!/bin/sh\n[ \"$1\" = --version ] && exit\nwhile [ ! -e '" + go.string() +
                             "' ]; do sleep 0.01; done\nexec c++ \"$@\"\n");
  const pid_t slow = in_a_process([&] { return loads(1); });
  while (!fs::exists(cache()) || entries().empty()) std::this_thread::yield();
  write(folder_ / "quick", "#!/bin/sh\nexec c++ \"$@\"\n");
  set("CXX", folder_ / "quick");
  EXPECT_TRUE(loads(2));
  std::ofstream{go} << "";
  EXPECT_TRUE(succeeded(slow));
}

TEST_F(ProgramCache, OffKeepsNothingAfterTheProcess) {
  const auto programs = [&] {
    return std::ranges::count_if(fs::directory_iterator{folder_}, [](const auto& each) {
      return each.path().filename().string().starts_with("cohort-programs-");
    });
  };
  const pid_t child = ::fork();
  if (child == 0) {
    set("COHORT_CACHE", "off");
    set("TMPDIR", folder_);
    fs::current_path(folder_);
    const bool good = loads(1) && programs() == 1 && !fs::exists("off");
    std::exit(good ? 0 : 1);  // NOLINT(concurrency-mt-unsafe): a process of one thread
  }
  EXPECT_TRUE(succeeded(child));
  EXPECT_EQ(programs(), 0);
}

TEST_F(ProgramCache, IsPrivateWhateverTheUmask) {
  const mode_t before = ::umask(0);
  EXPECT_TRUE(loads(1));
  ::umask(before);
  constexpr fs::perms others = fs::perms::group_write | fs::perms::others_write;
  EXPECT_EQ(fs::status(cache()).permissions() & others, fs::perms::none);
  for (const std::string& each : entries())
    EXPECT_EQ(fs::status(cache() / each).permissions() & others, fs::perms::none);
}

TEST_F(ProgramCache, OthersCanWriteToIsRefused) {
  fs::create_directory(cache());
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(cache(), fs::perms::owner_all | others);
    EXPECT_EQ(refusal(), "cache of compiled programs " + cache().string() +
                             ": other users can write to it (chmod go-w); set COHORT_CACHE to a "
                             "folder of your own");
  }
  EXPECT_TRUE(entries().empty());
}

TEST_F(ProgramCache, OfAnotherUserIsRefused) {
  if (::geteuid() == 0) {
    fs::create_directory(cache());
    ASSERT_EQ(::chown(cache().c_str(), 1, 1), 0);
    EXPECT_THAT(refusal(), testing::HasSubstr("it belongs to user 1"));
    EXPECT_TRUE(entries().empty());
  } else {
    set("COHORT_CACHE", "/usr");
    EXPECT_THAT(refusal(), testing::HasSubstr("it belongs to user 0"));
  }
}

TEST_F(ProgramCache, BehindALinkOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  fs::create_directory(folder_ / "ours");
  fs::permissions(folder_ / "ours", fs::perms::owner_all);
  fs::create_directory_symlink(folder_ / "ours", cache());
  EXPECT_TRUE(loads(1)) << "a link of our own";
  ASSERT_EQ(::lchown(cache().c_str(), 1, 1), 0);
  EXPECT_THAT(refusal(), testing::HasSubstr("it belongs to user 1"));
}

TEST_F(ProgramCache, ThatIsAFileIsRefused) {
  std::ofstream{cache()} << "a file\n";
  EXPECT_THAT(refusal(), testing::HasSubstr("not a folder"));
}

TEST_F(ProgramCache, WithoutAHomeIsTheUsersOwnInTheTemporaryFolder) {
  EXPECT_TRUE(succeeded(in_a_process([&] {  // a child process, because the environment is changed
    ::unsetenv("COHORT_CACHE");             // NOLINT(concurrency-mt-unsafe)
    ::unsetenv("XDG_CACHE_HOME");           // NOLINT(concurrency-mt-unsafe)
    ::unsetenv("HOME");                     // NOLINT(concurrency-mt-unsafe)
    set("TMPDIR", folder_);
    const fs::path own = folder_ / ("cohort-programs-" + std::to_string(::geteuid()));
    EXPECT_TRUE(loads(1));
    EXPECT_EQ(fs::status(own).permissions(), fs::perms::owner_all);
    fs::permissions(own, fs::perms::all);  // simulates a folder that another user has made
    EXPECT_THAT(refusal(), testing::HasSubstr("other users can write to it"));
    return true;
  })));
}

}  // namespace
}  // namespace cohort::test
