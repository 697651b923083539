// Tests that run the tool as a program: its output, the files it writes, and its exit status.
#include "cli/tool.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cohort/tenant.hpp"

namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

namespace fs = std::filesystem;
using cohort::Tenant;
using cohort::tests::Result;
using cohort::tests::Tool;

TEST_F(Tool, TellsItsVersionAndCommit) {
  const Result result = cohort("--version");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, MatchesRegex("cohort [0-9]+\\.[0-9]+\\.[0-9]+ \\([0-9a-z-]+\\)\n"));
}

TEST_F(Tool, HelpsWithEachCommand) {
  for (const char* command : {"", "list", "run", "bench", "bench barrier", "bench gather",
                              "bench read", "bench overhead", "bench cpu", "demo"}) {
    const Result result = cohort(std::string{command} + " --help");
    EXPECT_EQ(result.status, 0) << command;
    EXPECT_THAT(result.out, HasSubstr("--help")) << command;
  }
  EXPECT_THAT(cohort("bench --help").out, Not(HasSubstr("openmp-barrier")));
  EXPECT_EQ(cohort("help").out, cohort("--help").out);
  EXPECT_EQ(cohort("help run").out, cohort("run --help").out);
  EXPECT_EQ(cohort("help bench barrier").out, cohort("bench barrier --help").out);
  expect_refused("help runn", {"did you mean 'run'?"});
}

TEST_F(Tool, PointsToTheHelpOfTheCommandThatWasMistyped) {
  expect_refused("runn bfs", {"did you mean 'run'?", "`cohort --help`"});
  expect_refused("bench bariers", {"did you mean 'barrier'?"});
  expect_refused("run bfs --input grid:5x5 --gruops 3",
                 {"did you mean '--groups'?", "`cohort run --help`"});
  EXPECT_THAT(refused("walk"), Not(HasSubstr("did you mean")));
  expect_refused("run", {"`cohort run --help`"});
  expect_refused("bench barrier --frobnicate", {"`cohort bench barrier --help`"});
}

TEST_F(Tool, ChecksOnlyDevicesThatThereAre) {
  expect_refused("opencl", {"`cohort opencl --help`"});
  expect_refused("opencl check --device none-of-that-name", {"opencl check: "});
}

TEST_F(Tool, ListsWhatThereIs) {
  const Result words = cohort("list");
  EXPECT_EQ(words.status, 0);
  EXPECT_THAT(words.out, AllOf(HasSubstr("bfs"), HasSubstr("cpu"), HasSubstr("barrier"),
                               HasSubstr("grid:<width>x<height>")));
  const json listed = json::parse(cohort("list --json").out);
  EXPECT_EQ(listed["apps"][0]["name"], "bfs");
  EXPECT_EQ(listed["engines"][0]["name"], "cpu");
  EXPECT_EQ(listed["engines"][0]["available"], true);
  EXPECT_EQ(listed["benchmarks"][0]["name"], "barrier");
  EXPECT_EQ(listed["benchmarks"][1]["name"], "gather");
  EXPECT_EQ(listed["benchmarks"][2]["name"], "read");
  EXPECT_EQ(listed["benchmarks"][3]["name"], "overhead");
  EXPECT_EQ(listed["benchmarks"][4]["name"], "cpu");
  EXPECT_EQ(listed["inputs"][0]["example"], "grid:1000x1000");
  for (const char* app : {"color", "mis", "p-sssp", "l-sssp", "cc", "octree", "game", "decode"})
    EXPECT_THAT(words.out, HasSubstr(app));
  EXPECT_THAT(words.out, HasSubstr("algorithm=one-barrier|paper"));
  for (const char* kind :
       {"rmat:", "road:", "geometric:", "star:", "path:", "complete:", "empty:", "<file>"})
    EXPECT_THAT(words.out, HasSubstr(kind));
}

