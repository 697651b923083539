#include <algorithm>
#include <optional>
#include <thread>

#include "apps/cuda/runs.hpp"
#include "bench/cuda/beside.hpp"
#include "bench/cuda/blas.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/words.hpp"
#include "bench/load.hpp"
#include "bench/serving.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

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
  const auto serve = [&] {
    TaskReport report;
    report.run_time = nanoseconds{static_cast<nanoseconds::rep>(products.run(sms - 1))};
    // They are all the same: looked at once, in the end.
    return Load::Served{.report = std::move(report), .right = true};
  };
  Load load{serve, lease_period};
  apps::RunOptions how = with_groups(sms);
  how.drive = [&load](const Job& job) { return load.drive(job); };
  Checks checks;
  const std::size_t enough = options.quick ? 10 : 200;
  const auto until = Clock::now() + std::chrono::seconds{15};  // of short jobs few meet a product
  do {
    if (options.stop.stop_requested()) throw Stopped{};
    static_cast<void>(variant.run(engine, how, load.jobs().empty() ? &checks : nullptr));
  } while (load.begun_beside() < enough && Clock::now() < until);
  load.end();
  std::vector<double> times;
  for (const TaskSample& each : load.tasks()) {
    if (each.beside) times.push_back(static_cast<double>(each.run));
  }
  if (times.empty()) throw std::runtime_error{"lease: no product met " + variant.name()};
  const double ratio = percentile(times, 99) / percentile(idle, 99);
  row("beside " + variant.pair.name(), times);
  std::cout << "    p99 " << ratio << "x of the idle GPU's"
            << (ratio <= allowed ? "" : ", NOT within 1.5") << std::endl;
  return {{"app", variant.name()},
          {"chunked", variant.pair.chunked},
          {"verified", checks.run()},
          {"product_right", products.right()},
          {"jobs", load.jobs().size()},
          {"leased", numbers(times)},
          {"p50_over_idle", percentile(times, 50) / percentile(idle, 50)},
          {"p99_over_idle", ratio},
          {"within", ratio <= allowed}};
}

}  // namespace

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

}  // namespace cohort::bench
