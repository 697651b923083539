// Host code inside the CPU engine: kernels, tasks, tracers and exceptions that call the engine, and
// tasks made from arbitrary callables.
#include <memory>
#include <stdexcept>
#include <thread>

#include "cohort/cpu.hpp"
#include "cohort/periodic.hpp"
#include "conformance/lookout.hpp"
#include "conformance/site.hpp"

namespace cohort::test {
namespace {

/// A tracer that calls the engine whenever a demand is met.
class Calling : public Tracer {
 public:
  explicit Calling(cpu::Engine& engine) : engine_(&engine) {}
  void record(const TraceEvent& /*event*/) noexcept override {}
  void gathered(const TraceGather& /*gather*/) noexcept override {
    engine_->submit([] {}).wait();
    engine_->set_capacity(engine_->capacity());
    if (const Job* const job = own.load()) {
      EXPECT_EQ(job->status(), Status::running);
      try {
        job->wait();
      } catch (const Error& error) {
        refused += error.code() == Errc::bad_state ? 1 : 0;
      }
    }
    ++calls;
  }
  std::atomic<const Job*> own{nullptr};
  std::atomic<std::uint32_t> calls{0};
  std::atomic<std::uint32_t> refused{0};

 private:
  cpu::Engine* engine_;
};

TEST(CpuTracers, MayCallTheEngineButNotWaitForItsOwnJob) {
  cpu::Engine engine{{.capacity = 4}};
  Calling calling{engine};
  engine.submit([] {}, {.groups = 2, .tracer = &calling}).wait();
  EXPECT_EQ(calling.calls, 1U);
  Site site{EngineKind::cpu};
  const OfferingWords words{site};
  const ScopedJob job = engine.launch(words.kernel(), {.max_groups = 3, .tracer = &calling});
  site.until([&] { return groups_now(job) == 3; });
  calling.own = &job;
  job.set_target(1);
  site.until([&] { return calling.calls > 1; });
  finish(job, words.stop);
  EXPECT_EQ(calling.refused, 1U);
  EXPECT_EQ(calling.calls, 2U) << "a demand is met once, though the engine plans anew meanwhile";
}

/// An exception whose what() calls the engine.
struct Asking : std::exception {
  cpu::Engine* engine;
  explicit Asking(cpu::Engine* with) : engine(with) {}
  [[nodiscard]] const char* what() const noexcept override {
    return engine->capacity() == 1 ? "one unit" : "other";
  }
};

TEST(CpuReports, OfAFailureMayCallTheEngineForItsText) {
  cpu::Engine engine{{.capacity = 1}};
  const Task task = engine.submit([&] { throw Asking{&engine}; });
  EXPECT_THROW(task.wait(), Asking);
  EXPECT_THAT(task.report().error, testing::HasSubstr("one unit"));
}

/// A kernel that launches a job of its own and waits for it.
struct Launching {
  cpu::Engine* engine;
  std::atomic<std::uint32_t>* finished;

  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {
    const Job inner = engine->launch(Brief{}, {.max_groups = 1});
    finished->fetch_add(inner.wait().status == Status::finished ? 1 : 0);
  }
};

TEST(CpuKernels, MayLaunchJobs) {
  cpu::Engine engine{{.capacity = 4}};
  std::atomic<std::uint32_t> finished{0};
  const ScopedJob job = engine.launch(Launching{&engine, &finished}, {.max_groups = 3});
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(finished, 3U);
}

/// A kernel that launches a job that offers to leave, and waits for it.
struct Delegating {
  cpu::Engine* engine;
  Offering work;

  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {
    engine->launch(work, {.max_groups = 1}).wait();
  }
};

TEST(CpuKernels, ThatWaitKeepTheirUnitsAndTheJobsTheyWaitFor) {
  cpu::Engine engine{{.capacity = 2}};
  Site site{EngineKind::cpu};
  const OfferingWords words{site};
  const ScopedJob job = engine.launch(Delegating{&engine, words.kernel()}, {.max_groups = 1});
  site.until([&] { return words.turns > 0U; });
  const Task task = engine.submit([] {}, {.groups = 2});
  const std::uint32_t before = words.turns;
  site.until([&] { return words.turns > before + 2; });  // suspending it for the task would hang
  words.stop = 1;
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(task.wait().status, Status::finished);
}

TEST(CpuTasks, ThatThrowReportItAndGiveTheirUnitsBack) {
  cpu::Engine engine{{.capacity = 2}};
  for (int i = 0; i < 20; ++i) {
    const Task task = engine.submit(
        [](auto& group) {
          if (group.group_id() == 1) throw std::runtime_error("broken frame");
          group.global_barrier();  // waits for ever: the other group never arrives
        },
        {.groups = 2});
    EXPECT_THROW(task.wait(), std::runtime_error);
    EXPECT_EQ(task.report().status, Status::failed);
    EXPECT_NE(task.report().error.find("broken frame"), std::string::npos);
  }
  EXPECT_EQ(engine.submit([] {}, {.groups = 2}).wait().status, Status::finished);
}

TEST(CpuTasks, ThatArePeriodicKeepTheirPace) {
  cpu::Engine engine{{.capacity = 2}};
  std::atomic<std::uint32_t> frames{0};
  const auto begin = std::chrono::steady_clock::now();
  Periodic periodic{engine, 5ms, [&] { ++frames; }};
  await([&] { return periodic.report().count >= 20; });
  const PeriodicReport report = periodic.stop();
  const auto time = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(frames, report.count);
  EXPECT_LE(frames, report.count + 1) << "stop() may cancel one";
  EXPECT_LE(report.count, time / 5ms + 1);
  EXPECT_EQ(report.period.count, report.count - 1);
}

TEST(CpuTasks, ThatArePeriodicAndThrowStopAndSaySo) {
  cpu::Engine engine{{.capacity = 2}};
  Lookout lookout{Trace::fault};
  Periodic periodic{
      engine, 1ms, [] { throw std::runtime_error("no frame"); }, {.tracer = &lookout}};
  await([&] { return lookout.seen.load(); });
  EXPECT_THROW(periodic.stop(), std::runtime_error);
  EXPECT_EQ(periodic.report().count, 0U);
}

/// A kernel whose destructor asks for the status of another job.
struct Curious {
  struct Question {
    Job other;
    std::atomic<bool>* asked;
    Question(Job whom, std::atomic<bool>* flag) : other(std::move(whom)), asked(flag) {}
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question() {
      (void)other.status();
      asked->store(true);
    }
  };
  std::shared_ptr<Question> question;

  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {
    std::this_thread::sleep_for(1ms);
  }
};

TEST(CpuKernels, AKernelMayUseTheEngineWhenItIsDestroyed) {
  auto engine = std::make_unique<cpu::Engine>(cpu::EngineOptions{.capacity = 2});
  const Job other = engine->launch(Brief{});
  std::atomic<bool> asked{false};
  (void)engine->launch(Curious{std::make_shared<Curious::Question>(other, &asked)});
  await([&] { return asked.load(); });  // hangs if the engine holds its lock meanwhile
}

}  // namespace
}  // namespace cohort::test
