#include "bench/cuda/beside.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include "apps/cuda/runs.hpp"
#include "bench/cuda/blas.hpp"
#include "bench/cuda/hold.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/product.hpp"
#include "bench/cuda/words.hpp"
#include "bench/load.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;
using Serve = std::function<Load::Served()>;

double ns(nanoseconds time) { return static_cast<double>(time.count()); }

/// As the engine's traces have it.
std::uint64_t now() {
  return static_cast<std::uint64_t>(nanoseconds{Clock::now().time_since_epoch()}.count());
}

apps::RunOptions with_groups(std::uint32_t groups, bool resizable = true) {
  apps::RunOptions options;
  options.launch.max_groups = groups;
  options.launch.local_size = cuda_local_size;
  options.launch.resizable = resizable;
  return options;
}

std::vector<double> values_of(const std::vector<TaskSample>& tasks,
                              std::uint64_t TaskSample::*what) {
  std::vector<double> values;
  for (const TaskSample& each : tasks) values.push_back(static_cast<double>(each.*what));
  return values;
}

// ---- gather

/// The resizing points that a job has passed: those of all its groups at barriers, of each group at
/// offers. Told in the order of time.
class Points final : public Tracer {
 public:
  void record(const TraceEvent& event) noexcept override {
    const std::uint64_t time = event.nanoseconds;
    if (event.what == Trace::offer) offers_[event.group].push_back(time);
    if (event.what == Trace::pass && (barriers_.empty() || barriers_.back() != time))
      barriers_.push_back(time);
  }

  /// When the groups from `first` on have all passed one since `asked`, if they have by `held`.
  [[nodiscard]] std::optional<std::uint64_t> next(std::uint64_t asked, std::uint64_t held,
                                                  std::uint32_t first) const {
    std::optional<std::uint64_t> result = next_of(barriers_, asked, held);
    for (auto its = offers_.lower_bound(first); its != offers_.end(); ++its)
      result = std::max(result, next_of(its->second, asked, held));
    return result;
  }

 private:
  /// Nothing either while the job was starting.
  static std::optional<std::uint64_t> next_of(const std::vector<std::uint64_t>& points,
                                              std::uint64_t asked, std::uint64_t held) {
    const auto next = std::ranges::upper_bound(points, asked);
    if (next == points.begin() || next == points.end() || *next > held) return std::nullopt;
    return *next;
  }

  std::vector<std::uint64_t> barriers_;
  std::map<std::uint32_t, std::vector<std::uint64_t>> offers_;  // by group
};

/// Demands at random beside an app, each compared with the next resizing point of that same run.
class Gathers {
 public:
  Gathers(const Variant& variant, cuda::Engine& engine, Holder& holder)
      : variant_(variant), engine_(engine), holder_(holder) {
    const Report alone = variant.run(engine, with_groups(engine.capacity()));
    longest_pause_ = std::min<nanoseconds>(alone.run_time, milliseconds{2});
  }

  struct Samples {
    std::vector<double> held;   ///< since the demand
    std::vector<double> point;  ///< likewise
  };
  Samples measure(std::uint32_t sms, Checks& checks, const ScenarioOptions& options) {
    Samples samples;
    const std::size_t enough = options.quick ? 5 : 100;
    const auto until = Clock::now() + std::chrono::seconds{4};
    for (bool first = true; samples.held.size() < enough && Clock::now() < until; first = false) {
      if (options.stop.stop_requested()) throw Stopped{};
      run_once(sms, first ? &checks : nullptr, samples);
    }
    return samples;
  }

