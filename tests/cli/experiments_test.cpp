// Traces, experiments and reports, tested by running the tool: the files that it writes, and the
// files that a failed run leaves behind.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/tool.hpp"

namespace {

namespace fs = std::filesystem;
using cohort::tests::Result;
using cohort::tests::Tool;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

/// Checks the fields that the Trace Event Format requires for each kind of event that cohort
/// writes.
void expect_valid(const json& trace) {
  ASSERT_TRUE(trace.is_object());
  ASSERT_TRUE(trace["traceEvents"].is_array());
  EXPECT_THAT((std::vector<std::string>{"ms", "ns"}), Contains(trace["displayTimeUnit"]));
  std::map<json, json> open;  // indexed by id: open asynchronous events
  std::map<int, std::vector<std::pair<double, double>>> slices;  // indexed by lane
  for (const json& event : trace["traceEvents"]) {
    SCOPED_TRACE(event.dump());
    ASSERT_TRUE(event["name"].is_string());
    ASSERT_TRUE(event["pid"].is_number_integer());
    ASSERT_TRUE(event["ts"].is_number() && event["ts"].get<double>() >= 0);
    ASSERT_TRUE(event["args"].is_object());
    const std::string phase = event["ph"];
    if (phase != "C") {
      ASSERT_TRUE(event["tid"].is_number_integer());
    }
    if (phase == "X") {
      ASSERT_TRUE(event["cat"].is_string());
      ASSERT_TRUE(event["dur"].is_number() && event["dur"].get<double>() >= 0);
      slices[event["tid"]].emplace_back(event["ts"],
                                        event["ts"].get<double>() + event["dur"].get<double>());
    } else if (phase == "i") {
      EXPECT_THAT((std::vector<std::string>{"g", "p", "t"}), Contains(event["s"]));
    } else if (phase == "C") {
      for (const json& value : event["args"]) EXPECT_TRUE(value.is_number());
    } else if (phase == "b") {
      EXPECT_TRUE(open.emplace(event["id"], event).second);
    } else if (phase == "e") {
      ASSERT_TRUE(open.contains(event["id"]));
      EXPECT_EQ(open[event["id"]]["cat"], event["cat"]);
      EXPECT_EQ(open[event["id"]]["name"], event["name"]);
      EXPECT_LE(open[event["id"]]["ts"], event["ts"]);
      open.erase(event["id"]);
    } else if (phase == "M") {
      EXPECT_THAT((std::vector<std::string>{"process_name", "thread_name", "thread_sort_index"}),
                  Contains(event["name"]));
    } else {
      ADD_FAILURE() << "a phase that the format does not have, or that we do not write";
    }
  }
  EXPECT_THAT(open, IsEmpty()) << "what begins ends";
  for (auto& [lane, all] : slices) {  // slices of a lane must nest
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> ends;
    for (const auto& [begin, end] : all) {
      constexpr double rounding = 0.01;
      while (!ends.empty() && ends.back() <= begin + rounding) ends.pop_back();
      if (!ends.empty()) {
        EXPECT_LE(end, ends.back() + rounding) << "lane " << lane << " at " << begin;
      }
      ends.push_back(end);
    }
  }
}

std::size_t count(const json& trace, const std::string& phase, const std::string& category) {
  std::size_t result = 0;
  for (const json& event : trace["traceEvents"])
    result += event["ph"] == phase && event.value("cat", "") == category ? 1 : 0;
  return result;
}

TEST_F(Tool, WritesATraceThatPerfettoOpens) {
  const std::string file = in_folder("trace.json");
  json trace;
  int length = 4000;
  do {  // retries with a longer run until a task has run before the end
    const Result result = cohort("run bfs --input grid:4x" + std::to_string(length) +
                                 " -o solo=0 --capacity 4 --task medium --task-groups half "
                                 "--verify --trace " +
                                 file);
    ASSERT_EQ(result.status, 0) << result.out << result.error;
    EXPECT_THAT(result.out, Not(HasSubstr("gather time"))) << "the tasks' line says it";
    EXPECT_THAT(result.out, AllOf(HasSubstr("medium tasks on 2 groups"), HasSubstr("all right"),
                                  HasSubstr("verified"), HasSubstr(file)));
    trace = json::parse(read(file));
    expect_valid(trace);
    length *= 2;
  } while (count(trace, "i", "kill") < 2 && !HasFailure());
  EXPECT_GE(count(trace, "X", "job"), 4U) << "a slice for each stay of a group";
  EXPECT_GE(count(trace, "X", "task"), 2U);
  EXPECT_GT(count(trace, "X", "barrier"), 0U);
  EXPECT_GE(count(trace, "i", "kill"), 2U) << "groups leave for the task";
  EXPECT_GT(count(trace, "i", "resize"), 0U);
  EXPECT_GE(count(trace, "b", "gather"), 1U);
  EXPECT_EQ(trace["otherData"]["dropped_events"], 0);
}

TEST_F(Tool, TracesKillsAndForksOfWorkStealing) {
  const std::string file = in_folder("trace.json");
  json trace;
  int particles = 200000;
  do {  // retries with more work until a task has run before the end
    const Result result = cohort("run octree --input particles:" + std::to_string(particles) +
                                 " --capacity 4 --task medium --task-groups half --trace " + file);
    ASSERT_EQ(result.status, 0) << result.out << result.error;
    trace = json::parse(read(file));
    expect_valid(trace);
    particles *= 2;
  } while (count(trace, "i", "kill") < 1 && !HasFailure());
}

TEST_F(Tool, RunsTasksBesideAnAppAndChecksThem) {
  const std::string file = in_folder("run.json");
  json tasks;
  int length = 4000;
  do {  // retries with a longer run until a task has run before the end
    const Result result =
        cohort("run bfs --input grid:4x" + std::to_string(length) +
               " -o solo=0 --capacity 3 --task light --task-groups all --json " + file);
    ASSERT_EQ(result.status, 0) << result.out << result.error;
    tasks = json::parse(read(file))["tasks"];
    EXPECT_EQ(tasks["class"], "light");
    EXPECT_EQ(tasks["groups"], 3) << "suspends the app meanwhile";
    EXPECT_EQ(tasks["wrong"], 0);
    length *= 2;
  } while (tasks["served"].empty() && !HasFailure());
}

TEST_F(Tool, RefusesTasksAndTracesThatCannotBe) {
  const std::string run = "run bfs --input grid:5x5 --capacity 2 ";
  expect_refused(run + "--task brutal", {"light, medium, heavy"});
  expect_refused(run + "--task light --task-groups 3", {"1 to 2"});
  expect_refused(run + "--task light --task-groups most", {"all-but-one"});
  expect_refused(run + "--task light --resize random:1", {"--resize"});
  expect_refused(run + "--trace " + in_folder("missing/t.json"), {"missing/t.json"});
  expect_refused("run bfs --input " + in_folder("missing.gr"), {"missing.gr"});
  expect_refused(run + "--engine cuda5", {"cuda5"});
}

TEST_F(Tool, SaysInOneLineThatThereIsNoGpu) {
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is one";
  expect_refused("bench barrier --engine cuda --quick --reps 1", {"cuda"});
  expect_refused("run bfs --input grid:5x5 --engine cuda", {"cuda"});
  for (const json& engine : json::parse(cohort("list --json").out)["engines"]) {
    if (engine["name"] != "cuda") continue;
    EXPECT_EQ(engine["available"], false);
    EXPECT_THAT(engine["unavailable"].get<std::string>(), StartsWith("no NVIDIA "));
    EXPECT_THAT(cohort("list").out, HasSubstr("; unavailable: no NVIDIA "));
    expect_refused("bench lease --quick", {"--engine cuda: no NVIDIA "});
    expect_refused("run bfs --input grid:5x5 --engine cuda", {"--engine cuda: no NVIDIA "});
  }
}

TEST_F(Tool, SaysInOneLineThatADiskIsFull) {
  const Result full = cohort("list > /dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.error, MatchesRegex("cohort: [^\n]*standard output[^\n]*\n"));
  expect_refused("list --json > /dev/full", {"standard output"});
  EXPECT_THAT(cohort("run bfs --input grid:5x5 --json /dev/full").error,
              MatchesRegex("cohort: [^\n]*/dev/full[^\n]*\n"));
  EXPECT_TRUE(fs::is_character_file("/dev/full")) << "not replaced";
  const std::string file = in_folder("trace.json");
  const Result limited = cohort("run bfs --input grid:4x30000 --trace " + file, "ulimit -f 8;");
  EXPECT_EQ(limited.status, 2) << limited.error;
  EXPECT_THAT(limited.error, MatchesRegex("cohort: [^\n]*trace.json[^\n]*\n"));
  EXPECT_FALSE(fs::exists(file)) << "no half of a file";
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST_F(Tool, KeepsItsSamplesWhenTheDiskIsFull) {
  const std::string folder = in_folder("results");
  const std::string samples = folder + "/multitask.jsonl";
  const std::string game = "bench preemption --quick --only game --capacity 8 --out " + folder;
  fs::create_directories(folder);
  std::ofstream{folder + "/timeline.trace.json"} << "{}";  // creating a new file would fail first
  const Result full = cohort(game, "ulimit -f 8;");        // ulimit counts blocks of 512 bytes
  EXPECT_EQ(full.status, 2) << full.out;
  EXPECT_THAT(full.error, MatchesRegex("cohort: [^\n]*multitask.jsonl[^\n]*\n"));
  const std::string first = read(samples);
  EXPECT_GE(lines_of(first).size(), 2U) << "whole samples, as many as there was room for";
  ASSERT_EQ(cohort(game).status, 0) << "with room again it goes on";
  EXPECT_THAT(read(samples), AllOf(StartsWith(first), HasSubstr("heavy | all | 0")));
}

/// The experiment that these tests interrupt: five shares and a baseline for each of three classes,
/// three times.
const std::string experiment =
    "bench preemption --quick --reps 3 --only 'bfs USA-road' --capacity 8 --out ";
const std::string another =
    "bench preemption --quick --reps 3 --only 'bfs USA-road' --capacity 9 --out ";

TEST_F(Tool, GoesOnAfterAnInterruptionWithoutLosingASample) {
  const std::string folder = in_folder("results");
  const std::string samples = folder + "/multitask.jsonl";
  const auto has_more_than = [&](std::size_t lines) {
    return [&samples, lines](pid_t /*process*/) {
      const std::string text = read(samples);
      return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) > lines;
    };
  };
  const Result interrupted = signalled(experiment + folder, SIGINT, has_more_than(1));
  EXPECT_EQ(interrupted.status, 130) << interrupted.error;
  const std::string first = read(samples);
  EXPECT_THAT(lines_of(first), Contains(testing::_)) << "valid, as far as it got";

  const std::size_t written = lines_of(first).size();
  const Result killed = signalled(experiment + folder, SIGKILL, has_more_than(written));
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  const std::string second = read(samples);
  EXPECT_THAT(second, StartsWith(first));
  std::ofstream{samples, std::ios::app}
      << R"({"key":"half a li)";  // the process was killed while it wrote

  const Result limited = cohort(experiment + folder + " --time-limit 0.0001");
  EXPECT_EQ(limited.status, 1) << limited.out;
  EXPECT_THAT(limited.error, MatchesRegex("cohort: [^\n]*resumes[^\n]*\n"));
  const std::string more = read(samples);
  EXPECT_THAT(more, StartsWith(second));

  ASSERT_EQ(cohort("report " + folder).status, 0) << "of what there is";
  const Result finished = cohort(experiment + folder);
  ASSERT_EQ(finished.status, 0) << finished.out << finished.error;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("of them done"), HasSubstr("heavy")));
  EXPECT_THAT(finished.error, IsEmpty()) << "progress is for terminals";
  const std::string third = read(samples);
  EXPECT_THAT(third, StartsWith(more));
  const std::vector<json> lines = lines_of(third);
  std::map<std::string, int> keys;
  std::size_t sets = 0;
  for (const json& line : lines) {
    if (line.contains("key")) ++keys[line["key"]];
    if (!line.contains("job_ns")) continue;
    ++sets;
    EXPECT_NE(line["verified"], false);
    EXPECT_GT(line["job_ns"].size(), 0U);
    if (!line["class"].is_null()) {
      EXPECT_EQ(line["wrong"], 0);
    }
  }
  EXPECT_EQ(sets, 48U);
  for (const auto& [key, times] : keys) EXPECT_EQ(times, 1) << key << " was measured again";

  EXPECT_EQ(read(samples), third);
  ASSERT_EQ(cohort(experiment + folder).status, 0) << "there is nothing left to do";
  EXPECT_EQ(read(samples), third);
  EXPECT_THAT(refused(another + folder), HasSubstr("groups")) << "samples are not mixed";
}

