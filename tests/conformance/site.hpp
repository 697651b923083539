// The engines on which the conformance suite runs, behind one interface. A test is a function of a
// Site: it takes words of the site's memory, runs kernels on the site, and says what the host does
// meanwhile. Invariant: if an engine does not offer what a test needs, the test is skipped with a
// reason; nothing is left out silently.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "cohort/buffer.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/task.hpp"
#include "conformance/entries.hpp"
#include "conformance/kernels/jobs.hpp"
#include "conformance/scale.hpp"
#include "conformance/waiting.hpp"

namespace cohort::test {

enum class EngineKind : std::uint8_t { cpu, explorer, cuda, opencl };
[[nodiscard]] const char* to_string(EngineKind kind);

/// For each feature, why an engine lacks it; null if it has the feature.
struct Lacks {
  const char* several_jobs = nullptr;  ///< several jobs and tasks at the same time
  const char* capacity = nullptr;      ///< a change of the capacity while jobs run
  const char* refusals = nullptr;      ///< errors for wrong options and calls
  const char* engine_end = nullptr;    ///< an engine that can be destroyed together with its jobs
  const char* host_threads = nullptr;  ///< calls from several host threads
  const char* stop_tokens = nullptr;   ///< LaunchOptions::stop
  const char* times = nullptr;         ///< times of waits and reports in nanoseconds
  const char* offer_wait = nullptr;    ///< LaunchOptions::offer_wait
  const char* offer_intervals = nullptr;  ///< Report::offers
  const char* sampled_offers = nullptr;   ///< offers that sometimes take the slow path
  const char* checkpoints = nullptr;      ///< checkpoint files of suspended jobs
  const char* forks = nullptr;            ///< fork(), which copies this process
  const char* live_traces = nullptr;      ///< events that are reported while the job runs
  const char* complete_traces = nullptr;  ///< traces with every event of every group
  const char* divergence = nullptr;       ///< threads of a group that take different paths
  const char* leavers = nullptr;  ///< detection of a group that continues after it had to leave
  const char* units_of_one = nullptr;  ///< a limit of one group per unit
  const char* deep_calls = nullptr;    ///< stacks of 64 KiB
  const char* local_limits = nullptr;  ///< kernels that limit their local size
  const char* mixed_sizes = nullptr;   ///< different local sizes in different jobs
};

/// Thrown to skip a test.
struct Skip {
  std::string reason;
};

/// The size of a job.
struct Shape {
  std::uint32_t groups = 1;
  std::uint32_t local_size = 1;

  /// Launch options for this shape; other options stay as they are.
  [[nodiscard]] LaunchOptions options(LaunchOptions others = {}) const {
    others.max_groups = groups;
    others.local_size = local_size;
    return others;
  }
};

class Site {
 public:
  using Script = std::function<void(const Job&)>;
  using Message = testing::Matcher<std::string>;
  using End = testing::Matcher<Status>;

  /// Throws Skip if there is no such engine.
  explicit Site(EngineKind kind);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site();

  [[nodiscard]] EngineKind kind() const { return kind_; }
  [[nodiscard]] bool explored() const { return kind_ == EngineKind::explorer; }
  /// Number of units of the engine: 16, or fewer on a small one.
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] const Lacks& lacks() const { return lacks_; }
  void needs(const char* lack) const {
    if (lack != nullptr) throw Skip{lack};
  }
  /// Skips the test if jobs and tasks cannot run at the same time. Call it before anything else.
  void needs_several_jobs();
  /// Skips the test if the engine has fewer units.
  void needs_units(std::uint32_t units) const {
    if (capacity_ < units) throw Skip{"needs " + std::to_string(units) + " units"};
  }

  /// Replaces the engine by a new one with this many units, or fewer on a small device.
  void restart(std::uint32_t units);
  /// Destroys the engine.
  void end();
  /// Calls Engine::set_capacity.
  void set_capacity(std::uint32_t units);

