// The parts of the paper's experiments: tasks, the store of samples, and statistics over samples.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/store.hpp"
#include "bench/summary.hpp"
#include "tool/load.hpp"
#include "tool/product.hpp"

namespace cohort::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Shares, AreGroupsOfTheCapacity) {
  EXPECT_EQ(tool::groups_of("one", 8), 1U);
  EXPECT_EQ(tool::groups_of("quarter", 8), 2U);
  EXPECT_EQ(tool::groups_of("half", 8), 4U);
  EXPECT_EQ(tool::groups_of("all-but-one", 8), 7U);
  EXPECT_EQ(tool::groups_of("all", 8), 8U);
  EXPECT_EQ(tool::groups_of("3", 8), 3U);
  EXPECT_EQ(tool::groups_of("all-but-one", 1), 1U) << "a task has at least one group";
  for (const char* const wrong : {"0", "9", "-1", "3x", "", "most"})
    EXPECT_THAT(refusal([&] { (void)tool::groups_of(wrong, 8); }), HasSubstr("1 to 8")) << wrong;
}

TEST(MatrixProduct, IsRightOnAnyNumberOfGroupsAndOnlyWhenComplete) {
  cpu::Engine engine{{.capacity = 3}};
  tool::MatrixProduct product{37};
  EXPECT_FALSE(product.right()) << "nothing is computed yet";
  for (const std::uint32_t groups : {1U, 2U, 3U}) {
    product.clear();
    engine.submit([&](auto& group) { product.multiply(group); }, {.groups = groups}).wait();
    EXPECT_TRUE(product.right()) << groups;
  }
  product.clear();
  engine
      .submit(
          [&](auto& group) {
            if (group.group_id() != 1) product.multiply(group);
          },
          {.groups = 2})
      .wait();
  EXPECT_FALSE(product.right()) << "half of the rows are missing";
}

/// A task that lasts until the test ends it.
struct Until {
  const std::function<bool()>* over;

  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!(*over)() && !group.offer(state)) std::this_thread::sleep_for(microseconds{100});
  }
};

Report drive_until(tool::Load& load, cpu::Engine& engine, const std::function<bool()>& over,
                   std::optional<std::chrono::nanoseconds> limit = {}) {
  return load.drive(engine.launch(Until{&over}), limit);
}

tool::Load::Served done(std::chrono::nanoseconds time) {
  TaskReport report;
  report.run_time = time;
  return {.report = std::move(report), .right = true};
}

TEST(Load, TasksOutliveTheJobsTheyBeginBeside) {
  cpu::Engine engine{{.capacity = 1}};
  std::atomic<int> jobs{0};
  std::atomic<bool> over{false};
  tool::Load load{[&] {
                    const auto begin = std::chrono::steady_clock::now();
                    const int before = jobs;
                    while (jobs < before + 3 && !over)
                      std::this_thread::sleep_for(microseconds{100});
                    return done(std::chrono::steady_clock::now() - begin);
                  },
                  milliseconds{0}};
  drive_until(load, engine, [&] { return load.begun() >= 1; });
  for (; load.begun() < 3; ++jobs) drive_until(load, engine, [] { return true; });
  over = true;
  load.end();
  ASSERT_GE(load.tasks().size(), 3U);
  EXPECT_TRUE(load.tasks()[0].beside);
  EXPECT_GE(load.jobs().size(), 7U) << "no job waits for a task to end";
  for (std::size_t i = 1; i < load.tasks().size(); ++i)
    EXPECT_GE(load.tasks()[i].start, load.tasks()[i - 1].start + load.tasks()[i - 1].run);
}

TEST(Load, ATaskKnowsWhetherAJobWasThere) {
  cpu::Engine engine{{.capacity = 1}};
  tool::Load load{[] { return done({}); }, milliseconds{1}};
  drive_until(load, engine, [&] { return load.begun() >= 1; });
  const std::size_t begun = load.begun();
  while (load.begun() < begun + 2) std::this_thread::sleep_for(microseconds{100});
  load.end();
  EXPECT_TRUE(load.tasks().front().beside);
  EXPECT_FALSE(load.tasks()[begun + 1].beside);
  EXPECT_LT(load.begun_beside(), load.begun());
}

TEST(Load, NothingBeginsWhileItRests) {
  cpu::Engine engine{{.capacity = 1}};
  const auto begin = std::chrono::steady_clock::now();
  tool::Load load{[] { return done({}); }, milliseconds{1}};
  drive_until(load, engine, [&] { return load.begun() >= 1; });
  load.rest();
  const std::size_t begun = load.begun();
  std::this_thread::sleep_for(milliseconds{300});
  EXPECT_LE(load.begun(), begun + 1) << "one may have been about to begin";
  drive_until(load, engine, [] { return true; });
  const std::chrono::nanoseconds all = std::chrono::steady_clock::now() - begin;
  load.end();
  ASSERT_THAT(load.jobs(), SizeIs(2));
  const std::chrono::nanoseconds between{load.jobs()[1].begin - load.jobs()[0].end};
  EXPECT_LT(between + milliseconds{150}, all) << "its clock stood still";
}

