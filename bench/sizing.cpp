// Scenario "sizing": the paper's section 5.2. How much of the machine does a frame loop need? A
// synthetic kernel repeatedly takes all groups for a time t, and t grows until frames are missed.
#include <atomic>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/arithmetic.hpp"
#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "tool/load.hpp"
#include "tool/product.hpp"
#include "tool/progress.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

/// A renderer that computes frames at a fixed rate. Each frame is computed on all groups and
/// checked.
class FrameLoop {
 public:
  FrameLoop(cpu::Engine& engine, tool::MatrixProduct& frame, nanoseconds interval)
      : thread_([this, &engine, &frame, interval](const std::stop_token& stop) {
          auto due = Clock::now();
          while (!stop.stop_requested()) {
            frame.clear();
            engine
                .submit([&frame](auto& group) { frame.multiply(group); },
                        {.groups = engine.capacity(), .priority = 1})
                .wait();
            drawn_.fetch_add(1, std::memory_order_relaxed);
            if (!frame.right()) wrong_.fetch_add(1, std::memory_order_relaxed);
            due += interval;
            if (Clock::now() > due) {
              missed_.fetch_add(1, std::memory_order_relaxed);
              due = Clock::now();
            }
            std::this_thread::sleep_until(due);
          }
        }) {}

  [[nodiscard]] std::uint64_t drawn() const { return drawn_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t wrong() const { return wrong_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> drawn_{0};
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> wrong_{0};
  std::jthread thread_;  // last member: the thread uses all of the above
};

/// Measurements while the synthetic kernel ran in a loop.
struct Observed {
  Seconds all{};               // X in the paper
  Seconds kernel{};            // Y in the paper
  std::uint64_t launches = 0;  // n in the paper
  std::uint64_t frames = 0;
  std::uint64_t missed = 0;
  std::uint64_t wrong = 0;
};

Observed observe(cpu::Engine& engine, tool::MatrixProduct& frame, const tool::LoadClass& load,
                 nanoseconds t, Seconds time, const std::stop_token& stop) {
  const FrameLoop loop{engine, frame, load.period};
  Observed seen;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    if (stop.stop_requested()) throw Stopped{};
    // The clock decides when the kernel ends, so it occupies every group for t on a machine of any
    // speed.
    const auto occupy = [t] {
      const auto until = cpu::now() + static_cast<std::uint64_t>(t.count());
      while (cpu::now() < until) keep(churn(1000));
    };
    const TaskReport report = engine.submit(occupy, {.groups = engine.capacity()}).wait();
    seen.kernel += report.run_time;
    ++seen.launches;
  }
  seen.all = Clock::now() - begin;
  seen.frames = loop.drawn();
  seen.missed = loop.missed();
  seen.wrong = loop.wrong();
  return seen;
}

/// The largest t at which no frame is missed, with a precision of half a millisecond.
nanoseconds largest(cpu::Engine& engine, tool::MatrixProduct& frame, const tool::LoadClass& load,
                    Seconds time, const std::stop_token& stop, Json& tries) {
  nanoseconds good{0};
  nanoseconds bad = load.period;
  while (bad - good > std::chrono::microseconds{500}) {
    const nanoseconds t = (good + bad) / 2;
    const Observed seen = observe(engine, frame, load, t, time, stop);
    tries.push_back({{"t_ns", t.count()}, {"frames", seen.frames}, {"missed", seen.missed}});
    (seen.missed == 0 ? good : bad) = t;
  }
  return good;
}

Json run_sizing(const ScenarioOptions& options) {
  // Frames and the kernel take turns on the whole machine, as on a GPU without preemption.
  cpu::Engine engine{{.capacity = options.capacity}};
  const Seconds search_time{options.quick ? 0.3 : 2.0};
  const Seconds time{options.quick ? 1.0 : 10.0};
  auto rows = Json::array();
  std::cout << "frame loops, seen from outside (section 5.2): E = (X-Y)/n, P = X/n; X = "
            << std::fixed << std::setprecision(0) << time.count() << " s"
            << (options.quick ? " (the paper: 10 or more)" : "") << '\n'
            << "  class     frame, alone   largest t   missed         E       P   paper's E, P\n";
  for (const tool::LoadClass& load : tool::load_classes) {
    const Progress progress;
    progress.show("sizing " + std::string{load.name});
    tool::MatrixProduct frame{tool::side_for(engine, load.work, engine.capacity())};
    auto tries = Json::array();
    const nanoseconds t = largest(engine, frame, load, search_time, options.stop, tries);
    const Observed seen = observe(engine, frame, load, t, time, options.stop);
    const auto launches = static_cast<double>(seen.launches);
    const double work = (seen.all - seen.kernel).count() / launches;
    const double period = seen.all.count() / launches;
    progress.show("");
    std::cout << "  " << std::left << std::setw(10) << load.name << std::right
              << std::setprecision(1) << std::setw(9) << static_cast<double>(load.work.count())
              << " ms" << std::setw(10) << Seconds{t}.count() * 1e3 << " ms" << std::setw(5)
              << seen.missed << " of " << std::setw(4) << seen.frames << std::setw(7) << work * 1e3
              << " ms" << std::setw(6) << period * 1e3 << " ms   " << load.work.count() << ", "
              << load.period.count() << " ms" << (seen.wrong > 0 ? "  WRONG FRAMES" : "") << '\n';
    rows.push_back({{"class", load.name},
                    {"frame_side", frame.side()},
                    {"frame_interval_ns", nanoseconds{load.period}.count()},
                    {"largest_t_ns", t.count()},
                    {"X_s", seen.all.count()},
                    {"Y_s", seen.kernel.count()},
                    {"n", seen.launches},
                    {"frames", seen.frames},
                    {"missed", seen.missed},
                    {"wrong", seen.wrong},
                    {"E_ns", work * 1e9},
                    {"P_ns", period * 1e9},
                    {"search", std::move(tries)}});
  }
  std::cout << std::endl;
  return {{"groups", engine.capacity()}, {"classes", std::move(rows)}};
}

}  // namespace

const Scenario sizing_scenario{.name = "sizing",
                               .summary = "section 5.2: how much of the machine a frame loop needs",
                               .run = &run_sizing,
                               .accepts = {.capacity = true}};

}  // namespace cohort::bench
