// Tests of cohort mps, with a stand-in for NVIDIA's control program: tests/cli/mps.
#include <sys/stat.h>

#include "cli/tool.hpp"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;
using cohort::tests::Result;
using cohort::tests::Tool;

/// Each test has a folder of pipes of its own.
class Mps : public Tool {
 protected:
  Mps() {
    fs::permissions(folder_, fs::perms::owner_all);
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ::unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    ::unsetenv("CUDA_MPS_LOG_DIRECTORY");
    ::setenv("PATH", ("" COHORT_TEST_FILES "/mps:" + path_).c_str(), 1);
    ::setenv("STAND_IN", "", 1);
  }
  ~Mps() override {
    for (const pid_t each : {process("nvidia-cuda-mps-control.pid"), process("servers")}) {
      if (each > 0) ::kill(each, SIGKILL);
    }
    ::setenv("PATH", path_.c_str(), 1);
  }

  /// Runs the tool with a time limit.
  [[nodiscard]] Result mps(const std::string& arguments, const std::string& with = "") const {
    return cohort("mps " + arguments, with + " timeout -s KILL 100");
  }
  /// The process whose id is in a file of the stand-in; 0 if it does not run.
  [[nodiscard]] pid_t process(const std::string& file,
                              const std::string& pipes = "cohort/mps") const {
    const std::string text = read(in_folder(pipes + "/" + file));
    const pid_t found = text.empty() ? 0 : std::stoi(text);
    return found > 0 && ::kill(found, 0) == 0 && !is_zombie(found) ? found : 0;
  }
  [[nodiscard]] pid_t daemon() const { return process("nvidia-cuda-mps-control.pid"); }

  static bool runs(pid_t each) { return ::kill(each, 0) == 0 && !is_zombie(each); }

  const std::string path_ = std::getenv("PATH");

 private:
  static bool is_zombie(pid_t each) {
    return read("/proc/" + std::to_string(each) + "/stat").find(") Z") != std::string::npos;
  }
};

TEST_F(Mps, StartsAndStops) {
  EXPECT_EQ(mps("status").status, 1);
  const Result started = mps("start");
  ASSERT_EQ(started.status, 0) << started.error;
  const pid_t first = daemon();
  ASSERT_GT(first, 0);
  const std::string pipes = in_folder("cohort/mps");
  EXPECT_THAT(started.out, AllOf(HasSubstr("process " + std::to_string(first)),
                                 HasSubstr("export CUDA_MPS_PIPE_DIRECTORY='" + pipes + "'"),
                                 HasSubstr(in_folder("cohort/mps-logs"))));
  EXPECT_TRUE(fs::exists(in_folder("cohort/mps-logs/control.log")));
  EXPECT_EQ(fs::status(pipes).permissions(), fs::perms::owner_all);
  const Result again = mps("start");
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.out, started.out) << "the same daemon";
  EXPECT_EQ(mps("status").out, started.out);

  EXPECT_THAT(mps("stop").out, HasSubstr("MPS has ended"));
  EXPECT_FALSE(runs(first));
  EXPECT_THAT(mps("stop").out, HasSubstr("does not run"));
  EXPECT_EQ(mps("status").status, 1);
}

TEST_F(Mps, TakesTheFoldersOfTheEnvironment) {
  const std::string pipes = in_folder("pipes");
  const std::string given =
      "CUDA_MPS_PIPE_DIRECTORY='" + pipes + "' CUDA_MPS_LOG_DIRECTORY='" + in_folder("logs") + "'";
  EXPECT_THAT(mps("start", given).out, HasSubstr("pipes in " + pipes));
  EXPECT_GT(process("nvidia-cuda-mps-control.pid", "pipes"), 0);
  EXPECT_TRUE(fs::exists(in_folder("logs/control.log")));
  EXPECT_EQ(mps("status").status, 1) << "of the default folder";
  EXPECT_THAT(mps("stop", given).out, HasSubstr("MPS has ended"));
  EXPECT_EQ(process("nvidia-cuda-mps-control.pid", "pipes"), 0);
}

TEST_F(Mps, SaysWhatIsMissingOrNotPermitted) {
  ::setenv("PATH", "/usr/bin:/bin", 1);
  expect_refused("mps start", {"no nvidia-cuda-mps-control on PATH", "driver"});
  ::setenv("PATH", ("" COHORT_TEST_FILES "/mps:" + path_).c_str(), 1);
  ::setenv("STAND_IN", "fails", 1);
  expect_refused("mps start", {"does not start", "Operation not permitted", "mps-logs"});
  EXPECT_EQ(daemon(), 0);
  expect_refused("mps", {"subcommand"});
}

