#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "apps/cuda/runs.hpp"
#include "bench/cuda/beside.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/product.hpp"
#include "bench/cuda/words.hpp"
#include "bench/load.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

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

/// The time that jobs have run. It stands still while the next one is prepared, so that a task
/// begins beside a job and its traces in the caches are those of one that was lent SMs. What of it
/// outlives a job is lent to nobody: beside short jobs less is lent than a class says (`lent`).
class JobTime {
 public:
  void job_begins() {
    const std::scoped_lock lock{mutex_};
    since_ = Clock::now();
  }
  void job_ends() {
    const std::scoped_lock lock{mutex_};
    before_ += Clock::now() - *since_;
    since_.reset();
  }
  [[nodiscard]] nanoseconds now() const {
    const std::scoped_lock lock{mutex_};
    return since_ ? before_ + (Clock::now() - *since_) : before_;
  }

 private:
  mutable std::mutex mutex_;
  nanoseconds before_{0};
  std::optional<Clock::time_point> since_;
};

/// Products that come when they come, by a thread of their own: one is due every period of the
/// jobs' time, and one that is late delays the next.
class Due {
 public:
  Due(const CudaProduct& product, std::uint32_t groups, nanoseconds period, const JobTime& time)
      : thread_([this, &product, groups, period, &time](const std::stop_token& stop) {
          try {
            serve(product, groups, period, time, stop);
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
             const JobTime& time, const std::stop_token& stop) {
    for (nanoseconds next = time.now() + period / 2; !stop.stop_requested();) {
      if (time.now() < next) {
        std::this_thread::sleep_for(std::chrono::microseconds{20});
        continue;
      }
      const TaskReport report = product.run(groups);
      const std::uint64_t end = cpu::now();
      spans_.push_back({end - static_cast<std::uint64_t>(report.run_time.count()), end});
      gathers_.push_back(ns(report.gather));
      wrong_ += product.right() ? 0 : 1;
      next = std::max(next + period, time.now());
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
          Due tasks{product_of(load), groups, load.period, time_};
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
          for (std::size_t i = 0; i < tasks.spans().size(); ++i) {
            const Span& task = tasks.spans()[i];
            if (overlap(ran, {task}) == 0) continue;  // it met no job
            figures.gathers.push_back(tasks.gathers()[i]);
            figures.runs.push_back(static_cast<double>(task.end - task.begin));
          }
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
  std::vector<Span> jobs(const Variant& variant, Checks& checks) {
    std::vector<Span> ran;
    apps::RunOptions how = with_groups(engine_.capacity());
    how.drive = [this, &ran](const Job& job) {
      const std::uint64_t begin = cpu::now();
      time_.job_begins();
      Report report = job.wait();
      time_.job_ends();
      ran.push_back({begin, cpu::now()});
      return report;
    };
    const milliseconds enough{options_.quick ? 50 : 800};  // twenty tasks of the heavy class
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
    apps::RunOptions how =
        with_groups(left, left == 1);  // of static launches those with offers cannot be cancelled
    how.drive = [&](const Job& job) {
      const std::uint64_t begin = cpu::now();
      auto report = job.wait_for(std::chrono::seconds{1});
      ran.push_back({begin, cpu::now()});
      too_long = !report;
      if (report) return *report;
      job.cancel();
      return job.wait();
    };
    std::optional<Due> tasks;
    if (product != nullptr) tasks.emplace(*product, lent, nanoseconds{0}, time_);
    try {
      while (ran.size() < 2 || (ran.size() < 6 && length(ran) < 2e8))
        static_cast<void>(variant.run(engine_, how));
    } catch (const std::runtime_error&) {
      if (!too_long) throw;  // else it is that it was cancelled
    }
    if (tasks) tasks->end();
    if (tasks && tasks->wrong() > 0) throw std::runtime_error{"background: a wrong product"};
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
  JobTime time_;
  std::map<milliseconds, std::unique_ptr<CudaProduct>> made_;
  std::map<milliseconds, std::uint32_t> sides_;
};

}  // namespace

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
  if (measurements.empty())
    throw Error{Errc::bad_options, "background: none of these apps runs long enough for it"};
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
