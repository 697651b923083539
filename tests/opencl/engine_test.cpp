// Features that only the OpenCL engine has: the megakernel, its scheduler, devices, hung and
// crashed kernels, and refusals; also a trace that appendix A accepts. tests/conformance covers the
// features that every engine has.
#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <random>
#include <thread>

#include "cohort/trace_check.hpp"
#include "on_engine.hpp"
#include "opencl/cl.hpp"
#include "opencl/device.hpp"

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using Words = Shared<std::uint32_t>;

const Program& kernels() {
  static const Program all = Program::from_file(
      std::filesystem::path{COHORT_TEST_KERNELS} / "kernels.cl", {.engine = "opencl"});
  return all;
}

std::uint32_t now(const Words& words) {
  return std::atomic_ref{const_cast<std::uint32_t&>(words[0])}.load();
}
void set(Words& words, std::uint32_t value) { std::atomic_ref{words[0]}.store(value); }

/// Whether `condition()` becomes true before a timeout that only a hang reaches.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + 100s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// Expects an Error with this code, and returns its message.
template <class Act>
std::string error_of(Errc code, Act act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// A job that runs until it is told to stop.
struct Background {
  explicit Background(const std::string& name = "spin_at_barriers",
                      const LaunchOptions& options = {})
      : job(launch(name, options)) {}
  ~Background() {
    set(stop, 1);
    while (job.status() == Status::pending || job.status() == Status::running)
      std::this_thread::sleep_for(1ms);
  }
  Report end() {
    set(stop, 1);
    return job.wait();
  }
  Job launch(const std::string& name, const LaunchOptions& options) {
    const ProgramKernel kernel =
        kernels().kernel(name).set("rounds", rounds.data()).set("stop", stop.data());
    return kernel.launch(engine(), options);
  }
  [[nodiscard]] bool advances() const {
    const std::uint32_t before = now(rounds);
    return eventually([&] { return now(rounds) > before + 2; });
  }

  Words rounds{0, 0};
  Words stop{0};
  Job job;
};

// ---- jobs and tasks

TEST(Engine, TasksRunWithoutAJob) {
  Words before{0};
  Words wrong{0};
  const ProgramKernel kernel =
      kernels().kernel("meet").set("before", before.data()).set("wrong", wrong.data());
  EXPECT_EQ(kernel.submit(engine(), {.groups = engine().capacity()}).wait().status,
            Status::finished);
  EXPECT_EQ(before[0], engine().capacity());
  EXPECT_EQ(wrong[0], 0U);
}

TEST(Engine, TheMegakernelThatRunsCannotChange) {
  Background background{"may_empty"};
  const ProgramKernel kernel = kernels().kernel("never_looks").set("stop", background.stop.data());
  EXPECT_THAT(error_of(Errc::bad_state, [&] { static_cast<void>(kernel.launch(engine())); }),
              HasSubstr("kernel never_looks is not in the megakernel that runs"));
  EXPECT_THROW(background.launch("may_empty", {.local_size = 2}), Error);
}

TEST(Engine, TheCapacityCanChangeWhileAJobRuns) {
  if (engine().capacity() < 2) GTEST_SKIP() << "the device runs one work-group at a time";
  const std::uint32_t all = engine().capacity();
  Background background;
  ASSERT_TRUE(background.advances());
  engine().set_capacity(1);
  EXPECT_TRUE(eventually([&] { return background.job.report().sizes.back().groups == 1; }));
  EXPECT_TRUE(background.advances());
  engine().set_capacity(all);
  EXPECT_TRUE(eventually([&] { return background.job.report().sizes.back().groups == all; }));
  EXPECT_THROW(engine().set_capacity(0), Error);
  EXPECT_THROW(engine().set_capacity(all + 1), Error) << "more would spin against each other";
}

TEST(Engine, AJobCanBeSuspendedAndResumed) {
  Background background;
  ASSERT_TRUE(background.advances());
  ASSERT_EQ(background.job.suspend(), Status::suspended);
  std::this_thread::sleep_for(50ms);  // meanwhile the megakernel ends, because it has no work
  const std::uint32_t before = now(background.rounds);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(now(background.rounds), before);
  background.job.resume();
  EXPECT_TRUE(background.advances());
  EXPECT_GT(now(background.rounds), before);
}

TEST(Engine, AWorkGroupCanSchedule) {
  const std::uint32_t groups = std::min(engine().device().units, 4U);
  if (groups < 2) GTEST_SKIP() << "the device runs one work-group at a time";
  opencl::Engine own{{.capacity = groups, .scheduler = opencl::Scheduler::group}};
  EXPECT_EQ(own.capacity(), groups - 1) << "one of them schedules";
  own.load(kernels().kernel("spin_at_offers"));
  own.load(kernels().kernel("meet"));
  auto rounds = own.fill<std::uint32_t>(2, 0);
  auto stop = own.fill<std::uint32_t>(1, 0);
  auto met = own.fill<std::uint32_t>(2, 0);
  const Job job = kernels()
                      .kernel("spin_at_offers")
                      .set("rounds", rounds.data())
                      .set("stop", stop.data())
                      .launch(own);
  ProgramKernel meet =
      kernels().kernel("meet").set("before", met.data()).set("wrong", met.data() + 1);
  for (std::uint32_t i = 1; i <= 10; ++i) {
    met.fill(0);
    const TaskReport report = meet.submit(own, {.groups = own.capacity()}).wait();
    EXPECT_EQ(report.status, Status::finished);
    EXPECT_THAT(met.read(), testing::ElementsAre(own.capacity(), 0U));
  }
  std::atomic_ref{*stop.data()}.store(1);
  EXPECT_EQ(job.wait().status, Status::finished);
}

// ---- ends of every kind

TEST(Engine, ACancelReachesABarrierInAFunction) {
  Words rounds{0};
  const ProgramKernel kernel = kernels().kernel("meets_in_a_function").set("rounds", rounds.data());
  std::stop_source stop;
  const Job job = kernel.launch(engine(), {.stop = stop.get_token()});
  ASSERT_TRUE(eventually([&] { return now(rounds) > 10; }));
  stop.request_stop();
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

TEST(Engine, ABrokenContractIsAnError) {
  if (engine().capacity() < 2) GTEST_SKIP() << "the device runs one work-group at a time";
  Words tickets{0};
  Words word{0};
  const ProgramKernel kernel = kernels()
                                   .kernel("leaves_others_waiting")
                                   .set("tickets", tickets.data())
                                   .set("word", word.data());
  const Job job = kernel.launch(engine(), {.max_groups = 2, .resizable = false});
  EXPECT_THAT(
      error_of(Errc::broken_contract, [&] { job.wait(); }),
      AllOf(HasSubstr("returned"), ContainsRegex("barrier [0-9]"), HasSubstr("cohort::explore")));
}

TEST(Engine, AKernelThatNeverEndsIsGivenUp) {
  auto doomed = std::make_unique<opencl::Engine>(opencl::EngineOptions{.patience = 300ms});
  auto stop = doomed->fill<std::uint32_t>(1, 0);
  const ProgramKernel kernel = kernels().kernel("never_looks").set("stop", stop.data());
  const Job job = kernel.launch(*doomed, {.max_groups = 1});
  EXPECT_FALSE(job.wait_for(100ms));
  job.cancel();
  EXPECT_THAT(error_of(Errc::device_lost, [&] { job.wait(); }),
              HasSubstr("never_looks has reached no primitive within 300 ms"));
  error_of(Errc::device_lost, [&] { static_cast<void>(kernel.launch(*doomed)); });
  doomed.reset();                          // does not wait for the job
  std::atomic_ref{*stop.data()}.store(1);  // frees the device for the other tests
}

TEST(Engine, ATaskThatNeverEndsDoesNotKeepTheEngine) {
  auto doomed = std::make_unique<opencl::Engine>(opencl::EngineOptions{.patience = 300ms});
  auto stop = doomed->fill<std::uint32_t>(1, 0);
  const ProgramKernel kernel = kernels().kernel("never_looks").set("stop", stop.data());
  const Task task = kernel.submit(*doomed);
  EXPECT_FALSE(task.wait_for(100ms));
  doomed.reset();  // would never return if it waited for the task
  error_of(Errc::device_lost, [&] { task.wait(); });
  std::atomic_ref{*stop.data()}.store(1);  // frees the device for the other tests
}

TEST(Engine, ATaskThatIsCancelledBeforeItsUnitsAreFreeCostsNobodyTheDevice) {
  if (engine().device().units < 3) GTEST_SKIP() << "the device runs too few work-groups at a time";
  opencl::Engine own{{.capacity = 3, .patience = 300ms, .scheduler = opencl::Scheduler::group}};
  own.load(kernels().kernel("meet"));
  auto stop = own.fill<std::uint32_t>(1, 0);
  auto met = own.fill<std::uint32_t>(2, 0);
  const Job job = kernels().kernel("never_looks").set("stop", stop.data()).launch(own);
  EXPECT_TRUE(eventually([&] {
    const auto sizes = job.report().sizes;
    return !sizes.empty() && sizes.back().groups == own.capacity();
  }));
  const Task task =
      kernels().kernel("meet").set("before", met.data()).set("wrong", met.data() + 1).submit(own);
  task.cancel();
  // If the wait is too short, a mistake goes unnoticed, but nothing fails.
  EXPECT_NO_THROW(EXPECT_FALSE(job.wait_for(1s)));
  std::atomic_ref{*stop.data()}.store(1);
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(task.wait().status, Status::cancelled);
}

/// On PoCL, kernels run in this process. Other drivers may catch the crash.
TEST(EngineDeathTest, AKernelThatCrashesEndsTheProcessAndHangsNothing) {
  if (engine().device().platform != "Portable Computing Language")
    GTEST_SKIP() << "kernels do not run in this process";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        opencl::Engine own;
        const ProgramKernel kernel = kernels().kernel("crashes").set("address", std::uint64_t{64});
        kernel.launch(own).wait();
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST(Engine, AnErrorOfTheDriverIsAnError) {
  error_of(Errc::device_lost, [] { static_cast<void>(opencl::completed(cl::Event{}, 0ms)); });
}

TEST(Engine, EndsWithItsJobs) {
  auto brief = std::make_unique<opencl::Engine>();
  auto rounds = brief->fill<std::uint32_t>(2, 0);
  auto stop = brief->fill<std::uint32_t>(1, 0);
  const ProgramKernel kernel =
      kernels().kernel("spin_at_barriers").set("rounds", rounds.data()).set("stop", stop.data());
  const Job job = kernel.launch(*brief);
  EXPECT_FALSE(job.wait_for(20ms));
  brief.reset();
  EXPECT_EQ(job.wait().status, Status::cancelled);
}

// ---- refusals

TEST(Engine, RefusesMemoryOfTheHost) {
  std::uint32_t on_the_stack = 0;
  const ProgramKernel kernel = kernels().kernel("never_looks").set("stop", &on_the_stack);
  EXPECT_THAT(error_of(Errc::bad_options, [&] { static_cast<void>(kernel.launch(engine())); }),
              HasSubstr("parameter 'stop' of kernel never_looks points to memory"));
}

TEST(Engine, RefusesWhatCannotRun) {
  Words stop{1};
  const ProgramKernel kernel = kernels().kernel("never_looks").set("stop", stop.data());
  EXPECT_THROW(static_cast<void>(kernel.launch(engine(), {.max_groups = 0})), Error);
  EXPECT_THROW(static_cast<void>(kernel.launch(
                   engine(), {.max_groups = engine().capacity() + 1, .resizable = false})),
               Error);
  EXPECT_THROW(static_cast<void>(kernel.submit(engine(), {.groups = engine().capacity() + 1})),
               Error);
  cpu::Engine other;
  EXPECT_THROW(static_cast<void>(kernel.launch(other)), Error) << "compiled for another engine";
  EXPECT_THROW(opencl::Engine({.device = "no such device"}), Error);
  EXPECT_THROW(opencl::Engine({.capacity = 100000}), Error);
  EXPECT_THROW(static_cast<void>(
                   Program::from_file(std::filesystem::path{COHORT_TEST_KERNELS} / "kernels.cl",
                                      {.engine = "opencl", .transmit = "per-thread"})),
               Error);
}

TEST(Engine, PassesOnWhatTheDevicesCompilerSays) {
  opencl::Engine strict{{.build_options = "-Dcohort_look=nonsense("}};
  const auto stop = strict.fill<std::uint32_t>(1, 1);
  const ProgramKernel kernel = kernels().kernel("never_looks").set("stop", stop.data());
  EXPECT_THAT(
      error_of(Errc::bad_file, [&] { static_cast<void>(kernel.launch(strict)); }),
      AllOf(HasSubstr("does not compile the megakernel of never_looks"), HasSubstr("error")));
}

TEST(Device, SaysWhatItLacks) {
  opencl::Features features{.version = 12, .compiler = true, .wide = true, .little_endian = true};
  EXPECT_EQ(opencl::missing(features), "OpenCL 2.0");
  features.version = 30;
  features.shared_memory = features.wide_atomics = features.ordered_atomics = true;
  EXPECT_EQ(opencl::missing(features),
            "atomics in shared virtual memory, atomics that the host sees");
  features.shared_atomics = features.host_atomics = true;
  EXPECT_EQ(opencl::missing(features), "");
}

TEST(Engine, NamesItsDevice) {
  const std::vector<opencl::Device> all = opencl::devices();
  ASSERT_FALSE(all.empty());
  EXPECT_FALSE(engine().device().name.empty());
  EXPECT_EQ(engine().device().lacks, "");
  EXPECT_LE(engine().capacity(), engine().device().units);
}

// ---- the model

/// Records the events by unit, as check_trace expects them.
class UnitLog final : public Tracer {
 public:
  void record(const TraceEvent& event) noexcept override { events.push_back({event, event.unit}); }
  std::vector<LoggedEvent> events;
};

TEST(Trace, KeepsTheRulesOfTheModelWhileGroupsComeAndGo) {
  for (const char* kind : {"spin_at_barriers", "spin_at_offers"}) {
    SCOPED_TRACE(kind);
    bool complete = false;
    for (int changes = 40; !complete && changes > 0;
         changes /= 2) {  // halves the number of changes, for fast machines
      UnitLog log;
      const std::uint32_t max_groups = 6;
      Background background{kind, {.max_groups = max_groups, .tracer = &log}};
      std::mt19937 random{7};
      for (int i = 0; i < changes; ++i) {
        background.job.set_target(1 + static_cast<std::uint32_t>(random() % max_groups));
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 1000});
        if (i % 10 == 9 && background.job.suspend() == Status::suspended) background.job.resume();
      }
      for (const std::uint32_t target : {engine().capacity(), 1U}) {
        background.job.set_target(target);
        EXPECT_TRUE(
            eventually([&] { return background.job.report().sizes.back().groups == target; }));
      }
      const Report report = background.end();
      EXPECT_EQ(report.status, Status::finished);
      // Otherwise the log may have overflowed.
      complete = log.events.size() < std::size_t{1} << 20U;
      if (!complete) continue;
      const auto refusal = check_trace(log.events, {.max_groups = max_groups}, report.status);
      EXPECT_FALSE(refusal) << *refusal;
    }
    EXPECT_TRUE(complete);
  }
}

// ---- the other output

TEST(PlainOutput, RunsAsAnOrdinaryKernel) {
  const std::string file = testing::TempDir() + "/add_plain.cl";
  const std::string command =
      std::string{COHORT_TEST_CC} + " " + COHORT_TEST_PROGRAMS + "/add.cl --emit=plain -o " + file;
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe): of our own making
  std::ifstream stream{file};
  const std::string text{std::istreambuf_iterator<char>{stream}, {}};

  const cl::Context context{CL_DEVICE_TYPE_ALL};
  const cl::CommandQueue queue{context};
  const cl::Program program{context, text};
  program.build("-cl-std=CL3.0 -w");
  std::vector<int> a(100, 0);
  std::vector<int> b(100);
  for (int i = 0; i < 100; ++i) b[static_cast<std::size_t>(i)] = i;
  std::vector<std::uint32_t> zeroes(2);
  const cl::Buffer on_a{context, a.begin(), a.end(), false};
  const cl::Buffer on_b{context, b.begin(), b.end(), true};
  const cl::Buffer barrier{context, zeroes.begin(), zeroes.end(), false};
  cl::Kernel kernel{program, "add"};
  kernel.setArg(0, on_a);
  kernel.setArg(1, on_b);
  kernel.setArg(2, 100U);
  kernel.setArg(3, barrier);
  // Its groups spin, so there must not be more of them than CPUs.
  const std::uint32_t groups = std::min(engine().capacity(), cpu::usable_cpus());
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange{groups}, cl::NDRange{1});
  cl::copy(queue, on_a, a.begin(), a.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a[static_cast<std::size_t>(i)], 1000 * i);
}

}  // namespace
}  // namespace cohort::test