 private:
  void run_once(std::uint32_t sms, Checks* checks, Samples& samples) {
    Points points;
    std::vector<std::pair<std::uint64_t, double>> demands;
    apps::RunOptions how = with_groups(engine_.capacity());
    how.launch.tracer = &points;
    how.drive = [&](const Job& job) {
      std::uniform_int_distribution<nanoseconds::rep> pause{0, longest_pause_.count()};
      while (!job.wait_for(nanoseconds{pause(random_)})) {
        const std::uint64_t asked = now();
        demands.emplace_back(asked, holder_.hold(sms));
      }
      return job.wait();
    };
    static_cast<void>(variant_.run(engine_, how, checks));
    for (const auto& [asked, held] : demands) {
      const auto next = points.next(asked, asked + static_cast<std::uint64_t>(held),
                                    engine_.capacity() - sms);  // the highest leave
      if (!next) continue;                                      // it was starting, or over
      samples.held.push_back(held);
      samples.point.push_back(static_cast<double>(*next - asked));
    }
  }

  const Variant& variant_;
  cuda::Engine& engine_;
  Holder& holder_;
  nanoseconds longest_pause_{0};
  std::mt19937_64 random_{1};
};

Json gather_beside(const Variant& variant, cuda::Engine& engine, Holder& holder,
                   const std::map<std::uint32_t, std::vector<double>>& idle,
                   const ScenarioOptions& options) {
  constexpr double allowed = 20'000;
  Gathers gathers{variant, engine, holder};
  Checks checks;
  auto entries = Json::array();
  for (const auto& [wanted, alone] : idle) {
    const auto [held, point] = gathers.measure(wanted, checks, options);
    if (held.empty()) continue;  // too short for it
    std::vector<double> extras;  // over what could not be sooner
    for (std::size_t i = 0; i < held.size(); ++i)
      extras.push_back(held[i] - std::max(median(alone), point[i]));
    const double extra = median(extras);
    std::cout << "  " << std::setw(3) << wanted << " SMs held after " << in_us(median(held))
              << " us, on the idle GPU " << in_us(median(alone)) << " us; next resizing point in "
              << in_us(median(point)) << " us (p50 of " << held.size() << "): p50 " << in_us(extra)
              << " us more, p99 " << in_us(percentile(extras, 99)) << " us"
              << (extra <= allowed ? "" : ", NOT within 20") << std::endl;
    entries.push_back({{"sms", wanted},
                       {"held", numbers(held)},
                       {"idle_p50", median(alone)},
                       {"to_resizing_point", numbers(point)},
                       {"extra", numbers(extras)},
                       {"within", extra <= allowed}});
  }
  checks.wait();
  return entries;
}

// ---- leases

/// cuBLAS products in a stream of high priority.
class Products {
 public:
  explicit Products(cuda::Engine& engine) : engine_(engine) {
    int low = 0;
    int high = 0;
    check(cudaDeviceGetStreamPriorityRange(&low, &high));
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high));
    if (!blas_.there()) return;
    blas_.use(stream_, workspace_.data(), workspace_.size() * sizeof(float));
    size_ = side_for(milliseconds{1}, [this](std::uint32_t size) {
      resize(size);
      for (int i = 0; i < 3; ++i) (void)run(0);
      return run(0) / 1e9;
    });
    resize(size_);
  }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products() { cudaStreamDestroy(stream_); }

  [[nodiscard]] bool there() const { return blas_.there(); }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// From the call to the result in nanoseconds; under a lease of so many SMs, or without one.
  double run(std::uint32_t sms) {
    const auto begin = Clock::now();
    {
      std::optional<cuda::Lease> lease;
      if (sms > 0) lease.emplace(engine_.lease(stream_, {.sms = sms}));
      blas_.product(static_cast<int>(size_), a_.data(), b_.data(), c_.data());
    }
    check(cudaStreamSynchronize(stream_));
    return ns(Clock::now() - begin);
  }
  /// Whether the last one came out right.
  [[nodiscard]] bool right() const {
    const std::vector<float> all = c_.read();
    return std::ranges::all_of(
        all, [this](float each) { return each == 2.0F * static_cast<float>(size_); });
  }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess)
      throw Error{Errc::device_lost, std::string{"bench: "} + cudaGetErrorString(error)};
  }
  void resize(std::uint32_t size) {
    size_ = size;
    const std::size_t count = std::size_t{size} * size;
    a_ = engine_.fill(count, 1.0F);
    b_ = engine_.fill(count, 2.0F);
    c_ = engine_.fill(count, 0.0F);
  }

  cuda::Engine& engine_;
  device::Blas blas_;
  cudaStream_t stream_ = nullptr;
  Buffer<float> workspace_ = engine_.fill(std::size_t{8} << 20U, 0.0F);
  std::uint32_t size_ = 0;
  Buffer<float> a_;
  Buffer<float> b_;
  Buffer<float> c_;
};

