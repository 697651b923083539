// The bench harness: its statistics on known numbers, the order of its repetitions, and its files.
#include "bench/harness.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "bench/child.hpp"
#include "bench/sharing.hpp"
#include "cohort/error.hpp"
#include "tool/other_programs.hpp"
#include "tool/record.hpp"

namespace cohort::bench {
namespace {

namespace fs = std::filesystem;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

// ---- arithmetic

TEST(Percentile, OfOneValueIsThatValue) {
  EXPECT_DOUBLE_EQ(percentile({7}, 0), 7);
  EXPECT_DOUBLE_EQ(percentile({7}, 50), 7);
  EXPECT_DOUBLE_EQ(percentile({7}, 99), 7);
}

TEST(Percentile, IsInterpolatedBetweenTheNearestValues) {
  const std::vector<double> values{30, 10, 50, 20, 40};  // the order does not matter
  EXPECT_DOUBLE_EQ(percentile(values, 0), 10);
  EXPECT_DOUBLE_EQ(percentile(values, 25), 20);
  EXPECT_DOUBLE_EQ(percentile(values, 90), 46);
  EXPECT_DOUBLE_EQ(percentile(values, 100), 50);
}

TEST(Median, OfAnOddCountIsTheMiddle) { EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2); }

TEST(Median, OfAnEvenCountIsBetweenTheMiddleTwo) { EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5); }

TEST(Statistics, PoolTheBatchesOfAllRepetitions) {
  Series series{.name = "a", .reference = false, .repetitions = {{}, {}}};
  for (int i = 100; i >= 0; --i) series.repetitions[i % 2 == 0 ? 0 : 1].push_back(i);
  const Statistics numbers = statistics(series);
  EXPECT_DOUBLE_EQ(numbers.p50, 50);
  EXPECT_DOUBLE_EQ(numbers.p99, 99);
  EXPECT_DOUBLE_EQ(numbers.min, 0);
  EXPECT_DOUBLE_EQ(numbers.max, 100);
  EXPECT_DOUBLE_EQ(numbers.spread, 50);
}

TEST(Ratios, ArePairedRepetitionByRepetition) {
  // The machine becomes ten times slower half-way. The ratios must not change.
  const Series ours{.name = "ours", .reference = false, .repetitions = {{1, 2, 3}, {20}, {30}}};
  const Series theirs{
      .name = "theirs", .reference = true, .repetitions = {{4}, {40}, {30, 10, 20}}};
  EXPECT_THAT(ratios(ours, theirs), ElementsAre(DoubleEq(0.5), DoubleEq(0.5), DoubleEq(1.5)));
  EXPECT_DOUBLE_EQ(median(ratios(ours, theirs)), 0.5);
}

TEST(Measurement, ComparesWithTheReferenceOfTheLeastMedian) {
  const Measurement measurement{
      .name = "m",
      .unit = "ns",
      .series = {
          {"ours", false, {{1}}}, {"slow", true, {{4, 4, 4}}}, {"fast", true, {{3, 3, 90}}}}};
  ASSERT_NE(measurement.best_reference(), nullptr);
  EXPECT_EQ(measurement.best_reference()->name, "fast");
  EXPECT_EQ(measurement.at("slow").name, "slow");
  EXPECT_THROW((void)measurement.at("nobody"), Error);
}

// ---- running

Contender logging(const std::string& name, std::vector<std::string>& log) {
  return {.name = name, .measure = [name, &log] {
            log.push_back(name);
            return std::vector<double>{static_cast<double>(log.size())};
          }};
}

TEST(Measure, InterleavesTheContendersAndTurnsTheirOrder) {
  std::vector<std::string> log;
  const Measurement result =
      measure("m", "ns", {logging("a", log), logging("b", log)}, {.count = 3, .warm_ups = 0});
  EXPECT_THAT(log, ElementsAre("a", "b", "b", "a", "a", "b"));
  EXPECT_THAT(result.at("a").repetitions,
              ElementsAre(ElementsAre(1), ElementsAre(4), ElementsAre(5)));
  EXPECT_THAT(result.at("b").repetitions,
              ElementsAre(ElementsAre(2), ElementsAre(3), ElementsAre(6)));
}

