#include "bench/opencl/stealing.hpp"

#include <atomic>
#include <cmath>
#include <random>
#include <thread>

#include "apps/dialect/dialect.hpp"
#include "bench/device_record.hpp"
#include "bench/harness.hpp"

namespace cohort::bench {
namespace {

using std::chrono::nanoseconds;

class Stealing {
 public:
  explicit Stealing(const ScenarioOptions& options)
      : engine_({.capacity = options.capacity,
                 .scheduler = options.scheduler == "group" ? opencl::Scheduler::group
                                                           : opencl::Scheduler::host}),
        program_(apps::dialect_program("stealing", "opencl")),
        out_(engine_.fill<double>(engine_.capacity(), 0)),
        stop_(options.stop),
        all_(engine_.capacity()) {
    engine_.load(program_);
    const std::uint64_t steps = 100'000;
    per_step_ =
        fastest_of(50, [&] { return in_ns(task(steps, 1).run_time); }) / static_cast<double>(steps);
  }

  [[nodiscard]] const opencl::Engine& engine() const { return engine_; }

  std::vector<double> times(const GatherLoad& load, KillOrder order, nanoseconds offer_wait) {
    engine_.set_capacity(load.capacity);
    auto board = engine_.fill<std::uint32_t>(2, 0);
    const std::atomic_ref<std::uint32_t> over{board.data()[0]};
    const std::atomic_ref<std::uint32_t> longer{board.data()[1]};
    ProgramKernel kernel =
        program_.kernel(order == KillOrder::any ? "steal_any" : "steal_highest_first");
    const std::uint64_t steps = steps_for(load.task);
    kernel.set("board", board.data()).set("out", out_.data()).set("most", load.capacity);
    kernel.set("steps", steps).set("long_steps", steps * GatherLoad::long_factor);
    const Job job = kernel.launch(engine_, {.max_groups = load.capacity, .offer_wait = offer_wait});
    std::uniform_int_distribution<std::int64_t> pause{0, load.task.count()};
    std::vector<double> result;
    for (std::uint32_t i = 0; i < load.trials; ++i) {
      wait_until(job, stop_, [&] {
        const auto sizes = job.report().sizes;
        return !sizes.empty() && sizes.back().groups == load.capacity;
      });
      if (load.long_on_top) {
        longer.store(1);
        wait_until(job, stop_, [&] { return longer.load() == 0; });
      }
      std::this_thread::sleep_for(nanoseconds{pause(random_)});
      result.push_back(in_ns(task(1, load.wanted).gather));
    }
    over.store(1);
    job.wait();
    engine_.set_capacity(all_);
    return result;
  }

 private:
  [[nodiscard]] std::uint64_t steps_for(nanoseconds time) const {
    return static_cast<std::uint64_t>(std::lround(in_ns(time) / per_step_));
  }

  TaskReport task(std::uint64_t steps, std::uint32_t groups) {
    ProgramKernel kernel = program_.kernel("churn_alone");
    kernel.set("out", out_.data()).set("steps", steps);
    return kernel.submit(engine_, {.groups = groups, .priority = 1}).wait();
  }

  opencl::Engine engine_;
  Program program_;
  Buffer<double> out_;
  std::stop_token stop_;
  std::uint32_t all_;
  double per_step_ = 1;
  std::mt19937_64 random_{1};  // NOLINT(cert-msc51-cpp): the same on every machine
};

}  // namespace

OpenClStealing::OpenClStealing(const ScenarioOptions& options) {
  const auto stealing = std::make_shared<Stealing>(options);
  device = device_record(stealing->engine());
  capacity = stealing->engine().capacity();
  gatherer.kill = [stealing](const GatherLoad& load, KillOrder order, nanoseconds offer_wait,
                             Aside& /*aside*/) { return stealing->times(load, order, offer_wait); };
}

}  // namespace cohort::bench