constexpr milliseconds lease_period{10};

Json lease_beside(const Variant& variant, cuda::Engine& engine, Products& products,
                  const std::vector<double>& idle, const ScenarioOptions& options) {
  constexpr double allowed = 1.5;
  const std::uint32_t sms = engine.capacity();
  const Serve serve = [&] {
    Load::Served served;
    served.report.run_time = nanoseconds{static_cast<nanoseconds::rep>(products.run(sms - 1))};
    served.right = true;  // all the same: looked at once, in the end
    return served;
  };
  Load load{serve, lease_period};
  apps::RunOptions how = with_groups(sms);
  how.drive = [&load](const Job& job) { return load.drive(job); };
  Checks checks;
  const std::size_t enough = options.quick ? 10 : 200;
  const auto until = Clock::now() + std::chrono::seconds{6};
  do {
    if (options.stop.stop_requested()) throw Stopped{};
    static_cast<void>(variant.run(engine, how, load.job_times().empty() ? &checks : nullptr));
  } while (load.tasks().size() < enough && Clock::now() < until);
  const std::vector<double> times = values_of(load.tasks(), &TaskSample::run);
  const double ratio = percentile(times, 99) / percentile(idle, 99);
  row("beside " + variant.pair.name(), times);
  std::cout << "    p99 " << ratio << "x of the idle GPU's"
            << (ratio <= allowed ? "" : ", NOT within 1.5") << std::endl;
  return {{"app", variant.name()},
          {"chunked", variant.pair.chunked},
          {"verified", checks.wait()},
          {"product_right", products.right()},
          {"jobs", load.job_times().size()},
          {"leased", numbers(times)},
          {"p50_over_idle", percentile(times, 50) / percentile(idle, 50)},
          {"p99_over_idle", ratio},
          {"within", ratio <= allowed}};
}

// ---- the paper's tasks

/// A stretch of time, in nanoseconds.
struct Span {
  std::uint64_t begin;
  std::uint64_t end;
};

double length(const std::vector<Span>& spans) {
  double result = 0;
  for (const Span& each : spans) result += static_cast<double>(each.end - each.begin);
  return result;
}

/// How much of `spans` is in `others`.
double overlap(const std::vector<Span>& spans, const std::vector<Span>& others) {
  double result = 0;
  for (const Span& one : spans) {
    for (const Span& other : others) {
      const std::uint64_t begin = std::max(one.begin, other.begin);
      const std::uint64_t end = std::min(one.end, other.end);
      if (begin < end) result += static_cast<double>(end - begin);
    }
  }
  return result / length(spans);
}

/// Products that come when they come, by a thread of their own: one is due every period, and one
/// that is late delays the next.
class Due {
 public:
  Due(const CudaProduct& product, std::uint32_t groups, nanoseconds period)
      : thread_([this, &product, groups, period](const std::stop_token& stop) {
          try {
            serve(product, groups, period, stop);
          } catch (...) {
            error_ = std::current_exception();
          }
        }) {}