  /// Launches a kernel, calls `script(job)` while it runs, and waits for the job, which must
  /// finish. On the explorer, the script is the host in each schedule.
  template <class Kernel>
  Report run(
      const Kernel& kernel, const LaunchOptions& options,
      const Script& script = [](const Job&) {}) {
    return run(launcher(kernel), options, script, Status::finished);
  }
  /// Like run(), for a job that must end with another status.
  template <class Kernel>
  Report run_to(const End& end, const Kernel& kernel, const LaunchOptions& options,
                const Script& script) {
    return run(launcher(kernel), options, script, end);
  }
  /// Like run(), for a kernel that breaks a rule: wait() or the explorer must report it with a
  /// matching message.
  template <class Kernel>
  void run_broken(
      const Kernel& kernel, const LaunchOptions& options, const Message& message,
      const Script& script = [](const Job&) {}) {
    run_broken(launcher(kernel), options, message, script);
  }

  /// Launches a job, for tests with several jobs, and for tests that the explorer cannot run.
  template <class Kernel>
  [[nodiscard]] Job launch(const Kernel& kernel, const LaunchOptions& options = {}) {
    return on_engine<Kernel>(
        [&]<class Engine>(Engine & engine) requires compiled<Engine, Kernel> {
          return test::start(engine, kernel, options);
        },
        [&](const BoundTwin& twin) { return launch_twin(twin, options); }, &kernel);
  }
  template <class Kernel>
  [[nodiscard]] Job restore(const Kernel& kernel, const std::filesystem::path& file) {
    return on_engine<Kernel>([&]<class Engine>(Engine & engine) requires has_tasks<Engine> {
      return test::restore(engine, kernel, file);
    });
  }
  template <class Function>
  [[nodiscard]] Task submit(const Function& function, const TaskOptions& options = {}) {
    return on_engine<Function>(
        [&]<class Engine>(Engine & engine) requires has_tasks<Engine> {
          return test::submit(engine, function, options);
        },
        [&](const BoundTwin& twin) { return submit_twin(twin, options); }, &function);
  }

  /// Waits until `done()`. May be called inside and outside of scripts.
  void until(const std::function<bool()>& done);
  /// Waits until the job has started.
  void until_started(const Job& job) {
    until([&job] { return job.status() != Status::pending; });
  }
  /// Waits for `time`. On the explorer, waits for as long as the schedule chooses.
  void linger(std::chrono::microseconds time);

  /// Memory of the engine, and access to one word of it while kernels run.
  [[nodiscard]] Buffer<std::uint32_t> allocate(std::size_t words, std::uint32_t value);
  [[nodiscard]] std::uint32_t load(const Buffer<std::uint32_t>& buffer, std::size_t at) const;
  void store(const Buffer<std::uint32_t>& buffer, std::size_t at, std::uint32_t value);

  /// The sizes of jobs with which tests run on this engine.
  [[nodiscard]] std::vector<Shape> shapes() const;
  [[nodiscard]] std::vector<std::uint32_t> local_sizes() const;

  /// Runs `body(site)` as the test of this site. On the explorer it runs for many schedules.
  void repeat(const std::function<void(Site&)>& body);

 private:
  /// The OpenCL C version of a kernel, with its arguments.
  struct BoundTwin {
    std::string name;  // "<file>/<kernel>"
    std::vector<std::variant<std::uint32_t, std::uint32_t*>> arguments;
    Traits traits;
  };
  /// A kernel with other traits has its own version in OpenCL C, whose name contains the traits.
  template <class Kernel>
  static BoundTwin bind_twin(const Kernel& kernel) {
    const auto [name, values] = kernel.twin();
    BoundTwin twin{name, {}, cohort::detail::declared_traits<Kernel>()};
    if (twin.traits.kill_order == KillOrder::any) twin.name += "_in_any_order";
    if (twin.traits.survivors == Survivors::may_all_leave) twin.name += "_may_all_leave";
    const auto add = [&twin](auto value) {
      if constexpr (std::is_pointer_v<decltype(value)>) {
        twin.arguments.emplace_back(value);
      } else {
        twin.arguments.emplace_back(static_cast<std::uint32_t>(value));
      }
    };
    std::apply([&add](auto... value) { (add(value), ...); }, values);
    return twin;
  }
  struct Engines;
  using Launch = std::function<Job(const LaunchOptions&)>;

  template <class Kernel>
  Launch launcher(const Kernel& kernel) {
    return [this, &kernel](const LaunchOptions& options) { return launch(kernel, options); };
  }
  Report run(const Launch& launches, const LaunchOptions& options, const Script& script,
             const End& end);
  void run_broken(const Launch& launches, const LaunchOptions& options, const Message& message,
                  const Script& script);
  void explore(const Launch& launches, const LaunchOptions& options, const Script& script,
               const Message* failure = nullptr);