TEST(Load, ItsClockGoesOnWithATaskThatOutlivesItsJob) {
  cpu::Engine engine{{.capacity = 1}};
  constexpr milliseconds long_time{50};
  tool::Load load{[long_time] {
                    std::this_thread::sleep_for(long_time);
                    return done(long_time);
                  },
                  milliseconds{1}};
  drive_until(load, engine, [&] { return load.begun() >= 1; });
  load.rest();
  std::this_thread::sleep_for(2 * long_time);
  drive_until(load, engine, [&] { return load.begun() >= 2; });
  load.end();
  EXPECT_GE(tool::median_period(load.tasks()).value(), 50e6);
}

TEST(Load, AJobThatTakesTooLongIsCancelled) {
  cpu::Engine engine{{.capacity = 1}};
  tool::Load load;
  const Report report = drive_until(
      load, engine, [] { return false; }, milliseconds{1});
  EXPECT_EQ(report.status, Status::cancelled);
  EXPECT_GE(length(load.jobs()), 1e6);
}

TEST(Load, WhoeverDrivesJobsIsToldOfATaskThatFailed) {
  cpu::Engine engine{{.capacity = 1}};
  tool::Load load{[]() -> tool::Load::Served {
                    throw Error{Errc::device_lost, "gone"};
                  },
                  milliseconds{1}};
  EXPECT_EQ(refusal([&] {
              for (;;) drive_until(load, engine, [&] { return load.begun() >= 1; });
            }),
            "gone");
  EXPECT_EQ(refusal([&] { load.end(); }), "gone");
}

TEST(Period, IsTheMedianFromStartToStart) {
  EXPECT_FALSE(tool::median_period({}).has_value());
  EXPECT_FALSE(tool::median_period({{.start = 5}}).has_value());
  EXPECT_DOUBLE_EQ(
      tool::median_period({{.start = 0}, {.start = 40}, {.start = 80}, {.start = 200}}).value(),
      40);
  EXPECT_FALSE(tool::median_period({{.start = 0, .run = 50}, {.start = 40}}).has_value())
      << "the clock stood still";
}

class StoreTest : public testing::Test {
 public:
  StoreTest(const StoreTest&) = delete;
  StoreTest& operator=(const StoreTest&) = delete;

 protected:
  StoreTest() = default;
  ~StoreTest() override { fs::remove(file_); }

  const fs::path file_ =
      fs::path{testing::TempDir()} / ("cohort_store_" + std::to_string(::getpid()) + ".jsonl");
  const Json header_{{"commit", "one"}, {"time", "now"}};
};

TEST_F(StoreTest, GoesOnWithWhatIsThere) {
  {
    Store store{file_, header_};
    store.add({{"key", "a"}, {"value", 1}});
  }
  std::ofstream{file_, std::ios::app}
      << R"({"key":"b","val)";  // the process was killed while it wrote
  Store store{file_, {{"commit", "one"}, {"time", "later"}}};
  EXPECT_THAT(store.samples(), SizeIs(1));
  EXPECT_TRUE(store.has("a"));
  EXPECT_FALSE(store.has("b"));
  EXPECT_EQ(store.header()["time"], "now");
  store.add({{"key", "b"}, {"value", 2}});
  const std::vector<Json> lines = read_lines(file_);
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[2]["value"], 2);
}

TEST_F(StoreTest, DoesNotMixRuns) {
  { const Store store{file_, header_}; }
  EXPECT_THAT(refusal([&] {
                const Store other{file_, {{"commit", "two"}, {"time", "now"}}};
              }),
              HasSubstr("another commit"));
}

TEST_F(StoreTest, IsForOneRunAtATime) {
  const Store store{file_, header_};
  EXPECT_THAT(refusal([&] { const Store other{file_, header_}; }), HasSubstr("another run"));
}

TEST_F(StoreTest, NamesTheLineThatIsDamaged) {
  std::ofstream{file_} << header_.dump() << "\nnonsense\n";
  EXPECT_THAT(refusal([&] { const Store store{file_, header_}; }), HasSubstr("line 2"));
  EXPECT_THAT(refusal([&] { (void)read_lines(file_); }), HasSubstr("line 2"));
}

