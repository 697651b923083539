#include <algorithm>
#include <array>
#include <optional>
#include <thread>

#include "bench/cuda/beside.hpp"
#include "bench/cuda/blas.hpp"
#include "bench/cuda/pairs.hpp"
#include "bench/cuda/words.hpp"
#include "cohort/cuda.hpp"
#include "tool/load.hpp"
#include "tool/product.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

/// Durations of one product, in nanoseconds.
struct Took {
  double all;     // time from the call to the result, by the host's clock
  double asking;  // part of `all`: inside the call of lease()
  // Part of `all`: the wait for SMs and the product, from lease()'s return until the device was
  // done.
  double served;
};

/// cuBLAS products in a stream of high priority.
class Products {
 public:
  explicit Products(cuda::Engine& engine) : engine_(engine) {
    int low = 0;
    int high = 0;
    check(cudaDeviceGetStreamPriorityRange(&low, &high));
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high));
    for (cudaEvent_t& each : events_) check(cudaEventCreate(&each));
    if (!blas_.there()) return;
    blas_.use(stream_, workspace_.data(), workspace_.size() * sizeof(float));
    size_ = tool::side_for(milliseconds{1}, [this](std::uint32_t size) {
      resize(size);
      for (int i = 0; i < 3; ++i) (void)run(0);
      return run(0).all / 1e9;
    });
    resize(size_);
  }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products() {
    for (cudaEvent_t each : events_) cudaEventDestroy(each);
    cudaStreamDestroy(stream_);
  }

  [[nodiscard]] bool there() const { return blas_.there(); }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Runs one product, under a lease of `sms` SMs, or without a lease for 0.
  Took run(std::uint32_t sms) {
    const auto begin = Clock::now();
    mark(0);
    {
      std::optional<cuda::Lease> lease;
      if (sms > 0) lease.emplace(engine_.lease(stream_, {.sms = sms}));
      mark(1);
      blas_.product(static_cast<int>(size_), a_.data(), b_.data(), c_.data());
      mark(2);
    }
    check(cudaStreamSynchronize(stream_));
    const double all = ns(Clock::now() - begin);
    return {.all = all, .asking = between(0), .served = between(1)};
  }
  /// Whether the last product was right.
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
  void mark(std::size_t event) { check(cudaEventRecord(events_[event], stream_)); }
  [[nodiscard]] double between(std::size_t event) const {
    float in_ms = 0;
    check(cudaEventElapsedTime(&in_ms, events_[event], events_[event + 1]));
    return double{in_ms} * 1e6;
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
  std::array<cudaEvent_t, 3> events_{};
  Buffer<float> workspace_ = engine_.fill(std::size_t{8} << 20U, 0.0F);
  std::uint32_t size_ = 0;
  Buffer<float> a_;
  Buffer<float> b_;
  Buffer<float> c_;
};

constexpr milliseconds lease_period{10};

std::vector<double> column(const std::vector<Took>& all, double Took::*part) {
  std::vector<double> result;
  for (const Took& took : all) result.push_back(took.*part);
  return result;
}

/// Runs products on the idle GPU and next to jobs in turns, so that disturbances of the host affect
/// both. Appends the idle ones to `all_idle`.
Json lease_beside(const Variant& variant, cuda::Engine& engine, Products& products,
                  const ScenarioOptions& options, std::vector<double>& all_idle) {
  constexpr double allowed = 1.5;
  const std::uint32_t rounds = options.quick ? 1 : 4;
  const std::size_t in_a_round = options.quick ? 10 : 50;
  const std::uint32_t sms = engine.capacity();
  std::vector<Took> idle;
  std::vector<Took> leased;
  std::size_t jobs = 0;
  Checks checks;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < in_a_round; ++i) {
      std::this_thread::sleep_for(lease_period);
      idle.push_back(products.run(0));
    }
    std::vector<Took> served;  // the load's thread uses it until the thread ends
    tool::Load load{[&] {
                      served.push_back(products.run(sms - 1));
                      TaskReport report;
                      report.run_time =
                          nanoseconds{static_cast<nanoseconds::rep>(served.back().all)};
                      // All products have the same inputs, so only the last one is verified, at the
                      // end.
                      return tool::Load::Served{.report = std::move(report), .right = true};
                    },
                    lease_period};
    apps::RunOptions how = with_groups(sms);
    how.drive = [&load](const Job& job) { return load.drive(job); };
    // Long, because few short jobs meet a product.
    const auto until = Clock::now() + std::chrono::seconds{4};
    do {
      if (options.stop.stop_requested()) throw Stopped{};
      static_cast<void>(variant.run(engine, how, ++jobs == 1 ? &checks : nullptr));
    } while (load.begun_beside() < in_a_round && Clock::now() < until);
    load.end();
    for (std::size_t i = 0; i < served.size(); ++i) {
      if (load.tasks()[i].beside) leased.push_back(served[i]);
    }
  }
  if (leased.empty()) throw std::runtime_error{"lease: no product met " + variant.name()};
  const std::vector<double> alone = column(idle, &Took::all);
  const std::vector<double> times = column(leased, &Took::all);
  all_idle.insert(all_idle.end(), alone.begin(), alone.end());
  const auto ratio = [&](double percent) {
    return percentile(times, percent) / percentile(alone, percent);
  };
  const bool within = ratio(99) <= allowed;
  row("idle GPU", alone);
  row("next to " + variant.pair.name(), times);
  row("  asking for SMs", column(leased, &Took::asking));
  row("  getting them, and the product", column(leased, &Took::served));
  std::cout << "    p99 " << ratio(99) << "x of the idle GPU's"
            << (within ? "" : ", NOT within 1.5") << std::endl;
  return {{"app", variant.name()},
          {"chunked", variant.pair.chunked},
          {"verified", checks.run()},
          {"product_right", products.right()},
          {"jobs", jobs},
          {"idle", numbers(alone)},
          {"leased", numbers(times)},
          {"asking", numbers(column(leased, &Took::asking))},
          {"served", numbers(column(leased, &Took::served))},
          {"p50_over_idle", ratio(50)},
          {"p99_over_idle", ratio(99)},
          {"within", within}};
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
  auto beside = Json::array();
  for (const Variant& variant : cuda_variants(options.quick, options.only, true)) {
    const std::string& app = variant.pair.app;
    if (app != "bfs" && app != "mis" && app != "octree") continue;
    beside.push_back(lease_beside(variant, engine, products, options, idle));
  }
  std::cout << std::endl;
  if (beside.empty()) return nullptr;
  return {{"size", products.size()},
          {"period_ns", nanoseconds{lease_period}.count()},
          {"sms", sms - 1},
          {"idle", numbers(idle)},
          {"beside", std::move(beside)}};
}

}  // namespace cohort::bench
