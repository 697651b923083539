// Tenants from the command line: cohort lease, cohort top and cohort throttle.
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include "cli/tool.hpp"

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;
using cohort::tests::Result;
using cohort::tests::Tool;

/// A command in the background, killed at the end of the scope.
class Process {
 public:
  explicit Process(const std::string& line) : id_(::fork()) {
    if (id_ != 0) return;
    ::execl("/bin/sh", "sh", "-c", ("exec " + line).c_str(), nullptr);
    ::_exit(127);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { kill(SIGKILL); }

  [[nodiscard]] pid_t id() const { return id_; }
  /// Sends the signal and waits for the end. Returns the exit status as a shell does.
  int kill(int signal) {
    if (id_ > 0) ::kill(id_, signal);
    return wait();
  }
  int wait() {
    int status = 0;
    if (id_ > 0) ::waitpid(id_, &status, 0);
    id_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t id_;
};

/// The CPUs that a thread may use; empty if the thread has ended.
std::vector<int> cpus_of(pid_t thread) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::vector<int> cpus;
  if (::sched_getaffinity(thread, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) cpus.push_back(cpu);
  }
  return cpus;
}

/// Each test has a folder of sockets of its own.
class Tenants : public Tool {
 protected:
  Tenants() {
    fs::permissions(folder_, fs::perms::owner_all);
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    ::unsetenv("COHORT_ENGINE");
    ::unsetenv("COHORT_LEASE");
  }

  /// A shared engine with two workers, whose job lasts until it is killed.
  Process& start_engine(const std::string& name = "night") {
    engine_.emplace("'" COHORT_TOOL_FILE
                    "' run bfs --input grid:10x100000 -o solo=0 --capacity 2 --repeat 1000000 "
                    "--share=" +
                    name + " >/dev/null 2>&1");
    until([&] { return !engines().empty() && engines()[0]["jobs"].size() == 1; });
    return *engine_;
  }
  void end_engine() { engine_.reset(); }

  /// Runs the tool with a limit on its time.
  [[nodiscard]] Result tool(const std::string& arguments) const {
    return cohort(arguments, "timeout -s KILL 60");
  }
  [[nodiscard]] json engines() const {
    const Result result = tool("top --once --json");
    return result.status == 0 ? json::parse(result.out)["engines"] : json::array();
  }
  [[nodiscard]] int granted() const {
    int units = 0;
    for (const json& engine : engines()) {
      for (const json& tenant : engine["tenants"]) units += tenant["granted"].get<int>();
    }
    return units;
  }
  [[nodiscard]] std::string lease(const std::string& command) const {
    return "'" COHORT_TOOL_FILE "' lease " + command + " 2>/dev/null";
  }

  static void until(const std::function<bool()>& true_now) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!true_now()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit);
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
  }

  const std::vector<int> own_ = cpus_of(0);

 private:
  std::optional<Process> engine_;
};

TEST_F(Tenants, PassTheStreamsTheArgumentsAndTheStatusOfTheCommandThrough) {
  start_engine();
  const Result echoed = cohort("lease -- cat", "printf 'a\\nb' | timeout -s KILL 60");
  EXPECT_EQ(echoed.status, 0);
  EXPECT_EQ(echoed.out, "a\nb");
  EXPECT_THAT(echoed.error, IsEmpty());
  EXPECT_EQ(tool("lease --units 1 -- printf '%s,' '[a,b]' --help -- ''").out, "[a,b],--help,--,,");
  EXPECT_EQ(tool("lease -- sh -c 'echo lost >&2; exit 7'").status, 7);
  EXPECT_EQ(tool("lease -- sh -c 'echo lost >&2; exit 7'").error, "lost\n");

  Process waiting{lease("-- sleep 1000")};
  until([&] { return granted() == 1; });
  EXPECT_EQ(waiting.kill(SIGTERM), 128 + SIGTERM);
  until([&] { return granted() == 0; });
  Process killed{lease("-- sleep 1000")};
  until([&] { return granted() == 1; });
  EXPECT_EQ(killed.kill(SIGKILL), 128 + SIGKILL);
  until([&] { return granted() == 0; });
}

