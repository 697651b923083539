// The engines of the sites, and the script of a test as the host of the explorer.
#include "conformance/site.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "cohort/cpu.hpp"
#ifdef COHORT_TEST_EXPLORER
#include "cohort/explore.hpp"
#endif
#ifdef COHORT_TEST_CUDA
#include "cohort/cuda.hpp"
#endif
#ifdef COHORT_TEST_OPENCL
#include "cohort/opencl.hpp"
#endif

namespace cohort::test {
namespace {

constexpr std::uint32_t most_units = 16;  // more than the cores of most machines

/// Ends the process when a test takes so long that it must be a hang. The message names the test.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  static constexpr auto limit = 600s;

  void OnTestStart(const testing::TestInfo& test) override {
    name_ = std::string{test.test_suite_name()} + "." + test.name();
    ended_ = false;
    thread_ = std::thread{[this] {
      std::unique_lock lock{mutex_};
      if (changed_.wait_for(lock, limit, [this] { return ended_; })) return;
      std::fprintf(stderr, "watchdog: %s still runs after %lld s: something hangs\n", name_.c_str(),
                   static_cast<long long>(limit.count()));
      std::abort();
    }};
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    {
      const std::lock_guard lock{mutex_};
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::string name_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

const bool watched = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);  // GoogleTest then owns it
  return true;
}();

constexpr const char* one_job = "the explorer runs one job, and no task next to it";
constexpr const char* no_clock = "the explorer has no clock";
constexpr const char* no_refusals = "the explorer checks kernels, not the calls of hosts";
constexpr const char* one_thread = "the explorer's host is one thread";

Lacks lacks_of(EngineKind kind) {
  switch (kind) {
    case EngineKind::cpu: break;
    case EngineKind::explorer:
      return {.several_jobs = one_job,
              .capacity = "the explorer's units are fixed",
              .refusals = no_refusals,
              .engine_end = one_job,
              .host_threads = one_thread,
              .stop_tokens = one_thread,
              .times = no_clock,
              .offer_wait = "an explored schedule chooses how long offers wait",
              .offer_intervals = no_clock,
              .sampled_offers =
                  "a lone thread sees a cancel in sampled offers, and the explorer samples none",
              .checkpoints = "the explorer writes no files",
              .complete_traces = "the explorer judges the trace of every run itself",
              .deep_calls = "the explorer's stacks are its own"};
    case EngineKind::cuda:
      return {
          .offer_intervals = "the CUDA engine does not measure intervals between offers",
          .forks = "a CUDA context does not survive a fork",
          .live_traces = "the CUDA engine reports events when a run has ended",
          .complete_traces = "the CUDA engine keeps the last events of each group",
          .divergence = "a GPU does not notice that threads of a group call different functions",
          .leavers = "large groups of a GPU read only the target, also after they left",
          .units_of_one = "groups of the CUDA engine share SMs where there are more of them",
          .deep_calls = "a GPU's stacks are set by its driver"};
    case EngineKind::opencl:
      return {.engine_end = "one OpenCL engine serves all tests; its own suite ends others",
              .offer_intervals = "the OpenCL engine does not measure intervals between offers",
              .checkpoints = "the OpenCL engine writes no checkpoints",
              .live_traces = "the OpenCL engine reports events when a run has ended",
              .complete_traces = "the OpenCL engine keeps as many events as there is room for",
              .local_limits = "a kernel of the dialect takes groups of any size",
              .mixed_sizes = "all groups of a megakernel have one size"};
  }
  return {};
}

#ifdef COHORT_TEST_EXPLORER

/// The job of an explored run, as seen by its host.
class ExploredJob final : public detail::JobControl {
 public:
  ExploredJob(explore::Host& host, const LaunchOptions& options, std::uint32_t most)
      : host_(host), start_(*options.start_groups), most_(most), wanted_(*options.target) {}

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) override {
    if (deadline) {
      host_.linger([this] { return at_rest(host_.status()); });
    } else {
      host_.wait();
    }
    return host_.status();
  }
  void cancel() override {
    if (!at_rest(host_.status())) host_.cancel();
  }
  Status suspend() override { return host_.suspend(); }
  void resume() override {
    host_.resume();
    host_.set_target(wanted_);
  }
  void checkpoint(const std::filesystem::path& /*file*/) const override {}
  void set_target(std::optional<std::uint32_t> groups) override {
    wanted_ = std::min(groups.value_or(most_), most_);
    if (!at_rest(host_.status())) host_.set_target(wanted_);
  }
  [[nodiscard]] Report report() const override {
    Report report;
    report.status = host_.status();
    report.start_groups = start_;
    report.joins = host_.joins();
    report.leaves = host_.leaves();
    report.sizes = {{0, at_rest(report.status) ? 0 : host_.groups()}};
    return report;
  }
  void rethrow() const override {}

