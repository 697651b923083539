#include "bench/place.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "apps/choices.hpp"
#include "bench/load.hpp"
#include "bench/variants.hpp"
#include "cohort/cpu.hpp"
#ifdef COHORT_WITH_COMPILER
#include "apps/dialect/dialect.hpp"
#endif
#ifdef COHORT_WITH_CUDA_APPS
#include "bench/cuda/place.hpp"
#endif
#ifdef COHORT_WITH_OPENCL
#include "bench/opencl/place.hpp"
#endif

namespace cohort::bench {
namespace {

#ifndef COHORT_WITH_COMPILER
[[noreturn]] void refuse_dialect() {
  throw Error{Errc::bad_options,
              "this build has no compiler for --dialect; configure with COHORT_COMPILER=ON"};
}
#endif

class CpuPlace final : public Place {
 public:
  explicit CpuPlace(const PlaceOptions& options)
      : engine_({.capacity = options.capacity, .pin_workers = options.pinned}) {
    if (!options.device.empty())
      throw Error{Errc::bad_options, "--device is for --engine cuda and opencl; drop it"};
#ifdef COHORT_WITH_COMPILER
    if (options.dialect) dialect_.emplace("cpu");
#else
    if (options.dialect) refuse_dialect();
#endif
  }

  [[nodiscard]] std::uint32_t capacity() const override { return engine_.capacity(); }

  [[nodiscard]] bool on_cpus() const override { return true; }
  [[nodiscard]] bool traces() const override { return true; }
  [[nodiscard]] bool paper_barriers() const override { return true; }
  void prepare(std::string_view app) override {
#ifdef COHORT_WITH_COMPILER
    if (dialect_) return static_cast<void>(dialect_->prepare(app));
#endif
    (void)choose("app", app, apps::all());
  }
  apps::Outcome run(std::string_view app, apps::Request& request) override {
#ifdef COHORT_WITH_COMPILER
    if (dialect_) return dialect_->run(engine_, app, request);
#endif
    return choose("app", app, apps::all()).run(engine_, request);
  }

  [[nodiscard]] std::function<Load::Served()> product(std::uint32_t side,
                                                      const TaskOptions& options) override {
    return [this, options, product = std::make_shared<MatrixProduct>(side)] {
      product->clear();
      return Load::Served{
          .report =
              engine_.submit([&product](auto& group) { product->multiply(group); }, options).wait(),
          .right = product->right()};
    };
  }

  [[nodiscard]] std::vector<Placed> variants(const std::vector<Pair>& pairs) override {
    std::vector<Placed> result;
    for (Variant& each : variants_of(pairs)) {
      result.push_back({each.pair, each.algorithm,
                        [this, start = std::move(each.start)](const apps::RunOptions& options) {
                          return start(engine_, options, nullptr);
                        }});
    }
    return result;
  }

 private:
  cpu::Engine engine_;
#ifdef COHORT_WITH_COMPILER
  std::optional<apps::DialectApps<cpu::Engine>> dialect_;
#endif
};

}  // namespace

std::vector<Placed> Place::variants(const std::vector<Pair>& pairs) {
  std::vector<Placed> result;
  for (const Pair& pair : pairs) {
    if (pair.chunked) continue;
    prepare(pair.app);
    result.push_back({pair, "paper", [this, pair](const apps::RunOptions& options) {
                        apps::Request request{.input = pair.input,
                                              .settings = apps::Settings{pair.settings},
                                              .options = options};
                        Report report = run(pair.app, request).report;
                        if (report.status != Status::finished)
                          throw std::runtime_error{pair.name() + " is " + to_string(report.status)};
                        return report;
                      }});
  }
  return result;
}

std::unique_ptr<Place> make_place(const PlaceOptions& options) {
  if (options.scheduler != "host" && (options.scheduler != "group" || options.engine != "opencl")) {
    throw Error{Errc::bad_options, "--scheduler " + options.scheduler +
                                       ": it is host or, with --engine opencl, group; drop it"};
  }
  if (options.engine == "cpu") return std::make_unique<CpuPlace>(options);
#ifdef COHORT_WITH_CUDA_APPS
  if (options.engine == "cuda") return make_cuda_place(options);
#endif
#ifdef COHORT_WITH_OPENCL
  if (options.engine == "opencl") return make_opencl_place(options);
#endif
  throw Error{Errc::bad_options, "the apps are not built for the engine '" + options.engine +
                                     "' here; use --engine cpu, or configure with "
                                     "COHORT_CUDA_APPS or COHORT_OPENCL"};
}

std::uint32_t side_for(Place& place, std::chrono::nanoseconds work, const TaskOptions& options) {
  return side_for(work, [&](std::uint32_t side) {
    const auto serve = place.product(side, options);
    double fastest = std::numeric_limits<double>::max();
    for (int i = 0; i < 7; ++i) {
      const std::chrono::duration<double> took = serve().report.run_time;
      fastest = std::min(fastest, took.count());
    }
    return fastest;
  });
}

Pairs pairs_for(const Place& place, bool quick, std::string_view only) {
  Pairs pairs = paper_pairs(quick, only);
  std::vector<Pair> all = std::move(pairs.runnable);
  pairs.runnable.clear();
  for (Pair& each : all) {
    if (place.on_cpus() && !each.on_cpus.empty()) {
      each.input = each.on_cpus;
      each.note = "made up, and smaller than the paper's, on which a run takes long on CPUs";
    }
    if (auto own = place.adapt(std::move(each))) pairs.runnable.push_back(*std::move(own));
  }
  return pairs;
}

}  // namespace cohort::bench