  /// Calls `call(engine)` for the engine in use. For OpenCL calls `call_twin(twin)`.
  template <class Kernel, class Call, class CallTwin = std::nullptr_t>
  std::invoke_result_t<Call, cpu::Engine&> on_engine(Call call, CallTwin call_twin = {},
                                                     const Kernel* kernel = nullptr) {
    switch (kind_) {
      case EngineKind::cpu: return call(cpu());
      case EngineKind::explorer:
#ifdef COHORT_TEST_EXPLORER
        if constexpr (std::is_invocable_v<Call, explore::Engine&>) return call(explorer());
#endif
        break;
      case EngineKind::cuda:
#ifdef COHORT_TEST_CUDA
        if constexpr (std::is_invocable_v<Call, cuda::Engine&>) return call(cuda());
#endif
        break;
      case EngineKind::opencl:
        if constexpr (requires { Kernel::no_twin; }) {
          throw Skip{Kernel::no_twin};
        } else {
          return call_twin(bind_twin(*kernel));
        }
    }
    throw Skip{std::string{"not compiled for "} + to_string(kind_)};
  }
  std::uint32_t most_of_device();
  cpu::Engine& cpu();
  explore::Engine& explorer();
  cuda::Engine& cuda();
  static Job launch_twin(const BoundTwin& twin, const LaunchOptions& options);
  static Task submit_twin(const BoundTwin& twin, const TaskOptions& options);
  EngineKind kind_;
  std::uint32_t capacity_;
  Lacks lacks_;
  std::uint64_t seed_ = 1;  // for the explorer's schedules
  std::uint64_t seeds_ = 1;
  std::unique_ptr<Engines> engines_;
};

/// Words that the host and kernels access.
class Words {
 public:
  explicit Words(Site& site, std::size_t count = 1, std::uint32_t value = 0)
      : site_(&site), buffer_(site.allocate(count, value)) {}

  [[nodiscard]] std::uint32_t* data() const { return buffer_.data(); }
  /// The value of one word. Works while kernels run.
  [[nodiscard]] std::uint32_t operator[](std::size_t at) const { return site_->load(buffer_, at); }
  void set(std::size_t at, std::uint32_t value) const { site_->store(buffer_, at, value); }
  /// The values of all words. Call it only when no kernel runs.
  [[nodiscard]] std::vector<std::uint32_t> read() const { return buffer_.read(); }

 private:
  Site* site_;
  Buffer<std::uint32_t> buffer_;
};

/// A single word.
class Word : public Words {
 public:
  explicit Word(Site& site, std::uint32_t value = 0) : Words(site, 1, value) {}
  operator std::uint32_t() const { return (*this)[0]; }  // NOLINT: stands for the value
  const Word& operator=(std::uint32_t value) const {     // NOLINT: of what it stands for
    set(0, value);
    return *this;
  }
};

/// A word in which kernels count mistakes. It must be 0 at the end of the test.
class Mistakes : public Word {
 public:
  using Word::Word;
  ~Mistakes() { EXPECT_EQ(*this, 0U) << "mistakes, counted by the kernel"; }
};

/// Tells a job to return, and waits until it has.
inline Report finish(const Job& job, const Word& stop) {
  stop = 1;
  Report report = job.wait();
  EXPECT_EQ(report.status, Status::finished);
  return report;
}

/// The host's side of Notes.
class NoteBook : public Words {
 public:
  explicit NoteBook(Site& site) : Words(site, 1 + Notes::room) {}
  [[nodiscard]] Notes notes() const { return {data()}; }
  [[nodiscard]] std::uint32_t size() const { return (*this)[0]; }
  [[nodiscard]] std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> words = read();
    words.resize(1 + std::min(words[0], Notes::room));
    words.erase(words.begin());
    return words;
  }
  [[nodiscard]] std::vector<std::uint32_t> sorted() const {
    std::vector<std::uint32_t> result = all();
    std::sort(result.begin(), result.end());
    return result;
  }
};