 private:
  explore::Host& host_;
  std::uint32_t start_;
  std::uint32_t most_;
  std::uint32_t wanted_;
};

#endif

#ifdef COHORT_TEST_CUDA
/// One engine for all tests, because it takes long to start.
std::unique_ptr<cuda::Engine>& shared_cuda() {
  static std::unique_ptr<cuda::Engine> shared;
  if (!shared) shared = std::make_unique<cuda::Engine>();
  return shared;
}
#endif

#ifdef COHORT_TEST_OPENCL
/// Two engines: one for all tests with one job at a time, and one for the other tests.
struct SharedOpenCl {
  explicit SharedOpenCl(bool several_jobs);
  bool several;
  std::unique_ptr<opencl::Engine> engine;
  std::uint32_t units;  // number of units of the device, as the engine reported it at first
};
std::unique_ptr<SharedOpenCl> opencl_now;

opencl::Engine& shared_opencl() { return *opencl_now->engine; }

void open_opencl(bool several_jobs) {
  if (opencl_now && opencl_now->several == several_jobs) return;
  opencl_now.reset();
  opencl_now = std::make_unique<SharedOpenCl>(several_jobs);
}
#endif

}  // namespace

const char* to_string(EngineKind kind) {
  switch (kind) {
    case EngineKind::cpu: return "cpu";
    case EngineKind::explorer: return "explorer";
    case EngineKind::cuda: return "cuda";
    case EngineKind::opencl: return "opencl";
  }
  return "unknown";
}

struct Site::Engines {
  std::unique_ptr<cpu::Engine> cpu;
#ifdef COHORT_TEST_EXPLORER
  std::unique_ptr<explore::Engine> explorer;
  explore::Host* host = nullptr;  // set while a schedule runs
  std::function<void(explore::Host&)> script;
  bool logging = false;
#endif
};

Site::Site(EngineKind kind)
    : kind_(kind),
      capacity_(most_units),
      lacks_(lacks_of(kind)),
      engines_(std::make_unique<Engines>()) {
  switch (kind) {
    case EngineKind::cpu: break;
    case EngineKind::explorer:
#ifndef COHORT_TEST_EXPLORER
      throw Skip{"the explorer is one thread: nothing for the thread sanitizer"};
#endif
      break;
    case EngineKind::cuda:
#ifdef COHORT_TEST_CUDA
    {
      std::string why;
      if (!cuda::available(&why)) throw Skip{"no CUDA device: " + why};
    }
#else
      throw Skip{"built without CUDA"};
#endif
    break;
    case EngineKind::opencl:
#ifdef COHORT_TEST_OPENCL
      try {
        open_opencl(false);
      } catch (const Error& error) {
        if (error.code() != Errc::unsupported) throw;
        throw Skip{error.what()};
      }
#else
      throw Skip{"built without OpenCL"};
#endif
      break;
  }
  restart(most_units);
}

Site::~Site() = default;