TEST_F(Tool, ReportsOnOnePage) {
  const std::string folder = in_folder("results");
  ASSERT_EQ(cohort("bench barrier --quick --reps 1 --out " + folder).status, 0);
  const Result result = cohort("report " + folder + " --json " + in_folder("data.json"));
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_THAT(result.out, HasSubstr("report.html"));
  const std::string page = read(folder + "/report.html");
  EXPECT_THAT(page,
              AllOf(StartsWith("<!doctype html>"), HasSubstr("d3js.org"), HasSubstr("</html>")));
  const json data = json::parse(read(in_folder("data.json")));
  EXPECT_EQ(data["sets"][0]["name"], "results");
  EXPECT_GT(data["sets"][0]["barrier"]["measurements"].size(), 0U);
}

TEST_F(Tool, DemonstratesWithAPageToLookAt) {
  const std::string folder = in_folder("demo");
  const Result result = cohort("demo --seconds 1 --out " + folder);
  ASSERT_EQ(result.status, 0) << result.out << result.error;
  EXPECT_THAT(result.out, AllOf(HasSubstr("verified"), HasSubstr(folder + "/report.html")));
  expect_valid(json::parse(read(folder + "/timeline.trace.json")));
  EXPECT_EQ(json::parse(read(folder + "/demo.json"))["verified"], true);
}