TEST_F(Tenants, RefuseWhatCannotBe) {
  expect_refused("lease --units 2", {"no command"});
  expect_refused("lease --units 0 -- true", {"--units 0", "at least 1"});
  expect_refused("lease true", {"put -- before the command"});
  expect_refused("lease --percent 101 -- true", {"--percent 101"});
  const Result missing = tool("lease -- there-is-no-such-command");
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.error, HasSubstr("command not found"));
  EXPECT_EQ(tool("lease -- /").status, 126);
  start_engine();
  expect_refused("lease --units 3 -- true", {"--units 3", "'night' has 2"});
  expect_refused("lease --sms 4 -- true", {"--sms 4", "CPU engine", "--units"});
  expect_refused("lease --name ../x -- true", {"../x"});
  expect_refused("throttle night 0", {"at least 1"});
  expect_refused("throttle night 5000", {"at most 4096"});
  for (const char* const nonsense : {"-1", "1e3", "two", "''", "99999999999999999999", "1 2"})
    expect_refused(std::string{"throttle night "} + nonsense, {});
  for (const char* const nonsense : {"../night", ".night", "'a b'", "'\x01'"})
    expect_refused(std::string{"throttle "} + nonsense + " 1", {"a name has 1 to 64"});
  EXPECT_EQ(tool("throttle day 1").status, 1);
  EXPECT_EQ(tool("top --once day").status, 1);
}

TEST_F(Tenants, RunAtOnceWithoutAnEngineAndTakeALeaseWhenOneComes) {
  const Result alone = tool("lease -- echo here");
  EXPECT_EQ(alone.status, 0);
  EXPECT_EQ(alone.out, "here\n");
  EXPECT_THAT(alone.error, HasSubstr("no engine is shared; echo starts without a lease"));
  EXPECT_THAT(tool("top --once").out, HasSubstr("no engine is shared"));

  Process waiting{lease("-- sleep 1000")};
  start_engine();
  until([&] { return granted() == 1; });
  until([&] { return cpus_of(waiting.id()).size() == 1; });
}

TEST_F(Tenants, UseTheCpusThatAreLentUntilTheEngineDies) {
  Process& engine = start_engine();
  const std::string file = in_folder("child");
  Process command{lease("-- sh -c 'sleep 1000 & echo $! > " + file + "; wait'")};
  until([&] { return !read(file).empty(); });
  const pid_t child = std::stoi(read(file));
  EXPECT_EQ(cpus_of(command.id()).size(), 1U);
  EXPECT_EQ(cpus_of(child).size(), 1U);
  EXPECT_EQ(tool("lease --units 2 -- true").status, 0) << "less than it wants, while there is less";

  engine.kill(SIGKILL);
  until([&] { return cpus_of(command.id()) == own_ && cpus_of(child) == own_; });
  start_engine();
  until([&] { return cpus_of(command.id()).size() == 1 && cpus_of(child).size() == 1; });
  EXPECT_EQ(command.kill(SIGKILL), 128 + SIGKILL);
  until([&] { return cpus_of(child) == own_; }) /* it has outlived its parent */;
  ::kill(child, SIGKILL);
}

TEST_F(Tenants, HaveNoKeeperOnceTheirIdBelongsToAnotherProcess) {
  const std::string another_start = "1";
  const auto keeper = tool("lease-keeper " + std::to_string(::getpid()) + " " + another_start +
                           " mark 3>/dev/null");
  EXPECT_EQ(keeper.status, 0);
}

TEST_F(Tenants, GiveBackWhatTheyDoNotUse) {
  start_engine();
  const std::string file = in_folder("go");
  Process command{lease("--hold 0.1 -- sh -c 'until [ -e " + file +
                        " ]; do sleep 0.5; done; while :; do :; done'")};
  until([&] { return granted() == 1; });
  until([&] { return granted() == 0; });
  std::ofstream{file} << "go";
  until([&] { return granted() == 1; });
}