TEST_F(Mps, EndsADaemonThatDoesNotAnswer) {
  ::setenv("STAND_IN", "server stubborn", 1);
  ASSERT_EQ(mps("start").status, 0);
  const pid_t stubborn = daemon();
  const pid_t server = process("servers");
  ASSERT_GT(server, 0);
  const Result stopped = mps("stop");
  EXPECT_EQ(stopped.status, 0) << stopped.error;
  EXPECT_THAT(stopped.error, HasSubstr("ended by a signal"));
  EXPECT_FALSE(runs(stubborn));
  EXPECT_FALSE(runs(server));
}

TEST_F(Mps, KeepsADaemonWhoseClientsAreUnknown) {
  ASSERT_EQ(mps("start").status, 0);
  const pid_t kept = daemon();
  for (const char* const how : {"mute", "garbled"}) {
    ::setenv("STAND_IN", how, 1);
    expect_refused("mps stop", {"does not answer", "give --force"});
    EXPECT_TRUE(runs(kept));
    EXPECT_THAT(mps("status").out, HasSubstr("does not answer"));
  }
  EXPECT_THAT(mps("stop --force").out, HasSubstr("MPS has ended"));
  EXPECT_FALSE(runs(kept));
}

TEST_F(Mps, EndsTheDaemonOfAnInterruptedStart) {
  ::setenv("STAND_IN", "mute", 1);
  pid_t started = 0;
  const auto ready = [&](pid_t /*tool*/) { return (started = daemon()) > 0; };
  EXPECT_EQ(signalled("mps start", SIGINT, ready).status, 128 + SIGINT);
  EXPECT_FALSE(runs(started));
}

TEST_F(Mps, RefusesFoldersThatOthersCanChange) {
  const std::string pipes = in_folder("pipes");
  ::setenv("CUDA_MPS_PIPE_DIRECTORY", pipes.c_str(), 1);
  ::setenv("CUDA_MPS_LOG_DIRECTORY", in_folder("logs").c_str(), 1);
  const auto expect_all_refused = [&](const std::string& why) {
    for (const char* const each : {"mps start", "mps status", "mps stop"})
      expect_refused(each, {pipes, why});
  };
  fs::create_directory(pipes);
  fs::permissions(pipes, fs::perms::all);
  expect_all_refused("chmod go-w");
  fs::permissions(pipes, fs::perms::owner_all);
  fs::rename(pipes, in_folder("elsewhere"));
  fs::create_directory_symlink(in_folder("elsewhere"), pipes);
  expect_all_refused("a link or a file");
  fs::remove(pipes);
  fs::rename(in_folder("elsewhere"), pipes);
  ASSERT_EQ(::mkfifo((pipes + "/nvidia-cuda-mps-control.pid").c_str(), 0600), 0);
  EXPECT_EQ(mps("status").status, 1) << "does not wait for a writer";
}

TEST_F(Mps, CountsClientsAndKeepsThem) {
  ::setenv("STAND_IN", "server", 1);
  ::setenv("STAND_IN_CLIENTS", "71 72", 1);
  EXPECT_EQ(mps("start").status, 0);
  EXPECT_THAT(mps("status").out,
              AllOf(HasSubstr("2 of at most 48 clients\n"), Not(HasSubstr("refuses"))));
  expect_refused("mps stop", {"71 72", "--force"});
  const pid_t kept = daemon();
  EXPECT_GT(kept, 0);
  std::string many;
  for (int i = 0; i < 48; ++i) many += " " + std::to_string(100 + i);
  ::setenv("STAND_IN_CLIENTS", many.c_str(), 1);
  EXPECT_THAT(mps("status").out, HasSubstr("48 of at most 48 clients; CUDA refuses another"));
  EXPECT_THAT(mps("stop --force").out, HasSubstr("MPS has ended"));
  EXPECT_FALSE(runs(kept));
}

TEST_F(Mps, LeavesProcessesAloneThatAreNotOfMps) {
  fs::create_directories(in_folder("cohort/mps"));
  for (const char* const each : {"cohort", "cohort/mps"})
    fs::permissions(in_folder(each), fs::perms::owner_all);
  std::ofstream{in_folder("cohort/mps/nvidia-cuda-mps-control.pid")} << ::getpid();
  EXPECT_THAT(mps("stop").out, HasSubstr("does not run"));
  std::ofstream{in_folder("cohort/mps/nvidia-cuda-mps-control.pid")} << 0;
}

}  // namespace