/// The host's side of Leavers.
class LeaverBook : public Words {
 public:
  explicit LeaverBook(Site& site) : Words(site, Leavers::most_ids) {}
  [[nodiscard]] Leavers leavers() const { return {data()}; }
  /// The ids with which groups have left. Call it once the job has ended.
  [[nodiscard]] std::vector<std::uint32_t> ids() const {
    std::vector<std::uint32_t> result;
    const std::vector<std::uint32_t> counts = read();
    for (std::uint32_t id = 0; id < counts.size(); ++id)
      result.insert(result.end(), counts[id], id);
    return result;
  }
};

/// The host's side of Ids. Checks that no two groups have held an id at the same time.
class IdBook : public Words {
 public:
  explicit IdBook(Site& site) : Words(site, Ids::size) {}
  ~IdBook() { EXPECT_EQ((*this)[Ids::clashes], 0U) << "groups with an id of another"; }
  [[nodiscard]] Ids ids() const { return {data()}; }
  [[nodiscard]] std::uint32_t most_inside() const { return (*this)[Ids::most_inside]; }
};

/// The host's side of Board for one march, and the word that stops the march. Checks that no group
/// has found a mistake.
class March : public Words {
 public:
  explicit March(Site& site) : Words(site, Board::size), stop(site) {}
  ~March() { EXPECT_EQ((*this)[Board::wrong], 0U) << "mistakes, counted by the march"; }
  template <class Kernel = Steps>
  [[nodiscard]] Kernel kernel() const {
    return {Board{data()}, stop.data()};
  }
  [[nodiscard]] std::uint32_t steps() const { return (*this)[Board::steps]; }
  [[nodiscard]] std::uint32_t groups() const { return (*this)[Board::groups]; }
  Word stop;
};

/// The words of Everything.
struct EverythingWords : Words {
  explicit EverythingWords(Site& site) : Words(site, Everything::size), stop(site), ids(site) {}
  ~EverythingWords() { EXPECT_EQ((*this)[Everything::wrong], 0U); }
  [[nodiscard]] Everything kernel() const { return {data(), stop.data(), ids.ids()}; }
  [[nodiscard]] std::uint32_t rounds() const { return (*this)[Everything::rounds]; }
  Word stop;
  IdBook ids;
};

/// The numbers first, first + 1, ... up to last - 1.
inline std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = first; i < last; ++i) result.push_back(i);
  return result;
}

/// Calls `test(shape)` for each of the site's shapes.
template <class Test>
void for_each_shape(const Site& site, Test test) {
  for (const Shape shape : site.shapes()) {
    SCOPED_TRACE(testing::Message()
                 << shape.groups << " groups of " << shape.local_size << " threads");
    test(shape);
    if (testing::Test::HasFailure()) return;
  }
}

inline const char* to_string(ResizingBarrier barrier) {
  switch (barrier) {
    case ResizingBarrier::one_pass: return "one_pass";
    case ResizingBarrier::query: return "query";
    case ResizingBarrier::plain: return "plain";
    case ResizingBarrier::modelled: return "modelled";
  }
  return "unknown";
}

/// A kernel as an instance of a derived kernel with other traits.
template <class Derived, class Kernel>
Derived as(const Kernel& kernel) {
  if constexpr (std::is_same_v<Derived, Kernel>) {
    return kernel;
  } else {
    return Derived{kernel};
  }
}

/// The words of Offering.
struct OfferingWords {
  explicit OfferingWords(Site& site) : stop(site), present(site), turns(site), returned(site) {}
  template <class Kernel = Offering>
  [[nodiscard]] Kernel kernel() const {
    return as<Kernel>(Offering{stop.data(), present.data(), turns.data(), returned.data()});
  }
  Word stop, present, turns, returned;
};

/// The words of ComingAndGoing.
struct ComingWords {
  explicit ComingWords(Site& site) : stop(site), ids(site), wrong(site) {}
  template <class Kernel>
  [[nodiscard]] Kernel kernel() const {
    return {stop.data(), ids.ids(), wrong.data()};
  }
  Word stop;
  IdBook ids;
  Mistakes wrong;
};

/// The words of several Background jobs.
struct BackgroundWords {
  static constexpr std::uint32_t count = 64;
  explicit BackgroundWords(Site& its_site)
      : site(its_site), stop(its_site), monitor(its_site, Background::size) {}
  /// Launches a job with items of its own, under the same monitor.
  [[nodiscard]] Job launch(const LaunchOptions& options = {}) {
    items.emplace_back(site, count);
    return site.launch(Background{items.back().data(), count, stop.data(), monitor.data()},
                       options);
  }
  [[nodiscard]] std::uint32_t most() const { return monitor[Background::most]; }
  Site& site;
  std::deque<Words> items;
  Word stop;
  Words monitor;
};

