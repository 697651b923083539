#include "bench/opencl/place.hpp"

#include <set>

#include "apps/dialect/dialect.hpp"
#include "bench/load.hpp"

namespace cohort::bench {
namespace {

class OpenClPlace final : public Place {
 public:
  explicit OpenClPlace(const PlaceOptions& options)
      : engine_({.device = options.device,
                 .capacity = options.capacity,
                 .scheduler = options.scheduler == "group" ? opencl::Scheduler::group
                                                           : opencl::Scheduler::host}),
        multiply_(apps::dialect_kernel("multiply", "opencl")) {}

  [[nodiscard]] std::uint32_t capacity() const override { return engine_.capacity(); }

  [[nodiscard]] nlohmann::ordered_json device() const override { return describe(engine_); }
  [[nodiscard]] bool on_cpus() const override { return engine_.device().is_cpu; }

  void prepare(std::string_view app) override {
    const ProgramKernel& kernel = apps_.prepare(app);
    if (loaded_.insert(kernel.info().name).second) engine_.load(kernel);
  }
  apps::Outcome run(std::string_view app, apps::Request& request) override {
    return apps_.run(engine_, app, request);
  }

  [[nodiscard]] std::function<Load::Served()> product(std::uint32_t side,
                                                      const TaskOptions& options) override {
    engine_.load(multiply_);
    return [this, options, product = std::make_shared<Product>(engine_, multiply_, side)] {
      product->result.fill(-1);
      return Load::Served{.report = product->kernel.submit(engine_, options).wait(),
                          .right = product->result.read() == product->host.expected()};
    };
  }

  /// They are the paper's algorithms, and have no other.
  [[nodiscard]] std::optional<Pair> adapt(Pair pair) const override {
    if (pair.chunked) return {};
    std::erase(pair.settings, "algorithm=paper");
    return pair;
  }

 private:
  struct Product {
    Product(opencl::Engine& engine, const ProgramKernel& multiply, std::uint32_t side)
        : host(side),
          kernel(multiply),
          left(engine.upload(host.left())),
          right(engine.upload(host.right_factor())),
          result(engine.fill<float>(std::size_t{side} * side, 0)) {
      kernel.set("left", left.data()).set("right", right.data());
      kernel.set("product", result.data()).set("side", side);
    }
    MatrixProduct host;
    ProgramKernel kernel;
    Buffer<float> left;
    Buffer<float> right;
    Buffer<float> result;
  };

  opencl::Engine engine_;
  ProgramKernel multiply_;
  apps::DialectApps<opencl::Engine> apps_{"opencl"};
  std::set<std::string> loaded_;
};

}  // namespace

nlohmann::ordered_json describe(const opencl::Engine& engine) {
  const opencl::Device& device = engine.device();
  return {{"name", device.name},
          {"platform", device.platform},
          {"version", device.version},
          {"units", device.units}};
}

std::unique_ptr<Place> make_opencl_place(const PlaceOptions& options) {
  return std::make_unique<OpenClPlace>(options);
}

}  // namespace cohort::bench