TEST_F(Tool, RunsAndVerifiesAnAppWhileGroupsComeAndGo) {
  for (const std::string barrier : {"one-pass", "query", "plain", "modelled"}) {
    const std::string file = in_folder("run.json");
    std::string run = " -o solo=0 --groups 4 --capacity 4 --verify --check-trace";
    run.append(" --json ").append(file).append(" --barrier ").append(barrier);
    run.append(" --resize random:1 --input grid:10x");
    int joins = 0;
    int leaves = 0;
    // Repeats with longer runs: a short one may end too soon.
    for (int length = 30000; joins == 0 || leaves == 0; length *= 2) {
      const Result result = cohort("run bfs" + run + std::to_string(length));
      ASSERT_EQ(result.status, 0) << barrier << "\n" << result.out << result.error;
      EXPECT_THAT(result.out, HasSubstr("verified")) << barrier;
      const json report = json::parse(read(file));
      EXPECT_EQ(report["status"], "finished") << barrier;
      EXPECT_EQ(report["verified"], true) << barrier;
      EXPECT_THAT(result.out, HasSubstr("legal: ")) << barrier;
      EXPECT_EQ(report["trace"]["legal"], true) << barrier;
      EXPECT_GT(report["trace"]["events"], 1000) << barrier;
      EXPECT_EQ(report["barrier"], barrier);
      joins = report["joins"];
      leaves = report["leaves"];
    }
  }
}

TEST_F(Tool, RunsAndVerifiesEveryApp) {
  for (const char* run :
       {"color --input grid:60x50 -o priority=id", "mis --input road:3000 -o algorithm=paper",
        "p-sssp --input road:2000", "l-sssp --input rmat:9", "cc --input geometric:3000 -o chunk=9",
        "bfs --input rmat:9 -o algorithm=paper -o source=5", "octree --input particles:3000",
        "game --input connect4:4 -o grain=0 -o pools=mutex -o kill=any",
        "decode --input llama:tiny -o batch=3 -o requests=7 -o tokens=9 -o stop=5"}) {
    const std::string file = in_folder("run.json");
    const Result result =
        cohort(std::string{"run "} + run +
               " --groups 3 --capacity 3 --resize random:3 --verify --json " + file);
    ASSERT_EQ(result.status, 0) << run << "\n" << result.out << result.error;
    const json report = json::parse(read(file));
    EXPECT_EQ(report["verified"], true) << run;
    EXPECT_GT(report["result"].size(), 0U) << run;
  }
}

TEST_F(Tool, RefusesOptionsThatAnAppDoesNotHave) {
  expect_refused("run bfs --input grid:5x5 -o depth=3", {"'depth=3'", "algorithm"});
  expect_refused("run bfs --input grid:5x5 -o algorithm=best",
                 {"'algorithm=best'", "one-barrier, paper"});
  expect_refused("run bfs --input grid:5x5 -o algorithm", {"KEY=VALUE"});
  expect_refused("run bfs --input grid:5x5 -o chunk=1 -o chunk=2", {"twice"});
  expect_refused("run bfs --input grid:5x5 -o chunk=some", {"whole number"});
  expect_refused("run bfs --input grid:5x5 -o source=25", {"no node 25"});
  expect_refused("run mis --input grid:5x5 --barrier query", {"one-pass"});
  expect_refused("run octree --input grid:5x5", {"particles:"});
  expect_refused("run game --input connect4:0", {"connect4:"});
  expect_refused("run decode --input grid:5x5", {"llama:"});
  expect_refused("run decode --input llama:3b", {"tiny, 100m, 1b, 8b"});
  expect_refused("run decode --input llama:tiny -o batch=9", {"'batch=9'", "from 1 to 8"});
}