TEST_F(Tool, RefusesToReportOnNothing) {
  expect_refused("report " + in_folder("nowhere"), {"nowhere"});
  fs::create_directories(in_folder("empty"));
  expect_refused("report " + in_folder("empty"), {"no results"});
  std::ofstream{in_folder("empty") + "/barrier.json"} << "{";
  expect_refused("report " + in_folder("empty"), {"barrier.json"});
  expect_refused("bench all --quick --out /dev/null/results", {"/dev/null/results"});
  expect_refused("bench all --quick --out /proc/results", {"/proc/results"});
  expect_refused("bench all --out " + in_folder("empty") + " --time-limit 0", {"--time-limit"});
  expect_refused("bench multitask --quick --only nothing", {"nothing"});
}

TEST_F(Tool, CompletesCommandsOptionsAndChoices) {
  const auto complete = [&](const std::string& words) { return cohort("complete " + words).out; };
  EXPECT_THAT(complete("re"), StartsWith("report\tMake a page"));
  EXPECT_THAT(complete("run bfs --task h"), StartsWith("heavy\t"));
  EXPECT_EQ(complete("run bfs --barrier ''"), "one-pass\t\nquery\t\nplain\t\nmodelled\t\n");
  EXPECT_THAT(complete("run ''"), HasSubstr("bfs\t"));
  EXPECT_THAT(complete("bench multi"), StartsWith("multitask\t"));
  EXPECT_THAT(complete("bench multitask --fix"), StartsWith("--fixed-duration\t"));
  EXPECT_THAT(complete("run bfs --engine c"), StartsWith("cpu\t"));
  EXPECT_THAT(complete("run bfs --trace ''"), IsEmpty()) << "a file";
  expect_refused("completion tcsh", {"bash, zsh, fish"});
}