  /// Serves no more. Throws what went wrong with a task.
  void end() {
    thread_.request_stop();
    thread_.join();
    if (error_) std::rethrow_exception(error_);
  }
  /// While they had their SMs. After the end, like the others.
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] const std::vector<double>& gathers() const { return gathers_; }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

 private:
  void serve(const CudaProduct& product, std::uint32_t groups, nanoseconds period,
             const std::stop_token& stop) {
    for (auto next = Clock::now(); !stop.stop_requested(); std::this_thread::sleep_until(next)) {
      const TaskReport report = product.run(groups);
      const std::uint64_t end = now();
      spans_.push_back({end - static_cast<std::uint64_t>(report.run_time.count()), end});
      gathers_.push_back(ns(report.gather));
      wrong_ += product.right() ? 0 : 1;
      next = std::max<Clock::time_point>(next + period, Clock::now());
    }
  }

  std::vector<Span> spans_;
  std::vector<double> gathers_;
  std::uint64_t wrong_ = 0;
  std::exception_ptr error_;
  std::jthread thread_;
};

/// One app under all loads.
class Background {
 public:
  Background(const ScenarioOptions& options, cuda::Engine& engine)
      : options_(options), engine_(engine) {}

  Json measure(const Variant& variant) {
    struct Figures {
      std::vector<double> slowdowns;
      std::vector<double> ideals;
      std::vector<double> ideals_alone;  // that know nothing of the tasks' use of caches and memory
      std::vector<double> over_ideal;
      std::vector<double> lent;
      std::vector<double> gathers;
      std::vector<double> runs;
      std::uint64_t wrong = 0;
    };
    Checks checks;
    static_cast<void>(variant.run(engine_, with_groups(engine_.capacity())));  // the first is slow
    std::map<std::pair<std::string_view, std::string_view>, Figures> all;
    std::map<std::string_view, double> rests;  // by share; nothing runs on the others
    std::map<std::pair<milliseconds, std::string_view>, double> rests_beside;  // or these tasks do
    for (std::uint32_t round = 0; round < options_.repetitions; ++round) {
      const double alone = mean(jobs(variant, checks));
      if (alone < ns(shortest) && !options_.quick) {
        std::cout << "  too short for it: " << in_us(alone) << " us" << std::endl;
        return Json::array();
      }
      for (const std::string_view share : shares) {
        if (round > 0) break;
        const std::uint32_t groups = groups_of(share, engine_.capacity());
        rests[share] = time_without(variant, groups, nullptr);
        for (const LoadClass& load : load_classes) {
          double& rest = rests_beside[{load.work, share}];
          if (rest == 0) rest = time_without(variant, groups, &product_of(load));
        }
      }
      for (const std::string_view share : shares) {
        const std::uint32_t groups = groups_of(share, engine_.capacity());
        for (const LoadClass& load : load_classes) {
          Due tasks{product_of(load), groups, load.period};
          const std::vector<Span> ran = jobs(variant, checks);
          tasks.end();
          Figures& figures = all[{load.name, share}];
          const double lent = overlap(ran, tasks.spans());
          const auto ideal_with = [&](double rest) { return 1 / (1 - lent + lent * alone / rest); };
          const double ideal = ideal_with(rests_beside[{load.work, share}]);
          const double slowdown = mean(ran) / alone;
          figures.slowdowns.push_back(slowdown);
          figures.ideals.push_back(ideal);
          figures.ideals_alone.push_back(ideal_with(rests[share]));
          figures.over_ideal.push_back(slowdown / ideal);
          figures.lent.push_back(lent);
          figures.wrong += tasks.wrong();
          figures.gathers.insert(figures.gathers.end(), tasks.gathers().begin(),
                                 tasks.gathers().end());
          for (const Span& each : tasks.spans())
            figures.runs.push_back(static_cast<double>(each.end - each.begin));
        }
      }
    }
    checks.wait();
    auto result = Json::array();
    for (const auto& [key, figures] : all) {
      const double over = median(figures.over_ideal);
      const auto words = [](double value) {
        std::ostringstream text;
        text << std::fixed << std::setprecision(3) << value;
        return text.str();
      };
      std::cout << "  " << std::left << std::setw(8) << key.first << std::setw(12) << key.second
                << std::right << " slowdown " << words(median(figures.slowdowns)) << ", ideal "
                << words(median(figures.ideals)) << " (without the tasks' memory traffic "
                << words(median(figures.ideals_alone)) << "): " << words(over) << "x"
                << (over <= allowed ? "" : " NOT within 1.05") << "; lent "
                << words(median(figures.lent)) << ", gather p50 "
                << in_us(figures.gathers.empty() ? 0 : median(figures.gathers)) << " us"
                << std::endl;
      result.push_back({{"app", variant.name()},
                        {"class", key.first},
                        {"share", key.second},
                        {"groups", groups_of(key.second, engine_.capacity())},
                        {"slowdown", median(figures.slowdowns)},
                        {"ideal", median(figures.ideals)},
                        {"over_ideal", over},
                        {"within", over <= allowed},
                        {"lent", figures.lent},
                        {"slowdowns", figures.slowdowns},
                        {"ideals", figures.ideals},
                        {"ideals_nothing_beside", figures.ideals_alone},
                        {"tasks", figures.runs.size()},
                        {"wrong", figures.wrong},
                        {"gather_ns", figures.gathers},
                        {"run_ns", figures.runs}});
    }
    return result;
  }