/// A sample set in which the app takes `job` ms and a task is due every `period` ms.
Json sample(const std::string& pair, const std::string& kind, const std::string& share, double job,
            double period) {
  const std::string key = pair + " | one-pass | " + kind + " | " + share + " | 0";
  Json result{{"key", key},       {"pair", pair}, {"app", "bfs"},          {"barrier", "one-pass"},
              {"class", nullptr}, {"round", 0},   {"job_ns", {job * 1e6}}, {"verified", true}};
  if (kind == "alone") return result;
  auto tasks = Json::array();
  for (std::uint64_t i = 0; i < 4; ++i) {
    const bool beside = i < 2;  // the other tasks take no units from the job
    tasks.push_back({static_cast<std::uint64_t>(static_cast<double>(i) * period * 1e6),
                     beside ? 1000 : 9, 2000, beside ? 1 : 0});
  }
  result.update({{"class", kind}, {"share", share}, {"groups", 1}, {"side", 9}, {"wrong", 0}});
  result["tasks"] = tasks;
  return result;
}

TEST(Summary, TakesMediansOverPairsAndTheSmallestShareThatMeetsThePeriod) {
  std::vector<Json> samples;
  for (const auto& [pair, alone] :
       {std::pair{"a", 100.0}, std::pair{"b", 200.0}, std::pair{"c", 400.0}}) {
    const double extra = pair == std::string{"c"} ? 9 : 1;  // an outlier
    samples.push_back(sample(pair, "alone", "", alone, 0));
    samples.push_back(sample(pair, "heavy", "one", alone * 1.01, 900));
    samples.push_back(sample(pair, "heavy", "quarter", alone * 1.2, 100));
    samples.push_back(sample(pair, "heavy", "half", alone * 1.4 * extra, 40));
    samples.push_back(sample(pair, "heavy", "all", alone * 1.3, 40));
    samples.push_back(sample(pair, "light", "one", alone * 1.02, 70));
  }
  const Json sliced{{"class", "heavy"}, {"slowdown", 1.44}};
  samples.push_back({{"key", "time slicing"}, {"time_slicing", Json::array({sliced})}});
  const Json summary = summarise_multitask({{"commit", "one"}}, samples);
  EXPECT_EQ(summary["sample_sets"], 18);
  const auto row = [&](const char* kind, const char* share) -> Json {
    for (const Json& each : summary["performance"]) {
      if (each["class"] == kind && each["share"] == share) return each;
    }
    return {};
  };
  EXPECT_NEAR(row("heavy", "half")["slowdown"], 1.4, 1e-9);
  EXPECT_NEAR(row("heavy", "half")["worst_slowdown"], 12.6, 1e-9);
  EXPECT_EQ(row("heavy", "half")["worst_pair"], "c");
  EXPECT_DOUBLE_EQ(row("heavy", "quarter")["period_ns"], 100e6);
  EXPECT_DOUBLE_EQ(row("heavy", "quarter")["gather_ns"], 1000);
  const Json& light = summary["preemption"][0];
  EXPECT_EQ(light["share"], "one");
  EXPECT_NEAR(light["model"], 70.0 / 67, 1e-9);
  EXPECT_TRUE(light["suspend"].is_null()) << "not measured";
  EXPECT_TRUE(summary["preemption"][1]["cooperative"].is_null()) << "medium: no samples";
  const Json& heavy = summary["preemption"][2];
  EXPECT_EQ(heavy["share"], "half");
  EXPECT_NEAR(heavy["cooperative"], 1.4, 1e-9);
  EXPECT_NEAR(heavy["suspend"], 1.3, 1e-9);
  EXPECT_EQ(heavy["time_slicing"], sliced);
  EXPECT_TRUE(light["time_slicing"].is_null()) << "not measured";
  EXPECT_THAT(summarise_multitask({{"commit", "one"}}, {})["performance"], IsEmpty());
}

TEST(Summary, ComparesTheEnginesChoiceWithTheBestFixedOneThatMeetsThePeriod) {
  const std::vector<Json> samples{
      sample("a", "alone", "", 100, 0),        sample("a", "heavy", "one", 101, 900),
      sample("a", "heavy", "half", 140, 41),   sample("a", "heavy", "all", 130, 40),
      sample("a", "heavy", "hybrid", 143, 40), sample("b", "alone", "", 100, 0),
      sample("b", "heavy", "one", 110, 900),   sample("b", "heavy", "hybrid", 121, 900)};
  const Json rows = summarise_multitask({{"commit", "one"}}, samples)["hybrid"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["best"], "all");
  EXPECT_NEAR(rows[0]["ratio"], 1.1, 1e-9);
  EXPECT_EQ(rows[0]["meets"], true);
  ASSERT_EQ(rows[0]["fixed"].size(), 3U);
  EXPECT_EQ(rows[1]["best"], "one") << "no choice meets the period";
  EXPECT_NEAR(rows[1]["ratio"], 1.1, 1e-9);
  EXPECT_EQ(rows[1]["meets"], false);
}

}  // namespace
}  // namespace cohort::bench