TEST_F(Tool, WritesAReportOfTheRun) {
  const std::string file = in_folder("run.json");
  ASSERT_EQ(cohort("run bfs --input grid:50x40 --groups 3 --local-size 4 --json " + file).status,
            0);
  const json report = json::parse(read(file));
  EXPECT_EQ(report["app"], "bfs");
  EXPECT_EQ(report["input"], "grid:50x40");
  EXPECT_EQ(report["engine"], "cpu");
  EXPECT_EQ(report["groups"], 3);
  EXPECT_EQ(report["local_size"], 4);
  EXPECT_EQ(report["verified"], nullptr) << "not asked for";
  EXPECT_EQ(report["trace"], nullptr) << "not asked for";
  EXPECT_GT(report["run_time_ns"], 0);
  for (const char* summary : {"gather", "offers"}) {
    for (const char* number : {"count", "p50", "p99", "max"})
      EXPECT_TRUE(report[summary][number].is_number_unsigned()) << summary << " " << number;
  }
  EXPECT_GT(report["sizes"].size(), 0U);
  EXPECT_GE(report["machine"]["usable_cpus"], 1);
  EXPECT_TRUE(report["commit"].is_string());
  EXPECT_TRUE(report["version"].is_string());
}

TEST_F(Tool, RunsAnAppSeveralTimesOnOneEngine) {
  const auto [result, report] =
      recorded("run bfs --input grid:50x40 --groups 2 --repeat 3 --verify");
  EXPECT_THAT(result.out, AllOf(HasSubstr("last run: finished in"), HasSubstr("3 runs: cold "),
                                HasSubstr("million edges/s"), HasSubstr("verified")));
  ASSERT_EQ(report["runs"].size(), 3U);
  for (const json& run : report["runs"]) {
    EXPECT_GT(run["run_time_ns"], 0);
    EXPECT_EQ(run["verified"], true);
  }
  EXPECT_EQ(report["run_time_ns"], report["runs"][2]["run_time_ns"]);
  EXPECT_EQ(report["times"]["cold_ns"], report["runs"][0]["run_time_ns"]);
  EXPECT_GE(report["times"]["warm_p75_ns"], report["times"]["warm_p25_ns"]);
  EXPECT_NEAR(
      report["times"]["edges_per_s"].get<double>() * report["times"]["warm_p50_ns"].get<double>(),
      7820e9, 1e6);
}

TEST_F(Tool, DoesNotCallATraceLegalThatItHasOnlySeenTheBeginningOf) {
  const std::string file = in_folder("run.json");
  const Result result =
      cohort("run bfs --input grid:50x40 --groups 2 --check-trace --trace-limit 3 --json " + file);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("NOT JUDGED: "));
  EXPECT_THAT(result.out, HasSubstr("--trace-limit"));
  const json report = json::parse(read(file));
  EXPECT_EQ(report["trace"]["legal"], nullptr);
  EXPECT_EQ(report["trace"]["events"], 3);
}

TEST_F(Tool, RunsWithCooperationCompiledOut) {
  const auto [result, report] =
      recorded("run bfs --input grid:50x40 --capacity 2 --static --verify --check-trace");

  EXPECT_EQ(report["static"], true);
  EXPECT_EQ(report["trace"]["legal"], true);
  EXPECT_EQ(report["verified"], true);
  EXPECT_EQ(report["joins"], 0);
}

TEST_F(Tool, WritesABfsDownAndGoesOnWithOtherGroups) {
  const std::string file = in_folder("bfs.checkpoint");
  // The job must be long enough to be suspended, but not longer: on a busy machine each level takes
  // milliseconds.
  std::string bfs;
  Result first;
  for (int length = 1000; length <= 1'000'000; length *= 10) {
    bfs = "run bfs --input grid:10x" + std::to_string(length) + " -o solo=0 --capacity 4 ";
    first = cohort(bfs + "--groups 4 --suspend-after 1 --checkpoint " + file);
    ASSERT_EQ(first.status, 0) << first.error;
    if (first.out.find("suspended in") != std::string::npos) break;
  }
  ASSERT_THAT(first.out, AllOf(HasSubstr("suspended in"), HasSubstr("checkpoint in " + file)));
  const Result rest = cohort(bfs + "--groups 2 --verify --restore " + file);
  EXPECT_EQ(rest.status, 0) << rest.error;
  EXPECT_THAT(rest.out, AllOf(HasSubstr("finished in"), HasSubstr("verified")));
  expect_refused("run mis --input grid:10x10 --restore " + file, {"of the kernel"});
  expect_refused("run mis --input grid:10x10 -o algorithm=paper --restore " + file,
                 {"the paper's algorithm has no checkpoints"});
  expect_refused("run bfs --static --input grid:10x10 --checkpoint " + file, {"--static"});
}

