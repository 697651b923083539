#include "bench/cuda/beside.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
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

double sum(const std::vector<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// An app that ran again and again, and what was served beside it.
struct Beside {
  std::vector<std::uint64_t> job_times;
  std::vector<TaskSample> tasks;
  std::uint64_t wrong = 0;
  std::size_t verified = 0;  // jobs; a wrong one throws
};

/// How long to go on: until both have been reached, or for so long.
struct Enough {
  nanoseconds job_time{0};
  std::size_t tasks = 0;
  std::chrono::seconds at_most{3};
};

apps::RunOptions with_groups(std::uint32_t groups, bool resizable = true) {
  apps::RunOptions options;
  options.launch.max_groups = groups;
  options.launch.local_size = cuda_local_size;
  options.launch.resizable = resizable;
  return options;
}

/// Runs an app until it is enough, and verifies it now and then.
Beside run_beside(const Variant& variant, AnyEngine engine, apps::RunOptions how, Load load,
                  const Enough& enough, const std::stop_token& stop) {
  Beside result;
  Checks checks;
  how.drive = [&load](const Job& job) { return load.drive(job); };
  const auto until = Clock::now() + enough.at_most;
  do {
    if (stop.stop_requested()) throw Stopped{};
    const bool verify = load.job_times().size() % 16 == 0;
    static_cast<void>(variant.run(engine, how, verify ? &checks : nullptr));
  } while ((sum(load.job_times()) < ns(enough.job_time) || load.tasks().size() < enough.tasks) &&
           Clock::now() < until);
  result.job_times = load.job_times();
  result.tasks = load.tasks();
  result.wrong = load.wrong();
  result.verified = checks.wait();
  return result;
}

std::vector<double> values_of(const std::vector<TaskSample>& tasks,
                              std::uint64_t TaskSample::*what) {
  std::vector<double> values;
  for (const TaskSample& each : tasks) values.push_back(static_cast<double>(each.*what));
  return values;
}

// ---- gather

/// From moments at random to the next point where `wanted` groups have passed a resizing point.
/// A kernel with barriers has one list of points, others one for each group.
std::vector<double> times_to_resize(const std::vector<std::vector<std::uint64_t>>& points,
                                    std::uint32_t wanted, bool barriers) {
  std::vector<double> result;
  const std::vector<std::uint64_t>& first = points.front();
  if (first.size() < 2) return result;
  std::mt19937_64 random{1};
  std::uniform_int_distribution<std::uint64_t> moment{first.front(), first.back() - 1};
  const std::size_t from = barriers ? 0 : points.size() - wanted;  // the highest leave
  const std::size_t to = barriers ? 1 : points.size();
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t now = moment(random);
    std::uint64_t last = now;
    for (std::size_t group = from; group < to; ++group) {
      const auto next = std::ranges::upper_bound(points[group], now);
      if (next != points[group].end()) last = std::max(last, *next);
    }
    result.push_back(static_cast<double>(last - now));
  }
  return result;
}

Json gather_beside(const Variant& variant, cuda::Engine& engine, Holder& holder,
                   const std::map<std::uint32_t, std::vector<double>>& idle,
                   const ScenarioOptions& options) {
  constexpr double allowed = 20'000;
  const std::uint32_t sms = engine.capacity();
  apps::PlainEngine plain{engine, apps::PlainWay::grid_sync};
  plain.mark(1U << 14U);
  static_cast<void>(variant.run(plain, with_groups(sms)));
  auto entries = Json::array();
  for (const auto& [wanted, alone] : idle) {
    const std::vector<double> ahead =
        times_to_resize(plain.marks(), wanted, variant.pair.style == Style::barriers);
    const Serve serve = [&holder, sms = wanted] {
      Load::Served served;
      served.report.run_time = nanoseconds{static_cast<nanoseconds::rep>(holder.hold(sms))};
      served.right = true;
      return served;
    };
    const Beside ran = run_beside(
        variant, engine, with_groups(sms), Load{serve, microseconds{1370}},
        {.tasks = options.quick ? 5U : 40U, .at_most = std::chrono::seconds{3}}, options.stop);
    if (ahead.empty() || ran.tasks.size() < 2) continue;  // too short for it
    std::vector<double> times = values_of(ran.tasks, &TaskSample::run);
    times.erase(times.begin());  // while the job was starting
    const double extra = median(times) - median(alone) - median(ahead);
    std::cout << "  " << wanted << " SMs held after " << in_us(median(times))
              << " us, on the idle GPU " << in_us(median(alone)) << " us; next resizing point in "
              << in_us(median(ahead)) << " us (p50): " << in_us(extra) << " us more"
              << (extra <= allowed ? "" : ", NOT within 20") << std::endl;
    entries.push_back({{"sms", wanted},
                       {"held", numbers(times)},
                       {"idle_p50", median(alone)},
                       {"to_resizing_point",
                        {{"p50", median(ahead)},
                         {"p99", percentile(ahead, 99)},
                         {"max", percentile(ahead, 100)}}},
                       {"extra_p50", extra},
                       {"within", extra <= allowed},
                       {"verified", ran.verified}});
  }
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
  const Beside ran = run_beside(
      variant, engine, with_groups(sms), Load{serve, lease_period},
      {.tasks = options.quick ? 10U : 200U, .at_most = std::chrono::seconds{6}}, options.stop);
  const std::vector<double> times = values_of(ran.tasks, &TaskSample::run);
  const double ratio = percentile(times, 99) / percentile(idle, 99);
  row("beside " + variant.pair.name(), times);
  std::cout << "    p99 " << ratio << "x of the idle GPU's"
            << (ratio <= allowed ? "" : ", NOT within 1.5") << std::endl;
  return {{"app", variant.name()},
          {"chunked", variant.pair.chunked},
          {"verified", ran.verified},
          {"product_right", products.right()},
          {"jobs", ran.job_times.size()},
          {"leased", numbers(times)},
          {"p50_over_idle", percentile(times, 50) / percentile(idle, 50)},
          {"p99_over_idle", ratio},
          {"within", ratio <= allowed}};
}