  /// By class: how large the matrices are, and what a product takes on the whole GPU.
  [[nodiscard]] Json products() {
    Json result;
    for (const LoadClass& load : load_classes) {
      const CudaProduct& product = product_of(load);
      result[std::string{load.name}] = {
          {"side", sides_[load.work]},
          {"run_ns", product.run(engine_.capacity()).run_time.count()},
          {"period_ns", nanoseconds{load.period}.count()}};
    }
    return result;
  }

 private:
  static constexpr double allowed = 1.05;
  static constexpr std::array<std::string_view, 3> shares{"quarter", "half", "all-but-one"};

  static constexpr milliseconds shortest{2};  // job that tasks can be beside

  static double mean(const std::vector<Span>& spans) {
    return length(spans) / static_cast<double>(spans.size());
  }

  /// Jobs one after the other, until it is enough; the first is verified.
  std::vector<Span> jobs(const Variant& variant, Checks& checks) const {
    std::vector<Span> ran;
    apps::RunOptions how = with_groups(engine_.capacity());
    how.drive = [&ran](const Job& job) {
      const std::uint64_t begin = now();
      Report report = job.wait();
      ran.push_back({begin, now()});
      return report;
    };
    const milliseconds enough{options_.quick ? 50 : 300};
    const auto until = Clock::now() + std::chrono::seconds{3};
    do {
      if (options_.stop.stop_requested()) throw Stopped{};
      static_cast<void>(variant.run(engine_, how, ran.empty() ? &checks : nullptr));
    } while (length(ran) < ns(enough) && Clock::now() < until);
    return ran;
  }

  /// A static launch without `lent` SMs, in nanoseconds: the mean of a few. On those, nothing, or
  /// one product after the other. Infinite where it would take very long: on a single SM it may.
  [[nodiscard]] double time_without(const Variant& variant, std::uint32_t lent,
                                    const CudaProduct* product) const {
    const std::uint32_t left = engine_.capacity() - lent;
    std::vector<Span> ran;
    bool too_long = false;
    apps::RunOptions how = with_groups(left, left == 1);  // a static launch cannot be cancelled
    how.drive = [&](const Job& job) {
      const std::uint64_t begin = now();
      auto report = job.wait_for(std::chrono::seconds{1});
      ran.push_back({begin, now()});
      too_long = !report;
      if (report) return *report;
      job.cancel();
      return job.wait();
    };
    std::optional<Due> tasks;
    if (product != nullptr) tasks.emplace(*product, lent, nanoseconds{0});
    try {
      while (ran.size() < 2 || (ran.size() < 6 && length(ran) < 2e8))
        static_cast<void>(variant.run(engine_, how));
    } catch (const std::runtime_error&) {
      if (!too_long) throw;  // else it is that it was cancelled
    }
    if (tasks) tasks->end();
    if (too_long) return std::numeric_limits<double>::infinity();
    ran.erase(ran.begin());  // the first is slow
    return mean(ran);
  }