TEST_F(Tool, GoesOnFromTheLastCheckpointOfAKilledRun) {
  const std::string file = in_folder("bfs.checkpoint");
  std::string bfs = "run bfs --input grid:10x200000 -o solo=0 --capacity 2 --verify --every ";
  const std::string rarely = bfs + "100 --checkpoint " + file;
  bfs += "0.01 --checkpoint " + file;
  const Result killed = signalled(bfs, SIGKILL, [&file](pid_t) { return fs::exists(file); });
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  ASSERT_TRUE(fs::exists(file));
  const std::string kept = read(file);
  EXPECT_THAT(refused(bfs + " -o source=1"), HasSubstr("-o source=1"));
  EXPECT_EQ(read(file), kept) << "of another run";

  const auto written = fs::last_write_time(file);
  const Result ended =
      signalled(bfs, SIGTERM, [&](pid_t) { return fs::last_write_time(file) != written; });
  EXPECT_EQ(ended.status, 128 + SIGTERM);
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("suspended in"), HasSubstr("give the same command again")));
  const Result rest = cohort(rarely);
  EXPECT_EQ(rest.status, 0) << rest.error;
  EXPECT_THAT(rest.out, AllOf(HasSubstr("finished in"), HasSubstr("continued from " + file),
                              HasSubstr("verified")));
  EXPECT_FALSE(fs::exists(file)) << "once the run has finished";
  EXPECT_FALSE(fs::exists(file + ".part0"));
  expect_refused("run bfs --input grid:9x9 --every 1", {"--every requires --checkpoint"});
  expect_refused(bfs + " --suspend-after 3", {"--suspend-after"});
}