/// Runs a shell's completion script, in which `cohort` is the tool, followed by `commands`.
class Completion : public Tool {
 public:
  [[nodiscard]] std::string in_shell(const std::string& shell, const std::string& options,
                                     const std::string& commands) const {
    const std::string script = in_folder("completion." + shell);
    fs::create_directories(in_folder("bin"));
    std::error_code exists;
    fs::create_symlink(COHORT_TOOL_FILE, in_folder("bin/cohort"), exists);
    std::ofstream{script} << cohort("completion " + shell).out << commands << '\n';
    return cohort("--version", "PATH='" + in_folder("bin") + "':$PATH HOME='" + in_folder("") +
                                   "' " + shell + options + " " + script + ";")
        .out;
  }
};

TEST_F(Completion, WorksInBash) {
  const auto complete = [&](const std::string& words, int at) {
    return in_shell("bash", "",
                    "COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                        "; _cohort; echo \"${COMPREPLY[@]}\"");
  };
  EXPECT_THAT(complete("cohort rep", 1), StartsWith("report\n"));
  EXPECT_THAT(complete("cohort run bfs --barrier ''", 4),
              StartsWith("one-pass query plain modelled\n"));
}

TEST_F(Completion, WorksInZsh) {
  if (!fs::exists("/usr/bin/zsh")) GTEST_SKIP() << "no zsh here";
  const auto complete = [&](const std::string& words, int at) {
    // Prints the arguments that zsh's own completion functions would receive.
    return in_shell("zsh", " -f",
                    "_files() { print files }; _describe() { print -l -- ${(P)2} }; words=(" +
                        words + "); CURRENT=" + std::to_string(at) + "; _cohort");
  };
  EXPECT_THAT(complete("cohort r", 2), HasSubstr("\nreport:Make a page"));
  EXPECT_THAT(complete("cohort run bfs --task ''", 5), StartsWith("none:\nlight:\n"));
  EXPECT_THAT(complete("cohort run bfs --trace h", 5), StartsWith("files\n"));
}

TEST_F(Completion, WorksInFish) {
  if (!fs::exists("/usr/bin/fish")) GTEST_SKIP() << "no fish here";
  const auto complete = [&](const std::string& line) {
    return in_shell("fish", " --no-config", "complete -C '" + line + "'");
  };
  EXPECT_THAT(complete("cohort re"), StartsWith("report\tMake a page"));
  EXPECT_THAT(complete("cohort run bfs --task h"), StartsWith("heavy"));
  EXPECT_THAT(complete("cohort run bfs --trace bi"), HasSubstr("bin"));
}

TEST_F(Tool, HasAManualPageOfAllItsCommands) {
  const Result manual = cohort("manual");
  EXPECT_EQ(manual.status, 0);
  EXPECT_THAT(manual.out, StartsWith(".TH COHORT 1"));
  for (const char* text : {".SH NAME", ".SH EXIT STATUS", "cohort bench multitask",
                           R"(\-\-task\-groups)", "cohort report", "COHORT_DATA"})
    EXPECT_THAT(manual.out, HasSubstr(text));
}

}  // namespace