/// The kernel with one of the resizing barriers. Use it as `with(barrier, Kernel{...})` in
/// for_each_barrier.
template <ResizingBarrier barrier, class Kernel>
Meeting<Kernel, barrier> with(std::integral_constant<ResizingBarrier, barrier> /*which*/,
                              const Kernel& kernel) {
  return as<Meeting<Kernel, barrier>>(kernel);
}

/// Calls `test(barrier)` for each resizing barrier with which the site has `Kernel`.
template <class Kernel, class Test>
void for_each_barrier(const Site& site, Test test) {
  const auto each = [&]<ResizingBarrier barrier>() {
    constexpr bool everywhere = compiled<explore::Engine, Meeting<Kernel, barrier>>;
    if (!everywhere && site.kind() != EngineKind::cpu) return;
    SCOPED_TRACE(testing::Message() << "resizing barrier " << to_string(barrier));
    if (!testing::Test::HasFailure()) test(std::integral_constant<ResizingBarrier, barrier>{});
  };
  each.template operator()<ResizingBarrier::one_pass>();
  each.template operator()<ResizingBarrier::query>();
  each.template operator()<ResizingBarrier::plain>();
  each.template operator()<ResizingBarrier::modelled>();
}

/// Calls `test(barrier, shape)` for each such barrier in each shape.
template <class Kernel, class Test>
void for_each_barrier_and_shape(const Site& site, Test test) {
  for_each_barrier<Kernel>(site, [&](auto barrier) {
    for_each_shape(site, [&](Shape shape) { test(barrier, shape); });
  });
}

/// A test that runs on each engine. It is skipped with the reason if the engine lacks what its
/// suite needs.
class SiteTest : public testing::TestWithParam<EngineKind> {
 protected:
  SiteTest(std::initializer_list<const char * Lacks::*> needs) : needs_(needs) {}
  void run(const std::function<void(Site&)>& body) const;

 private:
  std::vector<const char * Lacks::*> needs_;
};
inline std::string engine_name(const testing::TestParamInfo<EngineKind>& test) {
  return to_string(test.param);
}

/// Defines a suite of tests. Its further arguments are members of Lacks that the suite needs.
#define COHORT_SITE_SUITE(Suite, ...)                                             \
  class Suite : public SiteTest {                                                 \
   protected:                                                                     \
    Suite() : SiteTest({__VA_ARGS__}) {}                                          \
  };                                                                              \
  INSTANTIATE_TEST_SUITE_P(On, Suite,                                             \
                           testing::Values(EngineKind::cpu, EngineKind::explorer, \
                                           EngineKind::cuda, EngineKind::opencl), \
                           engine_name)

/// Defines a test as a function of `site`.
#define COHORT_SITE_TEST(Suite, Name)        \
  static void Suite##Name(Site& site);       \
  TEST_P(Suite, Name) { run(&Suite##Name); } \
  static void Suite##Name([[maybe_unused]] Site& site)

/// Defines a test as a function of `site` and each `shape` of its jobs.
#define COHORT_SHAPE_TEST(Suite, Name)                                                             \
  static void Suite##Name(Site& site, Shape shape);                                                \
  TEST_P(Suite, Name) {                                                                            \
    run([](Site& site) { for_each_shape(site, [&](Shape shape) { Suite##Name(site, shape); }); }); \
  }                                                                                                \
  static void Suite##Name(Site& site, Shape shape)

/// Defines a test as a function of `site`, each `barrier` that Kernel has there, and each `shape`.
#define COHORT_BARRIER_TEST(Suite, Name, Kernel)                                        \
  static void Suite##Name(Site& site, auto barrier, Shape shape);                       \
  TEST_P(Suite, Name) {                                                                 \
    run([](Site& site) {                                                                \
      for_each_barrier_and_shape<Kernel>(                                               \
          site, [&](auto barrier, Shape shape) { Suite##Name(site, barrier, shape); }); \
    });                                                                                 \
  }                                                                                     \
  static void Suite##Name(Site& site, auto barrier, Shape shape)

}  // namespace cohort::test