TEST_F(Tenants, AreShownWithTheirEngine) {
  start_engine();
  Process command{lease("-- sleep 1000")};
  until([&] { return granted() == 1; });
  Result shown;
  until([&] {  // between two runs of the job, there is no job for a moment
    shown = tool("top night --once");
    return shown.out.find("  job ") != std::string::npos;
  });
  EXPECT_EQ(shown.status, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("night  cpu engine, 2 units"), HasSubstr("groups  "),
                               HasSubstr("job "), HasSubstr("tenant sleep  process")));
  EXPECT_THAT(shown.out, Not(HasSubstr("\033")));
  const std::string lines = in_folder("lines");
  Process live{"'" COHORT_TOOL_FILE "' top --json --interval 0.01 >'" + lines + "'"};
  until([&] { return std::ranges::count(read(lines), '\n') > 2; });
  EXPECT_EQ(live.kill(SIGINT), 128 + SIGINT);
  const std::string all = read(lines);
  EXPECT_EQ(json::parse(all.substr(0, all.find('\n')))["engines"][0]["engine"]["name"], "night");
}

TEST_F(Tenants, AreThrottledWithTheirEngineFromOutside) {
  start_engine();
  EXPECT_EQ(engines()[0]["engine"]["capacity"], 2);
  EXPECT_EQ(tool("throttle night 1").status, 0);
  EXPECT_EQ(engines()[0]["engine"]["capacity"], 1);
  until([&] { return engines()[0]["jobs"].size() == 1 && engines()[0]["jobs"][0]["groups"] == 1; });
  EXPECT_EQ(tool("throttle night 3").status, 0);
  until([&] { return engines()[0]["jobs"].size() == 1 && engines()[0]["jobs"][0]["groups"] > 1; });
}

/// The server's answer to these bytes, up to the end of the connection.
std::string asked(std::uint16_t port, const std::string& request) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    static_cast<void>(::send(socket, request.data(), request.size(), MSG_NOSIGNAL));
    char buffer[4096];
    for (ssize_t got = 0; (got = ::recv(socket, buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(socket);
  return answer;
}

TEST_F(Tenants, AreServedToPrometheusWhateverElseIsAsked) {
  start_engine();
  const std::string said = in_folder("said");
  Process server{"'" COHORT_TOOL_FILE "' top --prometheus 0 >'" + said + "'"};
  until([&] { return read(said).find("/metrics\n") != std::string::npos; });
  const std::string line = read(said);
  const auto port = static_cast<std::uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));

  EXPECT_THAT(asked(port, "POST /metrics HTTP/1.1\r\n\r\n"), HasSubstr("405 "));
  EXPECT_THAT(asked(port, "GET /../etc/passwd HTTP/1.1\r\n\r\n"), HasSubstr("404 "));
  EXPECT_THAT(asked(port, "GET /metrics\r\n\r\n"), HasSubstr("400 "));
  EXPECT_THAT(asked(port, std::string("\0\r\n \n\n", 7)), HasSubstr("400 "));
  EXPECT_THAT(asked(port, "\n\n"), HasSubstr("400 "));
  // The server closes the connection, perhaps before it has read everything.
  asked(port, std::string(100'000, 'x'));
  // The server closes the connection after a while.
  EXPECT_THAT(asked(port, "GET /met"), IsEmpty());
  std::string page;
  until([&] {  // between two runs of the job, there is no job for a moment
    page = asked(port, "GET /metrics?x HTTP/1.1\r\nHost: a\r\n\r\n");
    return page.find("cohort_job_groups{") != std::string::npos;
  });
  EXPECT_THAT(page, AllOf(HasSubstr("200 OK"), HasSubstr("version=0.0.4"),
                          HasSubstr("# TYPE cohort_engine_capacity gauge\n"
                                    "cohort_engine_capacity{engine=\"night\"} 2\n"),
                          HasSubstr("cohort_job_groups{engine=\"night\",job=\"")));
  EXPECT_EQ(server.kill(SIGTERM), 128 + SIGTERM);
}

}  // namespace