TEST(Measure, ThrowsWarmUpsAway) {
  std::vector<std::string> log;
  const Measurement result = measure("m", "ns", {logging("a", log)}, {.count = 2, .warm_ups = 3});
  EXPECT_EQ(log.size(), 5U);
  EXPECT_THAT(result.at("a").repetitions, ElementsAre(ElementsAre(4), ElementsAre(5)));
}

TEST(Measure, StopsBeforeTheNextContender) {
  std::vector<std::string> log;
  std::stop_source source;
  Contender stopping = logging("a", log);
  stopping.measure = [&, inner = stopping.measure] {
    source.request_stop();
    return inner();
  };
  EXPECT_THROW(
      (void)measure("m", "ns", {stopping, logging("b", log)}, {.stop = source.get_token()}),
      Stopped);
  EXPECT_THAT(log, ElementsAre("a"));
}

// ---- records

Measurement example() {
  return {.name = "m",
          .unit = "ns",
          .series = {{"ours", false, {{1, 2, 3}, {10}}}, {"theirs", true, {{4}, {5}}}}};
}

TEST(Record, HoldsTheRawSamplesAndTheRatios) {
  const auto json = to_json(example());
  EXPECT_EQ(json["baseline"], "theirs");
  EXPECT_EQ(json["contenders"][0]["name"], "ours");
  EXPECT_EQ(json["contenders"][0]["samples"].dump(), "[[1.0,2.0,3.0],[10.0]]");
  EXPECT_EQ(json["contenders"][0]["ratios"].dump(), "[0.5,2.0]");
  EXPECT_EQ(json["contenders"][0]["ratio"], 1.25);
}

TEST(Record, IsWrittenWithOneLinePerSampleArray) {
  const nlohmann::ordered_json record{
      {"name", "a \"b\""}, {"samples", {{1.5, 2}, {3}}}, {"none", nlohmann::json::array()}};
  EXPECT_EQ(tool::record_text(record),
            "{\n"
            " \"name\": \"a \\\"b\\\"\",\n"
            " \"samples\": [\n"
            "  [1.5,2],\n"
            "  [3]\n"
            " ],\n"
            " \"none\": []\n"
            "}\n");
  EXPECT_EQ(nlohmann::ordered_json::parse(tool::record_text(record)), record);
}

TEST(Record, PrintsATable) {
  std::ostringstream out;
  print(out, example());
  EXPECT_THAT(out.str(), HasSubstr("x theirs"));
  EXPECT_THAT(out.str(), HasSubstr("ours"));
}

TEST(Record, NamesMachineCommitAndTime) {
  const auto json = tool::provenance();
  EXPECT_GE(json["machine"]["usable_cpus"], 1);
  EXPECT_FALSE(json["machine"]["compiler"].get<std::string>().empty());
  EXPECT_FALSE(json["commit"].get<std::string>().empty());
  EXPECT_THAT(json["time"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
}

// ---- files

class Files : public testing::Test {
 public:
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

 protected:
  Files() { fs::create_directories(folder_); }
  ~Files() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}));
  }

  const fs::path folder_ =
      fs::path{testing::TempDir()} / ("cohort_harness_test_" + std::to_string(::getpid()));
};

TEST_F(Files, AreReplacedWhole) {
  const fs::path file = folder_ / "a.json";
  tool::write_atomically(file, "old");
  tool::write_atomically(file, "new");
  EXPECT_EQ(read(file), "new");
  EXPECT_EQ(count(), 1U) << "no draft is left behind";
}