  const CudaProduct& product_of(const LoadClass& load) {
    auto& product = made_[load.work];
    if (!product) {
      const std::uint32_t side = side_for(load.work, [this](std::uint32_t its) {
        const CudaProduct trial{engine_, its};
        double fastest = 1e9;
        for (int i = 0; i < 3; ++i)
          fastest = std::min(fastest, ns(trial.run(engine_.capacity()).run_time) / 1e9);
        return fastest;
      });
      product = std::make_unique<CudaProduct>(engine_, side);
      sides_[load.work] = side;
    }
    return *product;
  }

  const ScenarioOptions& options_;
  cuda::Engine& engine_;
  std::map<milliseconds, std::unique_ptr<CudaProduct>> made_;
  std::map<milliseconds, std::uint32_t> sides_;
};

}  // namespace

Json gather_beside_apps(const ScenarioOptions& options) {
  cuda::Engine engine;
  Holder holder{engine};
  const std::uint32_t sms = engine.capacity();
  std::map<std::uint32_t, std::vector<double>> idle;  // by SMs
  for (const std::uint32_t wanted : {sms / 4, sms / 2, sms - 1}) {
    for (int i = 0; i < 50; ++i) idle[wanted].push_back(holder.hold(wanted));
  }
  Json result;
  for (const Variant& variant : cuda_variants(options.quick, options.only)) {
    std::cout << variant.name() << ", SMs demanded at random" << std::endl;
    result[variant.name()] = gather_beside(variant, engine, holder, idle, options);
  }
  std::cout << std::endl;
  return result;
}

Json lease_beside_apps(const ScenarioOptions& options) {
  cuda::Engine engine;
  Products products{engine};
  if (!products.there()) return nullptr;
  const std::uint32_t sms = engine.capacity();
  head("cublasSgemm " + std::to_string(products.size()) + " at 100 Hz, a lease of " +
       std::to_string(sms - 1) + " of " + std::to_string(sms) + " SMs");
  std::vector<double> idle;
  for (std::uint32_t i = 0; i < (options.quick ? 10U : 200U); ++i) {
    std::this_thread::sleep_for(lease_period);
    idle.push_back(products.run(0));
  }
  row("idle GPU", idle);
  auto beside = Json::array();
  for (const Variant& variant : cuda_variants(options.quick, options.only, true)) {
    const std::string& app = variant.pair.app;
    if (app != "bfs" && app != "mis" && app != "octree") continue;
    beside.push_back(lease_beside(variant, engine, products, idle, options));
  }
  std::cout << std::endl;
  return {{"size", products.size()},
          {"period_ns", nanoseconds{lease_period}.count()},
          {"sms", sms - 1},
          {"idle", numbers(idle)},
          {"beside", std::move(beside)}};
}

Json cuda_background_scenario(const ScenarioOptions& options) {
  Json record{{"device", described()}};
  cuda::Engine engine;
  Background background{options, engine};
  record["load"] = "fixed work: a task takes E on all SMs";
  record["products"] = background.products();
  auto measurements = Json::array();
  double worst = 0;
  std::string culprit;
  for (const Variant& variant : cuda_variants(options.quick, options.only)) {
    std::cout << variant.name() << std::endl;
    for (Json& each : background.measure(variant)) {
      if (each["over_ideal"].get<double>() > worst) {
        worst = each["over_ideal"];
        culprit = variant.name() + ", " + each["class"].get<std::string>() + ", " +
                  each["share"].get<std::string>();
      }
      measurements.push_back(std::move(each));
    }
  }
  std::vector<double> all;
  for (const Json& each : measurements) all.push_back(each["over_ideal"]);
  record["summary"] = {
      {"median_over_ideal", median(all)}, {"max_over_ideal", worst}, {"culprit", culprit}};
  std::cout << "slowdown over the measured ideal: median " << median(all) << ", most " << worst
            << " (" << culprit << ")" << std::endl;
  record["measurements"] = std::move(measurements);
  return record;
}

}  // namespace cohort::bench