// ---- the paper's tasks

/// How much of the jobs' time tasks were running beside them.
double lent_part(const Beside& ran) {
  double lent = 0;
  double begin = 0;
  std::size_t job = 0;
  for (const TaskSample& task : ran.tasks) {
    const auto start = static_cast<double>(task.start);
    const double asked = start - static_cast<double>(task.gather);
    while (job < ran.job_times.size() && asked >= begin + static_cast<double>(ran.job_times[job]))
      begin += static_cast<double>(ran.job_times[job++]);
    if (job == ran.job_times.size()) break;
    const double end = begin + static_cast<double>(ran.job_times[job]);
    lent += std::max(0.0, std::min(start + static_cast<double>(task.run), end) - start);
  }
  return lent / sum(ran.job_times);
}

double mean(const std::vector<std::uint64_t>& values) {
  return sum(values) / static_cast<double>(values.size());
}

/// One app under all loads.
class Background {
 public:
  Background(const ScenarioOptions& options, cuda::Engine& engine)
      : options_(options), engine_(engine) {}

  Json measure(const Variant& variant) {
    struct Figures {
      std::vector<double> slowdowns;
      std::vector<double> ideals;
      std::vector<double> over_ideal;
      std::vector<double> lent;
      std::vector<double> gathers;
      std::vector<double> runs;
      std::uint64_t wrong = 0;
    };
    std::map<std::pair<std::string_view, std::string_view>, Figures> all;
    std::map<std::string_view, double> rests;  // by share
    for (std::uint32_t round = 0; round < options_.repetitions; ++round) {
      const double alone = mean(run(variant, Load{}).job_times);
      if (alone < ns(shortest) && !options_.quick) {
        std::cout << "  too short for it: " << in_us(alone) << " us" << std::endl;
        return Json::array();
      }
      for (const std::string_view share : shares) {
        if (round == 0)
          rests[share] =
              time_on(variant, engine_.capacity() - groups_of(share, engine_.capacity()));
      }
      for (const std::string_view share : shares) {
        const std::uint32_t groups = groups_of(share, engine_.capacity());
        for (const LoadClass& load : load_classes) {
          const CudaProduct& product = product_of(load);
          const Beside ran =
              run(variant, Load{[&] {
                                  return Load::Served{product.run(groups), product.right()};
                                },
                                load.period});
          Figures& figures = all[{load.name, share}];
          const double lent = lent_part(ran);
          const double ideal = 1 / (1 - lent + lent * alone / rests[share]);
          const double slowdown = mean(ran.job_times) / alone;
          figures.slowdowns.push_back(slowdown);
          figures.ideals.push_back(ideal);
          figures.over_ideal.push_back(slowdown / ideal);
          figures.lent.push_back(lent);
          figures.wrong += ran.wrong;
          for (const TaskSample& task : ran.tasks) {
            figures.gathers.push_back(static_cast<double>(task.gather));
            figures.runs.push_back(static_cast<double>(task.run));
          }
        }
      }
    }
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
                << words(median(figures.ideals)) << ": " << words(over) << "x"
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

  Beside run(const Variant& variant, Load load) const {
    const milliseconds span{options_.quick ? 50 : 300};
    return run_beside(variant, engine_, with_groups(engine_.capacity()), std::move(load),
                      {.job_time = span}, options_.stop);
  }

  /// A static launch of `groups` groups, in nanoseconds: the mean of a few. Infinite where it would
  /// take very long: on a single SM it may.
  [[nodiscard]] double time_on(const Variant& variant, std::uint32_t groups) const {
    std::vector<std::uint64_t> times;
    bool too_long = false;
    apps::RunOptions how = with_groups(groups, false);
    how.drive = [&](const Job& job) {
      const auto begin = Clock::now();
      const auto report = job.wait_for(std::chrono::seconds{1});
      times.push_back(static_cast<std::uint64_t>(ns(Clock::now() - begin)));
      if (report) return *report;
      too_long = true;
      job.cancel();
      return job.wait();
    };
    while (times.size() < 5 && sum(times) < 2e8) {
      try {
        static_cast<void>(variant.run(engine_, how));
      } catch (const std::runtime_error&) {
        if (!too_long) throw;  // else it is that it was cancelled
        return std::numeric_limits<double>::infinity();
      }
    }
    return mean(times);
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
    std::cout << variant.name() << ", SMs demanded every 1.37 ms" << std::endl;
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