void Site::restart(std::uint32_t units) {
  switch (kind_) {
    case EngineKind::cpu:
      engines_->cpu.reset();
      engines_->cpu = std::make_unique<cpu::Engine>(cpu::EngineOptions{.capacity = units});
      capacity_ = units;
      break;
    case EngineKind::explorer: {
#ifdef COHORT_TEST_EXPLORER
      constexpr std::uint32_t few_units = 3;
      capacity_ = std::min(units, few_units);
      engines_->explorer.reset();
      engines_->explorer = std::make_unique<explore::Engine>(
          explore::Options{.seed = seed_,
                           .capacity = capacity_,
                           .visits = 1000,
                           .host = [this](explore::Host& host) { engines_->script(host); },
                           .max_steps = 200'000});
      engines_->explorer->world().log(engines_->logging);
#endif
      break;
    }
    case EngineKind::cuda:
    case EngineKind::opencl: set_capacity(std::min(units, most_of_device())); break;
  }
}

/// Number of units of the device, as its engine reported it at first.
std::uint32_t Site::most_of_device() {
#ifdef COHORT_TEST_CUDA
  if (kind_ == EngineKind::cuda) {
    static const std::uint32_t most = cuda().capacity();
    return most;
  }
#endif
#ifdef COHORT_TEST_OPENCL
  return opencl_now->units;
#else
  return 1;
#endif
}

void Site::needs_several_jobs() {
  needs(lacks_.several_jobs);
#ifdef COHORT_TEST_OPENCL
  if (kind_ != EngineKind::opencl) return;
  open_opencl(true);
  restart(most_units);
#endif
}

void Site::end() {
  engines_->cpu.reset();
#ifdef COHORT_TEST_CUDA
  if (kind_ == EngineKind::cuda) shared_cuda().reset();
#endif
}

void Site::set_capacity(std::uint32_t units) {
  switch (kind_) {
    case EngineKind::cpu:
      cpu().set_capacity(units);
      capacity_ = cpu().capacity();
      break;
    case EngineKind::explorer: break;
    case EngineKind::cuda:
#ifdef COHORT_TEST_CUDA
      cuda().set_capacity(units);
      capacity_ = cuda().capacity();
#endif
      break;
    case EngineKind::opencl:
#ifdef COHORT_TEST_OPENCL
      shared_opencl().set_capacity(units);
      capacity_ = shared_opencl().capacity();
#endif
      break;
  }
}

cpu::Engine& Site::cpu() { return *engines_->cpu; }
#ifdef COHORT_TEST_EXPLORER
explore::Engine& Site::explorer() { return *engines_->explorer; }
#endif
#ifdef COHORT_TEST_CUDA
cuda::Engine& Site::cuda() { return *shared_cuda(); }
#endif

Buffer<std::uint32_t> Site::allocate(std::size_t words, std::uint32_t value) {
  switch (kind_) {
    case EngineKind::cpu: break;
    case EngineKind::explorer:
#ifdef COHORT_TEST_EXPLORER
      return explorer().fill(words, value);
#endif
    case EngineKind::cuda:
#ifdef COHORT_TEST_CUDA
      return cuda().fill(words, value);
#endif
    case EngineKind::opencl:
#ifdef COHORT_TEST_OPENCL
      return shared_opencl().fill(words, value);
#endif
      break;
  }
  return cpu().fill(words, value);
}

std::uint32_t Site::load(const Buffer<std::uint32_t>& buffer, std::size_t at) const {
#ifdef COHORT_TEST_EXPLORER
  if (explored()) return explore::AtomicRef{buffer.data()[at]}.load();
#endif
  if (kind_ == EngineKind::cuda) return buffer.read()[at];
  return std::atomic_ref{buffer.data()[at]}.load();
}

void Site::store(const Buffer<std::uint32_t>& buffer, std::size_t at, std::uint32_t value) {
#ifdef COHORT_TEST_EXPLORER
  if (explored()) {
    explore::AtomicRef{buffer.data()[at]}.store(value);
    return;
  }
#endif
  if (kind_ == EngineKind::cuda) {
    buffer.write(std::span{&value, 1}, at);
  } else {
    std::atomic_ref{buffer.data()[at]}.store(value);
  }
}

void Site::until(const std::function<bool()>& done) {
#ifdef COHORT_TEST_EXPLORER
  if (explored()) {
    engines_->host->until(done);
    return;
  }
#endif
  await(done);
}

void Site::linger(std::chrono::microseconds time) {
#ifdef COHORT_TEST_EXPLORER
  if (explored()) {
    engines_->host->linger([] { return false; });
    return;
  }
#endif
  std::this_thread::yield();
  std::this_thread::sleep_for(time);
}

std::vector<Shape> Site::shapes() const {
  switch (kind_) {
    case EngineKind::cpu: break;
    case EngineKind::explorer: return {{1, 1}, {2, 1}, {3, 1}, {2, 2}};
    case EngineKind::cuda: return {{1, 32}, {2, 100}, {5, 64}, {3, 1024}, {capacity_, 256}};
    case EngineKind::opencl: return {{1, 1}, {2, 1}, {capacity_, 1}};
  }
  std::vector<Shape> result;
  const std::vector<std::uint32_t> sizes = scale() < 0.5
                                               ? std::vector{1U, 2U, 5U, capacity_}
                                               : std::vector{1U, 2U, 3U, 5U, 8U, capacity_};
  for (const std::uint32_t local_size : {1U, 4U}) {
    for (const std::uint32_t groups : sizes) {
      // Under the thread sanitizer, a fibre costs a millisecond.
      if (thread_sanitized && groups * local_size > 20) continue;
      result.push_back({groups, local_size});
    }
  }
  return result;
}

std::vector<std::uint32_t> Site::local_sizes() const {
  switch (kind_) {
    case EngineKind::cpu: break;
    case EngineKind::explorer: return {1, 2, 4};
    case EngineKind::cuda: return {2, 31, 32, 33, 256, 1000, 1024};
    case EngineKind::opencl: return {1, 4};
  }
  // Under the thread sanitizer, a fibre costs a millisecond.
  if (thread_sanitized) return {1, 2, 4, 33, 256};
  return {1, 2, 4, 33, 256, 1024};
}

void Site::repeat(const std::function<void(Site&)>& body) {
  if (!explored()) {
    body(*this);
    return;
  }
#ifdef COHORT_TEST_EXPLORER
  seeds_ = scaled(200, 10);
  for (seed_ = 1; seed_ <= seeds_; ++seed_) {
    restart(most_units);
    body(*this);
    if (testing::Test::IsSkipped()) return;
    if (!testing::Test::HasFailure()) continue;
    engines_->logging = true;  // the failing schedule runs again to print its timeline
    restart(most_units);
    body(*this);
    return;
  }
#endif
}

Report Site::run(const Launch& launches, const LaunchOptions& options, const Script& script,
                 const End& end) {
  Report report;
  const Script to_the_end = [&](const Job& job) {
    script(job);
    // The script gave up, so the job may not end by itself.
    if (testing::Test::HasFatalFailure()) return;
    report = job.wait();
    EXPECT_THAT(report.status, end);
  };
  if (explored()) {
    explore(launches, options, to_the_end);
  } else {
    const ScopedJob job = launches(options);
    to_the_end(job);
  }
  return report;
}

void Site::run_broken(const Launch& launches, const LaunchOptions& options, const Message& message,
                      const Script& script) {
  if (explored()) {
    explore(launches, options, script, &message);
    return;
  }
  const ScopedJob job = launches(options);
  script(job);
  try {
    const Report report = job.wait();
    ADD_FAILURE() << "the job ended as " << cohort::to_string(report.status);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::broken_contract);
    EXPECT_THAT(
        error.what(),
        AllOf(message, testing::HasSubstr("run the kernel under the explorer: cohort::explore")));
  }
  EXPECT_EQ(job.status(), Status::failed);
  EXPECT_THAT(job.report().error, message);
}

#ifdef COHORT_TEST_EXPLORER

void Site::explore(const Launch& launches, const LaunchOptions& options, const Script& script,
                   const Message* failure) {
  // With reports, a schedule takes longer.
  if (failure != nullptr) seeds_ = std::min(seeds_, std::uint64_t{20});
  LaunchOptions with = options;
  const std::uint32_t most = std::min(options.max_groups.value_or(capacity_), capacity_);
  with.target = std::min(options.target.value_or(most), most);
  with.start_groups = std::min(options.start_groups.value_or(*with.target), most);
  engines_->script = [&](explore::Host& host) {
    engines_->host = &host;
    const Job job{std::make_shared<ExploredJob>(host, with, most)};
    script(job);
    if (failure == nullptr) job.cancel();  // if the script gave up, the job is still running
    host.wait();
  };
  try {
    launches(with).wait();
    if (failure != nullptr) ADD_FAILURE() << "seed " << seed_ << ": nothing was found wrong";
  } catch (const Error& error) {
    if (failure == nullptr) {
      ADD_FAILURE() << "seed " << seed_ << ": " << error.what();
    } else {
      EXPECT_THAT(explorer().result().failure, *failure) << "seed " << seed_;
    }
  }
  engines_->host = nullptr;
  explorer().world().next();
  explorer().begin();
}

#else

void Site::explore(const Launch& /*launches*/, const LaunchOptions& /*options*/,
                   const Script& /*script*/, const Message* /*failure*/) {}

#endif

void SiteTest::run(const std::function<void(Site&)>& body) const {
  try {
    Site site{GetParam()};
    for (const auto need : needs_) {
      need == &Lacks::several_jobs ? site.needs_several_jobs() : site.needs(site.lacks().*need);
    }
    site.repeat(body);
  } catch (const Skip& skip) {
    GTEST_SKIP() << skip.reason;
  }
}

// ---- OpenCL: the kernels in OpenCL C

#ifdef COHORT_TEST_OPENCL

namespace {

/// The compiled program kernels/<file>.cl, with one of the resizing barriers.
const Program& twins(const std::string& file, ResizingBarrier barrier) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, ResizingBarrier>, Program> programs;
  const std::lock_guard lock{mutex};
  const std::pair key{file, barrier};
  auto found = programs.find(key);
  if (found == programs.end()) {
    const auto path = std::filesystem::path{COHORT_TEST_TWINS} / (file + ".cl");
    const ProgramOptions options{.engine = "opencl", .barrier = barrier};
    found = programs.emplace(key, Program::from_file(path, options)).first;
  }
  return found->second;
}

/// The kernel of the program, with its arguments in the order of its parameters.
ProgramKernel bound(const auto& twin) {
  const std::size_t slash = twin.name.find('/');
  ProgramKernel kernel =
      twins(twin.name.substr(0, slash), twin.traits.barrier).kernel(twin.name.substr(slash + 1));
  const KernelInfo& info = kernel.info();
  if (info.parameters.size() != twin.arguments.size() ||
      info.kill_order != twin.traits.kill_order || info.survivors != twin.traits.survivors) {
    throw std::logic_error{"the twin " + twin.name + " has other parameters or traits"};
  }
  for (std::size_t i = 0; i < twin.arguments.size(); ++i) {
    const auto set = [&](auto value) { kernel.set(info.parameters[i].name, value); };
    std::visit(set, twin.arguments[i]);
  }
  return kernel;
}

/// Uses more groups than CPUs, if the device supports that, and a scheduler group if
/// COHORT_TEST_SCHEDULER is set.
SharedOpenCl::SharedOpenCl(bool several_jobs) : several(several_jobs) {
  std::uint32_t most = 1;
  for (const opencl::Device& each : opencl::devices()) {
    if (each.lacks.empty()) most = std::min(each.units, 6U);
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const bool by_group = std::getenv("COHORT_TEST_SCHEDULER") != nullptr;
  engine = std::make_unique<opencl::Engine>(opencl::EngineOptions{
      .capacity = most,
      .patience = 10min,  // long, because a machine may be busy
      .scheduler = by_group ? opencl::Scheduler::group : opencl::Scheduler::host,
      // With which PoCL compiles in half the time.
      .build_options = by_group ? "" : "-cl-opt-disable"});
  units = engine->capacity();
  if (!several) return;  // then each kernel gets a megakernel of its own, which compiles sooner
  for (const char* file : {"jobs", "shared_engine", "tasks"})
    engine->load(twins(file, ResizingBarrier::one_pass));
}

}  // namespace

Job Site::launch_twin(const BoundTwin& twin, const LaunchOptions& options) {
  return bound(twin).launch(shared_opencl(), options);
}
Task Site::submit_twin(const BoundTwin& twin, const TaskOptions& options) {
  return bound(twin).submit(shared_opencl(), options);
}

#else

Job Site::launch_twin(const BoundTwin& /*twin*/, const LaunchOptions& /*options*/) {
  throw Skip{"built without OpenCL"};
}
Task Site::submit_twin(const BoundTwin& /*twin*/, const TaskOptions& /*options*/) {
  throw Skip{"built without OpenCL"};
}

#endif

}  // namespace cohort::test
