#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "bench/cuda/beside.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/words.hpp"
#include "cohort/cuda.hpp"
#include "tool/cuda_product.hpp"
#include "tool/load.hpp"
#include "tool/product.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

/// The fraction of `spans` that overlaps `others`.
double overlap(const std::vector<tool::Span>& spans, const std::vector<tool::Span>& others) {
  double result = 0;
  for (const tool::Span& one : spans) {
    for (const tool::Span& other : others) {
      const std::uint64_t begin = std::max(one.begin, other.begin);
      const std::uint64_t end = std::min(one.end, other.end);
      if (begin < end) result += static_cast<double>(end - begin);
    }
  }
  return result / length(spans);
}

/// The intervals in which tasks held their SMs.
std::vector<tool::Span> spans_of(const std::vector<tool::TaskSample>& tasks) {
  std::vector<tool::Span> result;
  for (const tool::TaskSample& each : tasks) result.push_back({each.start, each.start + each.run});
  return result;
}

/// One app under every load.
class Background {
 public:
  Background(const ScenarioOptions& options, cuda::Engine& engine)
      : options_(options), engine_(engine) {}

  Json measure(const Variant& variant) {
    struct Figures {
      std::vector<double> slowdowns;
      std::vector<double> ideals;
      // With the lent SMs idle, so without memory traffic of tasks.
      std::vector<double> ideals_alone;
      std::vector<double> over_ideal;
      std::vector<double> lent;
      std::vector<double> alone;  // job times in nanoseconds, with all SMs
      std::vector<double> rest;   // job times in nanoseconds, without the lent SMs, next to tasks
      std::vector<double> gathers;
      std::vector<double> runs;
      std::uint64_t wrong = 0;
    };
    Checks checks;
    // Warms up, because the first run is slow.
    static_cast<void>(variant.run(engine_, with_groups(engine_.capacity())));
    std::map<std::pair<std::string_view, std::string_view>, Figures> all;
    // Job times without the lent SMs, by share and by the size of the products that run on those
    // SMs (0: they idle).
    std::map<std::pair<std::string_view, milliseconds>, double> rests;
    for (std::uint32_t round = 0; round < options_.repetitions; ++round) {
      Checks* const first = round == 0 ? &checks : nullptr;
      const double alone = time_alone(variant, first);
      if (alone < ns(shortest) && !options_.quick) {
        std::cout << "  too short for it: " << in_us(alone) << " us" << std::endl;
        return Json::array();
      }
      std::erase_if(rests, [](const auto& each) { return each.second < ns(once_is_enough); });
      for (const std::string_view share : shares) {
        const std::uint32_t groups = tool::groups_of(share, engine_.capacity());
        const auto rest_beside = [&](milliseconds work, const tool::CudaProduct* product) {
          const auto [rest, missing] = rests.try_emplace({share, work});
          if (missing) rest->second = time_without(variant, groups, product);
        };
        rest_beside({}, nullptr);
        for (const tool::LoadClass& load : tool::load_classes)
          rest_beside(load.work, &product_of(load));
      }
      for (const std::string_view share : shares) {
        const std::uint32_t groups = tool::groups_of(share, engine_.capacity());
        for (const tool::LoadClass& load : tool::load_classes) {
          tool::Load tasks{serving(product_of(load), groups), load.period};
          run_jobs(variant, first, tasks);
          const std::vector<tool::Span>& ran = tasks.jobs();
          const double lent = overlap(ran, spans_of(tasks.tasks()));
          const auto ideal_with = [&](double on_the_rest) {
            return 1 / (1 - lent + lent * alone / on_the_rest);
          };
          Figures& figures = all[{load.name, share}];
          const double rest = rests[{share, load.work}];
          const double ideal = ideal_with(rest);
          const double slowdown = tool::mean_length(ran) / alone;
          figures.slowdowns.push_back(slowdown);
          figures.ideals.push_back(ideal);
          figures.ideals_alone.push_back(ideal_with(rests[{share, milliseconds{}}]));
          figures.over_ideal.push_back(slowdown / ideal);
          figures.lent.push_back(lent);
          figures.alone.push_back(alone);
          figures.rest.push_back(rest);
          figures.wrong += tasks.wrong();
          for (const tool::TaskSample& each : tasks.tasks()) {
            if (!each.beside) continue;
            figures.gathers.push_back(static_cast<double>(each.gather));
            figures.runs.push_back(static_cast<double>(each.run));
          }
        }
      }
    }
    checks.run();
    auto result = Json::array();
    for (const auto& [key, figures] : all) {
      const double over = median(figures.over_ideal);
      const auto words = [](double value) { return fixed(value, 3); };
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
                        {"groups", tool::groups_of(key.second, engine_.capacity())},
                        {"slowdown", median(figures.slowdowns)},
                        {"ideal", median(figures.ideals)},
                        {"over_ideal", over},
                        {"within", over <= allowed},
                        {"lent", figures.lent},
                        {"slowdowns", figures.slowdowns},
                        {"ideals", figures.ideals},
                        {"ideals_nothing_beside", figures.ideals_alone},
                        {"alone_ns", figures.alone},
                        {"rest_ns", figures.rest},  // null if it took too long to measure
                        {"tasks", figures.runs.size()},
                        {"wrong", figures.wrong},
                        {"gather_ns", figures.gathers},
                        {"run_ns", figures.runs}});
    }
    return result;
  }

  /// For each class of tasks: the size of the matrices, and the time of a product on the whole GPU.
  [[nodiscard]] Json products() {
    Json result;
    for (const tool::LoadClass& load : tool::load_classes) {
      const tool::CudaProduct& product = product_of(load);
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

  static constexpr milliseconds shortest{2};  // shortest job that is likely to meet tasks
  // A job at least this long is measured once.
  static constexpr std::chrono::seconds once_is_enough{1};

  static std::function<tool::Load::Served()> serving(const tool::CudaProduct& product,
                                                     std::uint32_t groups) {
    return [&product, groups] {
      return tool::Load::Served{.report = product.run(groups), .right = product.right()};
    };
  }

  [[nodiscard]] double time_alone(const Variant& variant, Checks* checks) const {
    tool::Load nothing;
    run_jobs(variant, checks, nothing);
    return tool::mean_length(nothing.jobs());
  }

  /// Runs jobs one after another next to `load`, for long enough. Verifies the first one if
  /// `checks` is given.
  void run_jobs(const Variant& variant, Checks* checks, tool::Load& load) const {
    apps::RunOptions how = with_groups(engine_.capacity());
    how.drive = [&load](const Job& job) { return load.drive(job); };
    const milliseconds enough{options_.quick ? 50 : 800};  // twenty tasks of the heavy class
    const auto until = Clock::now() + std::chrono::seconds{3};
    do {
      if (options_.stop.stop_requested()) throw Stopped{};
      static_cast<void>(variant.run(engine_, how, load.jobs().empty() ? checks : nullptr));
    } while (length(load.jobs()) < ns(enough) && Clock::now() < until);
    load.end();
  }

  /// Time of a static launch without `lent` SMs, in nanoseconds: the mean of a few launches. The
  /// lent SMs idle, or run one product after another. The result is infinite if a launch would take
  /// very long. The ideal then assumes no progress while SMs are lent, so it is longer.
  [[nodiscard]] double time_without(const Variant& variant, std::uint32_t lent,
                                    const tool::CudaProduct* product) const {
    const std::uint32_t left = engine_.capacity() - lent;
    std::optional<tool::Load> load;
    if (product == nullptr) {
      load.emplace();
    } else {
      load.emplace(serving(*product, lent), nanoseconds{0});
    }
    constexpr std::chrono::seconds very_long{15};
    bool cancelled = false;
    apps::RunOptions how =
        with_groups(left, left == 1);  // a static launch with offers cannot be cancelled
    how.launch.stop = options_.stop;
    how.drive = [&](const Job& job) {
      Report report = load->drive(job, very_long);
      cancelled = report.status == Status::cancelled;
      return report;
    };
    const auto& jobs = load->jobs();
    const auto enough = [&jobs] {
      if (jobs.size() < 2) return jobs.size() == 1 && length(jobs) > ns(once_is_enough);
      return jobs.size() == 6 || length(jobs) > 2e8;
    };
    try {
      while (!enough()) {
        if (options_.stop.stop_requested()) throw Stopped{};
        static_cast<void>(variant.run(engine_, how));
      }
    } catch (const std::runtime_error&) {
      if (!cancelled) throw;
    }
    if (options_.stop.stop_requested()) throw Stopped{};
    load->end();
    if (load->wrong() > 0) throw std::runtime_error{"background: a wrong product"};
    if (cancelled) return std::numeric_limits<double>::infinity();
    return tool::mean_length({jobs.end() - std::max<std::ptrdiff_t>(1, std::ssize(jobs) - 1),
                              jobs.end()});  // drops the first of several times, which is slow
  }

  const tool::CudaProduct& product_of(const tool::LoadClass& load) {
    auto& product = made_[load.work];
    if (!product) {
      const std::uint32_t side = tool::side_for(load.work, [this](std::uint32_t its) {
        const tool::CudaProduct trial{engine_, its};
        return fastest_of(3, [&] { return ns(trial.run(engine_.capacity()).run_time) / 1e9; });
      });
      product = std::make_unique<tool::CudaProduct>(engine_, side);
      sides_[load.work] = side;
    }
    return *product;
  }

  const ScenarioOptions& options_;
  cuda::Engine& engine_;
  std::map<milliseconds, std::unique_ptr<tool::CudaProduct>> made_;
  std::map<milliseconds, std::uint32_t> sides_;
};

Json run_cuda_background(const ScenarioOptions& options) {
  Json record{{"device", described()}};
  cuda::Engine engine;
  Background background{options, engine};
  record["load"] = "fixed work: a task takes E on all SMs";
  record["products"] = background.products();
  auto measurements = Json::array();
  double worst = 0;
  std::string culprit;
  record["too_short"] = Json::array();
  for (const Variant& variant : cuda_variants(options.quick, options.only)) {
    std::cout << variant.name() << std::endl;
    Json entries = background.measure(variant);
    if (entries.empty()) record["too_short"].push_back(variant.name());
    for (Json& each : entries) {
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

}  // namespace

const Scenario cuda_background_scenario{
    .name = "background",
    .summary = "apps next to the paper's tasks, compared with losing the lent SMs",
    .run = &run_cuda_background,
    .accepts = {.only = true}};

}  // namespace cohort::bench