// Short steps make small inputs last long, and one group waits for no other at its barriers. A run
// that still ends before its first checkpoint is repeated with more input.
TEST_F(Tool, GoesOnFromTheLastCheckpointOfEveryApp) {
  struct App {
    std::string name;
    std::string input;
    int size;
    int factor;
    std::string options = {};
  };
  const std::string short_steps = " -o chunk=1";
  const std::vector<App> apps{
      {"color", "grid:100x", 2000, 4, short_steps}, {"mis", "grid:100x", 2000, 4, short_steps},
      {"p-sssp", "grid:30x", 300, 4, short_steps},  {"l-sssp", "grid:100x", 2000, 4, short_steps},
      {"cc", "grid:100x", 2000, 4, short_steps},    {"pagerank", "grid:30x", 300, 4, short_steps},
      {"octree", "particles:", 300'000, 4},         {"game", "connect4:", 7, 1}};
  const std::string file = in_folder("app.checkpoint");
  for (const App& app : apps) {
    std::string run;
    for (int size = app.size; !fs::exists(file);
         size = app.factor == 1 ? size + 1 : size * app.factor) {
      run = "run " + app.name + " --input " + app.input + std::to_string(size) + app.options +
            " --capacity 1 --checkpoint " + file + " --every ";
      static_cast<void>(signalled(
          run + "0.001", SIGKILL, [&file](pid_t) { return fs::exists(file); }, true));
    }
    const Result rest = cohort(run + "100 --verify");
    EXPECT_EQ(rest.status, 0) << rest.error;
    EXPECT_THAT(rest.out, AllOf(HasSubstr("finished in"), HasSubstr("continued from " + file),
                                HasSubstr("verified")));
    ASSERT_FALSE(fs::exists(file)) << app.name;
  }
}

TEST_F(Tool, AnswersUnknownNamesWithThoseThereAre) {
  expect_refused("run dfs --input grid:5x5", {"'dfs'", "bfs"});
  expect_refused("run bfs --input grid:5x5 --engine gpu", {"'gpu'", "cpu"});
  expect_refused("run bfs --input tree:5", {"'tree:5'", "grid:"});
  expect_refused("run bfs --input grid:5x5 --barrier round",
                 {"'round'", "one-pass, query, plain, modelled"});
  expect_refused("bench nothing", {"nothing"});
  expect_refused("walk", {"walk"});
}

TEST_F(Tool, RefusesNumbersOutOfRangeBeforeItAllocatesAnything) {
  for (const char* engine : {"", "--engine cpu "}) {
    const std::string run = std::string{"run bfs --input grid:10x10 "} + engine;
    expect_refused(run + "--groups 1000000", {"--groups 1000000: at most 4096"});
    expect_refused(run + "--groups -1", {"--groups -1: at least 1"});
    expect_refused(run + "--groups many", {"--groups 'many': not a whole number"});
    expect_refused(run + "--groups 99999999999999999999", {"at most 4096"});
    expect_refused(run + "--capacity 1000000", {"--capacity 1000000: at most 4096"});
    expect_refused(run + "--local-size 0", {"--local-size 0: at least 1"});
    expect_refused(run + "--repeat 0", {"--repeat 0: at least 1"});
    expect_refused(run + "--check-trace --trace-limit 0", {"--trace-limit 0"});
  }
  expect_refused("run bfs --input grid:1000000x1000000", {"nodes"});
  expect_refused("run bfs --input complete:4000000000", {"this machine has"});
  expect_refused("check bfs --schedules 0", {"--schedules 0: at least 1\n"});
  expect_refused("check bfs --seed -1", {"--seed -1: at least 0"});
  expect_refused("check bfs --groups 16", {"--groups 16: at most 15"});
  expect_refused("bench barrier --reps -1", {"--reps -1: at least 1"});
  expect_refused("bench gather --capacity 5000", {"--capacity 5000: at most 4096"});
  expect_refused("bench multitask --time-limit 1e300", {"--time-limit 1e300"});
}

TEST_F(Tool, RefusesOptionsThatItWouldIgnore) {
  expect_refused("run bfs --input grid:5x5 --task-groups 99", {"--task"});
  expect_refused("run bfs --input grid:5x5 --task none --task-groups 99",
                 {"--task-groups needs --task light, medium or heavy; drop it\n"});
  expect_refused("run bfs --input grid:5x5 --trace-limit 9", {"--check-trace"});
  expect_refused("run bfs --input grid:5x5 --arg n=3", {"--arg is for a kernel"});
  expect_refused("run bfs --input grid:5x5 --device 0", {"--device"});
  expect_refused("run bfs --input grid:5x5 --repeat 2 --trace t.json", {"--trace"});
  expect_refused("run k.cl --input grid:5x5", {"--input is for apps"});
  expect_refused("run k.cl --verify", {"--verify is for apps"});
  expect_refused("check bfs --seed 3 --replay a", {"--replay"});
  expect_refused("run bfs --engine mpi --share", {"--share does not work with --engine mpi"});
  expect_refused("run bfs --input grid:5x5 --share=a/b", {"'a/b': a name has 1 to 64 letters"});
}

TEST_F(Tool, LendsWorkersWhileItRuns) {
  ::setenv("XDG_RUNTIME_DIR", in_folder("").c_str(), 1);
  std::filesystem::permissions(in_folder(""), std::filesystem::perms{0700});
  const Tenant tenant{{.engine = "shared"}};
  Result result;
  std::jthread run{[&] {
    result =
        cohort("run bfs --input grid:200x200 --capacity 3 --repeat 500 --verify --share=shared");
  }};
  ASSERT_TRUE(tenant.wait_connected(std::chrono::minutes{1}));
  std::uint32_t leases = 0;
  while (tenant.connected()) leases += tenant.lease({.units = 2}).units() != 0 ? 1 : 0;
  run.join();
  EXPECT_GT(leases, 0U);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_THAT(result.out, AllOf(HasSubstr("shared as shared\n"), HasSubstr("verified")));
  EXPECT_THAT(cohort("run bfs --input grid:5x5 --share").out, HasSubstr("shared as pid"));
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(Tool, SaysWhatIsWrongWithAnInput) {
  expect_refused("run bfs --input " + in_folder(""), {"a folder"});
  expect_refused("run bfs --input particles:100", {"runs on a graph", "octree"});
  expect_refused("run mis --input connect4:5", {"runs on a graph"});
  expect_refused("run bfs --input llama:1b", {"runs on a graph", "decode"});
}

TEST_F(Tool, RefusesBadInputInOneLineThatNamesIt) {
  expect_refused("", {"list, run, bench, report, demo"});
  expect_refused("bench", {"scenario"});
  expect_refused("run", {"app"});
  expect_refused("run bfs", {"--input"});
  expect_refused("run bfs --input grid:5", {"grid:5"});
  expect_refused("run bfs --input grid:5x5 --local-size 1025", {"1025"});
  expect_refused("run bfs --input grid:5x5 --static --groups 3 --capacity 2", {"static"});
  expect_refused("run bfs --input grid:5x5 --resize random", {"random:SEED"});
  expect_refused("run bfs --input grid:5x5 --resize random:x", {"'random:x'"});
  expect_refused("run bfs --input grid:5x5 --static --resize random:1", {"--static"});
  expect_refused("run bfs --input grid:5x5 --frobnicate", {"--frobnicate"});
  expect_refused("demo --seconds 0", {"--seconds"});
  expect_refused("demo --seconds soon", {"--seconds"});
}

TEST_F(Tool, RunsOnAFileAndNamesTheLineThatIsWrong) {
  const std::string file = in_folder("small.el");
  std::ofstream{file} << "0 1\n1 2\n";
  const Result result = cohort("run bfs --verify --input " + file);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_THAT(result.out, AllOf(HasSubstr("3 nodes, 2 edges"), HasSubstr("verified")));
  std::ofstream{file} << "0 1\n1 two\n";
  expect_refused("run bfs --input " + file, {file + ":2: 'two'"});
  expect_refused("run bfs --input " + in_folder("none.el"), {"none.el"});
}

TEST_F(Tool, RefusesAFileItCannotWriteBeforeItRuns) {
  const std::string file = in_folder("missing/run.json");
  expect_refused("run bfs --input grid:5x5 --json " + file, {file});
  expect_refused("bench barrier --quick --json " + file, {file});
  expect_refused("demo --json " + file, {file});
}

/// Whether a thread other than the main one has used CPU time, that is, a worker that runs a group.
bool has_busy_worker(pid_t process) {
  const std::string threads = "/proc/" + std::to_string(process) + "/task";
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator{threads, gone}) {
    if (thread.path().filename() == std::to_string(process)) continue;
    std::ifstream file{thread.path() / "stat"};
    std::string line;
    std::getline(file, line);
    std::istringstream fields{line.substr(std::min(line.size(), line.rfind(')') + 1))};
    std::string field;
    for (int i = 3; i < 14; ++i) fields >> field;  // see proc(5): utime is field 14
    unsigned long ticks = 0;
    if (fields >> ticks && ticks > 5) return true;
  }
  return false;
}

TEST_F(Tool, EndsCleanlyWhenInterrupted) {
  const std::string file = in_folder("run.json");
  const Result result =
      signalled("run bfs --input grid:1x3000000 --local-size 64 --verify --json " + file, SIGINT,
                has_busy_worker);
  EXPECT_EQ(result.status, 130);
  EXPECT_THAT(result.out, HasSubstr("cancelled"));
  const json report = json::parse(read(file));
  EXPECT_EQ(report["status"], "cancelled");
  EXPECT_EQ(report["verified"], nullptr);
}

TEST_F(Tool, EndsAtOnceWhenTerminatedOutsideOfAJob) {
  const std::string pipe = in_folder("pipe.el");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // `timeout` sends one signal here. Its SIGKILL would come much later and lead to another status.
  const std::string terminated = "timeout --foreground --preserve-status --kill-after=60 1";
  EXPECT_EQ(cohort("run bfs --input " + pipe, terminated).status, 143) << "no program writes to it";
  const std::string writer = "sleep 100 >" + pipe + " & writer=$!; ";
  EXPECT_EQ(cohort("run bfs --input " + pipe + "; s=$?; kill $writer; exit $s", writer + terminated)
                .status,
            143)
      << "it is opened, and nothing comes";
  EXPECT_EQ(cohort("check bfs --schedules 100000000000", terminated).status, 143);
}

TEST_F(Tool, MeasuresBarriersSideBySide) {
  const std::string folder = in_folder("made/on/demand");
  const Result result = cohort("bench barrier --quick --reps 2 --out " + folder);
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_THAT(result.error, IsEmpty()) << "progress is for terminals";
  const json record = json::parse(read(folder + "/barrier.json"));
  EXPECT_EQ(record["scenario"], "barrier");
  EXPECT_EQ(record["repetitions"], 2);
  EXPECT_TRUE(record["machine"]["cpu"].is_string());
  EXPECT_TRUE(record["commit"].is_string());
  EXPECT_TRUE(record["openmp_wait_policy"].is_string());
  ASSERT_EQ(record["measurements"].size(), 3U);
  for (const json& measurement : record["measurements"]) {
    EXPECT_TRUE(measurement["baseline"].is_string());
    for (const json& contender : measurement["contenders"]) {
      EXPECT_EQ(contender["samples"].size(), 2U);
      EXPECT_GT(contender["p50"], 0);
      EXPECT_GE(contender["p99"], contender["p50"]);
      EXPECT_GT(contender["ratio"], 0);
      EXPECT_THAT(result.out, HasSubstr(contender["name"].get<std::string>()));
    }
  }
}

TEST_F(Tool, MeasuresGatherTimesSideBySide) {
  const auto [result, record] = recorded("bench gather --quick --reps 1");

  EXPECT_EQ(record["scenario"], "gather");
  ASSERT_EQ(record["gather"].size(), 8U) << "2 demands, 2 lengths of tasks, alike or one long";
  for (const json& measurement : record["gather"]) {
    EXPECT_GT(measurement["limit_ns"], measurement["task_ns"]);
    EXPECT_TRUE(measurement["any_within_limit"].is_boolean());
    ASSERT_EQ(measurement["contenders"].size(), 5U);
    for (const json& contender : measurement["contenders"]) {
      EXPECT_EQ(contender["samples"][0].size(), 3U);
      EXPECT_GT(contender["p50"], 0) << contender["name"];
      EXPECT_THAT(result.out, HasSubstr(contender["name"].get<std::string>()));
    }
  }
  ASSERT_EQ(record["barrier_kernel"].size(), 2U);
  for (const json& measurement : record["barrier_kernel"]) {
    EXPECT_EQ(measurement["baseline"], "alone");
    EXPECT_EQ(measurement["contenders"].size(), 3U);
    for (const char* sharing : {"kill", "yield"})
      EXPECT_EQ(measurement["tasks"][sharing]["done_ns"].size(), 3U) << sharing;
  }
}

TEST_F(Tool, ExploresAnAppUnderManySchedules) {
  const Result result = cohort("check bfs --schedules 200 --seed 5");
  ASSERT_EQ(result.status, 0) << result.out << result.error;
  EXPECT_THAT(result.out, AllOf(HasSubstr("bfs"), HasSubstr("200 schedules, nothing wrong")));
  EXPECT_EQ(cohort("check bfs --schedules 20 --verbose").status, 0);
  EXPECT_EQ(cohort("check bfs --search pct --weak --local-size 2 --schedules 50").status, 0);
  for (const auto& app : json::parse(cohort("list --json").out)["apps"]) {
    const Result small = cohort("check " + app["name"].get<std::string>() + " --schedules 20");
    EXPECT_EQ(small.status, 0) << small.out << small.error;
  }
  EXPECT_EQ(cohort("check nothing").status, 2);
  EXPECT_EQ(cohort("check bfs --search chance").status, 2);
  EXPECT_EQ(cohort("check bfs --replay x!").status, 2);
  EXPECT_EQ(cohort("check bfs --groups 15 --local-size 15").status, 2);
}

TEST_F(Tool, MeasuresReadingByFormat) {
  const auto [result, record] = recorded("bench read --quick --reps 1", "COHORT_DATA=");

  ASSERT_EQ(record["text"].size(), 9U);
  for (const json& each : record["text"]) {
    EXPECT_GT(each["mb_per_s"], 0) << each["name"];
    EXPECT_THAT(result.out, HasSubstr(each["name"].get<std::string>()));
  }
  ASSERT_GE(record["compressed"].size(), 1U);
  for (const auto& each : record["compressed"]) {
    EXPECT_EQ(each["contenders"].size(), 5U);
    EXPECT_GT(each["limit_ns"], 0);
    EXPECT_GT(each["parse_mb_per_s"], 0);
    EXPECT_TRUE(each["within_limit"].is_boolean());
  }
}

TEST_F(Tool, MeasuresSubmitsBehindOthersAndDuringACheckpoint) {
  const std::string file = in_folder("queue.json");
  const Result result = cohort("bench queue --quick --reps 1 --json " + file);
  ASSERT_EQ(result.status, 0) << result.error;
  const json summary = json::parse(read(file))["summary"];
  EXPECT_GT(summary["few_ns"], 0);
  EXPECT_GT(summary["many_ns"], summary["few_ns"]);
  EXPECT_GT(summary["ratio"], 0);
  EXPECT_GE(summary["delay_max_ns"], summary["delay_p50_ns"]);
  EXPECT_THAT(result.out, HasSubstr("during a checkpoint of 16 MiB"));
}

TEST_F(Tool, MeasuresTheOverheadOfBeingResizable) {
  const std::string folder = in_folder("bench");
  const Result result = cohort("bench overhead --quick --reps 1 --out " + folder);
  ASSERT_EQ(result.status, 0) << result.error;
  const json record = json::parse(read(folder + "/overhead.json"));
  const json& summary = record["summary"];
  EXPECT_GT(summary["geomean"], 0);
  EXPECT_GE(summary["max"], summary["geomean"]);
  for (const char* kind : {"barrier", "work_stealing", "paper_algorithms"}) {
    EXPECT_GT(summary[kind], 0) << kind;
    EXPECT_TRUE(summary["culprits"][kind].is_string()) << kind;
  }
  EXPECT_EQ(record["measurements"].size(), 22U) << "11 pairs, 2 algorithms";
}

TEST_F(Tool, MeasuresGraphAppsBesideOpenMp) {
  const auto [result, record] = recorded("bench cpu --quick --reps 1");

  EXPECT_EQ(record["measurements"].size(), 9U);
  for (const auto& [name, speed] : record["summary"]["times_openmp"].items())
    EXPECT_GT(speed["paper"], 0) << name;
}

TEST_F(Tool, DemonstratesSharingAndVerifiesIt) {
  const auto [result, report] = recorded("demo --seconds 2");
  EXPECT_THAT(result.error, IsEmpty()) << "progress is for terminals";
  EXPECT_THAT(result.out, AllOf(HasSubstr("slowdown"), HasSubstr("on time"), HasSubstr("gather"),
                                HasSubstr("verified"), Not(HasSubstr("WRONG"))));
  EXPECT_EQ(report["verified"], true);
  for (const char* phase : {"alone", "with_frames"}) {
    EXPECT_GT(report[phase]["traversals"], 0) << phase;
    EXPECT_EQ(report[phase]["wrong"], 0) << phase;
  }
  EXPECT_GT(report["frames"]["count"], 0);
  EXPECT_EQ(report["frames"]["wrong"], 0);
  EXPECT_EQ(report["frames"]["gather"]["count"], report["frames"]["count"]);
  EXPECT_GE(report["ideal_slowdown"], 1);
  EXPECT_TRUE(report["commit"].is_string());
}

}  // namespace
