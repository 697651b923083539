#include "bench/cuda/place.hpp"

#include <algorithm>

#include "apps/choices.hpp"
#include "apps/cuda/registry.hpp"
#ifdef COHORT_WITH_COMPILER
#include "apps/dialect/dialect.hpp"
#endif
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/product.hpp"
#include "bench/cuda/scenarios.hpp"
#include "bench/cuda/words.hpp"

namespace cohort::bench {
namespace {

class CudaPlace final : public Place {
 public:
  explicit CudaPlace(const PlaceOptions& options)
      : engine_({.device = cuda_number(options.device), .capacity = options.capacity}),
        whole_(!options.capacity) {
#ifdef COHORT_WITH_COMPILER
    if (options.dialect) dialect_.emplace("cuda");
#endif
  }

  [[nodiscard]] std::uint32_t capacity() const override { return engine_.capacity(); }
  [[nodiscard]] std::uint32_t groups_for(std::string_view app, const std::string& input,
                                         std::uint32_t local_size) const override {
#ifdef COHORT_WITH_COMPILER
    if (dialect_) return capacity();
#endif
    if (!whole_) return capacity();  // blocks are spread over all SMs
    return capacity() * apps::groups_on_sm(app, input, local_size, capacity());
  }
  [[nodiscard]] nlohmann::ordered_json device() const override { return described(); }
  [[nodiscard]] bool traces() const override { return true; }
  [[nodiscard]] const char* unit_name() const override { return "SM"; }
  void prepare(std::string_view app) override {
#ifdef COHORT_WITH_COMPILER
    if (dialect_) return static_cast<void>(dialect_->prepare(app));
#endif
    (void)choose("app", app, apps::all());
  }
  apps::Outcome run(std::string_view app, apps::Request& request) override {
    if (request.options.traces != nullptr)
      throw Error{Errc::bad_options, "--check-trace does not work with --engine cuda; drop it"};
#ifdef COHORT_WITH_COMPILER
    if (dialect_) return dialect_->run(engine_, app, request);
#endif
    return apps::run_on_cuda(app, engine_, request);
  }
  [[nodiscard]] std::function<Load::Served()> product(std::uint32_t side,
                                                      const TaskOptions& options) override {
    return [options, product = std::make_shared<CudaProduct>(engine_, side)] {
      return Load::Served{.report = product->run(options.groups, options.tracer),
                          .right = product->right()};
    };
  }
  [[nodiscard]] nlohmann::ordered_json time_slicing(const ScenarioOptions& options) override {
    return cuda_time_slicing(options);
  }
  /// Our algorithms only. The paper's outlier has whole steps, as there.
  [[nodiscard]] std::optional<Pair> adapt(Pair pair) const override {
    std::erase(pair.settings, "algorithm=paper");
    if (pair.name() == "bfs rmat") pair.settings.emplace_back("chunk=0");
    return pair;
  }

 private:
  cuda::Engine engine_;
  bool whole_;  // it may use all SMs
#ifdef COHORT_WITH_COMPILER
  std::optional<apps::DialectApps<cuda::Engine>> dialect_;
#endif
};

}  // namespace

std::unique_ptr<Place> make_cuda_place(const PlaceOptions& options) {
  return std::make_unique<CudaPlace>(options);
}

}  // namespace cohort::bench