TEST_F(Files, ShowReadersTheOldOrTheNewContent) {
  const fs::path file = folder_ / "a.json";
  const std::string contents[2] = {std::string(100'000, 'a'), std::string(50'000, 'b')};
  tool::write_atomically(file, contents[0]);
  std::atomic<bool> over{false};
  std::jthread writer{[&] {
    for (int i = 1; i <= 50; ++i) tool::write_atomically(file, contents[i % 2]);
    over = true;
  }};
  while (!over) {
    const std::string seen = read(file);
    ASSERT_TRUE(seen == contents[0] || seen == contents[1]) << seen.size() << " characters";
  }
}

TEST_F(Files, StayAsTheyWereWhenWritingFails) {
  const fs::path file = folder_ / "taken";
  fs::create_directories(file / "inside");
  EXPECT_THROW(tool::write_atomically(file, "new"), Error);
  EXPECT_TRUE(fs::is_directory(file));
  EXPECT_EQ(count(), 1U) << "no draft is left behind";
}

TEST_F(Files, ThatCannotBeWrittenAreAnErrorNamingThem) {
  tool::write_atomically(folder_ / "plain", "not a folder");
  for (const fs::path& file : {folder_ / "missing" / "a.json", folder_ / "plain" / "a.json"}) {
    try {
      tool::check_writable(file);
      ADD_FAILURE() << file << " should be refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_options);
      EXPECT_THAT(error.what(), HasSubstr(file.string()));
    }
    EXPECT_THROW(tool::write_atomically(file, "text"), Error);
  }
}

// ---- children

constexpr std::chrono::seconds long_enough{100};

Child shell(const std::string& script, const Environment& with = {}) {
  return Child{{"-c", script}, with, "/bin/sh"};
}

TEST(Child, PrintsWithAnEnvironmentOfItsOwn) {
  Child child = shell("echo $COHORT_WORD", {{"COHORT_WORD", "hello"}});
  EXPECT_EQ(child.output_within(long_enough), "hello\n");
}

TEST(Child, IsKilledWhenItsTimeIsUp) {
  Child child = shell("echo begun; exec sleep 1000000");
  EXPECT_EQ(child.output_within(std::chrono::milliseconds{50}), std::nullopt);
}

TEST(Child, SaysWhyItFailed) {
  Child child = shell("echo one; echo the reason; exit 3");
  try {
    static_cast<void>(child.output_within(long_enough));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::EndsWith("failed: the reason"));
  }
}

// ---- shared machines

TEST(Sharing, ARateIsInterpolatedWithinTheLine) {
  const ProgressLine line{{100, 0}, {200, 50}, {300, 150}};
  EXPECT_DOUBLE_EQ(rate(line, 100, 300), 0.75);
  EXPECT_DOUBLE_EQ(rate(line, 150, 250), 0.75);
  EXPECT_DOUBLE_EQ(rate(line, 0, 200), 0.5);  // nothing is known about the time before 100
  EXPECT_DOUBLE_EQ(rate(line, 400, 500), 0);
}

TEST(Sharing, AnIdealJobLosesWhatIsTaken) {
  EXPECT_DOUBLE_EQ(ideal_slowdown(0.5, 10, 40), 1 / 0.875);
  EXPECT_DOUBLE_EQ(ideal_slowdown(0.5, 80, 40), 2);  // tasks in immediate succession
}

}  // namespace
TEST(OtherPrograms, TakeTheCpuTimeThatIsNotOurs) {
  const tool::OtherPrograms others;
  const pid_t child = ::fork();
  if (child == 0) {
    while (std::clock() < CLOCKS_PER_SEC / 3) {
    }
    ::_exit(0);
  }
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const double share = others.share();  // the child's CPU time counts as ours only after wait()
  EXPECT_GT(share * std::thread::hardware_concurrency(), 0.5);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(OtherPrograms, AreMentionedWhenTheyDisturb) {
  EXPECT_THAT(tool::busy_warning(0.05), testing::IsEmpty());
  EXPECT_THAT(tool::busy_warning(0.34), testing::HasSubstr("34% of the CPUs"));
}

}  // namespace cohort::bench
