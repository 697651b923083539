// Scenario "sizing": the paper's section 5.2. How much of the machine does a renderer need at 30,
// 60 and 144 frames a second? A synthetic kernel takes all groups for t, repeatedly, and t grows
// until frames are missed. Frames and the kernel take turns on the whole machine, as on a GPU
// without preemption.
#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "bench/arithmetic.hpp"
#include "bench/frames.hpp"
#include "bench/harness.hpp"
#include "bench/scenario.hpp"
#include "cohort/cpu.hpp"
#include "tool/progress.hpp"

namespace cohort::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::duration<double, std::milli>;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::array rates{30, 60, 144};  // frames a second

class CpuFrames final : public FrameEngine {
 public:
  explicit CpuFrames(std::optional<std::uint32_t> capacity) : engine_({.capacity = capacity}) {}

  [[nodiscard]] std::uint32_t groups() const override { return engine_.capacity(); }
  void resize(std::uint32_t width) override {
    picture_ = {width, tool::height_of(width), {}};
    picture_.pixels.resize(std::size_t{width} * picture_.height);
    next_ = 0;
  }
  TaskReport draw() override {
    const tool::Drawing drawing{tool::Scene::at(next_++), picture_.width, picture_.height,
                                picture_.pixels.data()};
    return engine_.submit(drawing, {.groups = groups(), .priority = 1}).wait();
  }
  [[nodiscard]] tool::Picture picture() const override { return picture_; }
  TaskReport occupy(nanoseconds t) override {
    const auto spin = [t] {
      const auto until = cpu::now() + static_cast<std::uint64_t>(t.count());
      while (cpu::now() < until) keep(churn(1000));
    };
    return engine_.submit(spin, {.groups = groups()}).wait();
  }

 private:
  cpu::Engine engine_;
  tool::Picture picture_;
  std::uint32_t next_ = 0;
};

/// Draws frames at a fixed rate until it is destroyed.
class FrameLoop {
 public:
  FrameLoop(FrameEngine& engine, nanoseconds interval)
      : thread_([this, &engine, interval](const std::stop_token& stop) {
          auto due = Clock::now();
          while (!stop.stop_requested()) {
            times_.push_back(Nanoseconds{engine.draw().run_time}.count());
            due += interval;
            if (Clock::now() > due) {
              ++missed_;
              due = Clock::now();
            }
            std::this_thread::sleep_until(due);
          }
        }) {}

  /// Ends the loop of frames.
  void stop() {
    thread_.request_stop();
    thread_.join();
  }
  /// Call it after the end: the times of the frames on the machine, and the number of late frames.
  [[nodiscard]] const std::vector<double>& times() const { return times_; }
  [[nodiscard]] std::uint64_t missed() const { return missed_; }

 private:
  std::vector<double> times_;
  std::uint64_t missed_ = 0;
  std::jthread thread_;  // last member: the thread uses all of the above
};

/// Measurements while the synthetic kernel ran in a loop.
struct Observed {
  Seconds all{};               // X in the paper
  Seconds kernel{};            // Y in the paper
  std::uint64_t launches = 0;  // n in the paper
  std::vector<double> frames;
  std::uint64_t missed = 0;

  [[nodiscard]] double work() const {
    return (all - kernel).count() / static_cast<double>(launches);
  }
  [[nodiscard]] double period() const { return all.count() / static_cast<double>(launches); }
};

Observed observe(FrameEngine& engine, nanoseconds interval, nanoseconds t, Seconds time,
                 const std::stop_token& stop) {
  FrameLoop loop{engine, interval};
  Observed seen;
  const auto begin = Clock::now();
  while (Clock::now() - begin < time) {
    if (stop.stop_requested()) throw Stopped{};
    seen.kernel += engine.occupy(t).run_time;
    ++seen.launches;
  }
  seen.all = Clock::now() - begin;
  loop.stop();
  seen.frames = loop.times();
  seen.missed = loop.missed();
  return seen;
}

/// The largest t at which no frame is missed, with a precision of a hundredth of the interval.
nanoseconds largest(FrameEngine& engine, nanoseconds interval, Seconds time,
                    const std::stop_token& stop, Json& tries) {
  nanoseconds good{0};
  nanoseconds bad = interval;
  while (bad - good > interval / 100) {
    const nanoseconds t = (good + bad) / 2;
    const Observed seen = observe(engine, interval, t, time, stop);
    tries.push_back({{"t_ns", t.count()}, {"frames", seen.frames.size()}, {"missed", seen.missed}});
    (seen.missed == 0 ? good : bad) = t;
  }
  return good;
}

/// Whether the picture equals the one that a single thread of the host draws. Compilers round
/// differently, which can move an edge by a pixel.
bool right(const tool::Picture& picture, std::uint32_t frame) {
  return tool::difference(picture, tool::draw_alone(picture.width, picture.height, frame)) < 0.01;
}

Json run_sizing(const ScenarioOptions& options) {
  const std::unique_ptr<FrameEngine> engine =
#ifdef COHORT_WITH_CUDA_APPS
      options.engine == "cuda" ? cuda_frames(options.capacity) :
#endif
                               std::make_unique<CpuFrames>(options.capacity);
  const Seconds search_time{options.quick ? 0.3 : 2.0};
  const Seconds time{options.quick ? 1.0 : 10.0};
  const auto interval = [](int rate) { return nanoseconds{std::chrono::seconds{1}} / rate; };

  // The largest picture with which the fastest frame loop needs half of the machine.
  const std::uint32_t width = tool::width_for(interval(rates.back()) / 2, [&](std::uint32_t each) {
    engine->resize(each);
    return fastest_of(9, [&] { return Seconds{engine->draw().run_time}.count(); });
  });
  std::cout << "pictures of " << width << " x " << tool::height_of(width)
            << " pixels, seen from outside (section 5.2): E = (X-Y)/n, P = X/n; X = " << std::fixed
            << std::setprecision(0) << time.count() << " s"
            << (options.quick ? " (the paper: 10 or more)" : "") << '\n'
            << "  frames/s   largest t        missed         E         P   of the machine   a "
               "frame, seen from inside\n";
  auto rows = Json::array();
  for (const int rate : rates) {
    const Progress progress;
    progress.show("sizing " + std::to_string(rate) + " frames/s");
    auto tries = Json::array();
    engine->resize(width);
    const nanoseconds t = largest(*engine, interval(rate), search_time, options.stop, tries);
    engine->resize(width);
    const Observed seen = observe(*engine, interval(rate), t, time, options.stop);
    const tool::Picture picture = engine->picture();
    const bool is_right = right(picture, static_cast<std::uint32_t>(seen.frames.size() - 1));
    if (!options.frames.empty())
      tool::write_png(options.frames / (std::to_string(rate) + "-per-second.png"), picture);
    progress.show("");
    const double inside = median(seen.frames);
    std::cout << std::setw(10) << rate << std::setprecision(2) << std::setw(9)
              << Milliseconds{t}.count() << " ms" << std::setw(6) << seen.missed << " of "
              << std::setw(4) << seen.frames.size() << std::setw(7) << seen.work() * 1e3 << " ms"
              << std::setw(7) << seen.period() * 1e3 << " ms" << std::setprecision(0)
              << std::setw(15) << 100 * seen.work() / seen.period() << " %" << std::setprecision(2)
              << std::setw(24) << inside / 1e6 << " ms" << (is_right ? "" : "  WRONG FRAME")
              << '\n';
    rows.push_back({{"rate", rate},
                    {"largest_t_ns", t.count()},
                    {"X_s", seen.all.count()},
                    {"Y_s", seen.kernel.count()},
                    {"n", seen.launches},
                    {"frames", seen.frames.size()},
                    {"missed", seen.missed},
                    {"E_ns", seen.work() * 1e9},
                    {"P_ns", seen.period() * 1e9},
                    {"frame_p50_ns", inside},
                    {"right", is_right},
                    {"search", std::move(tries)}});
  }
  std::cout << std::endl;
  return {{"groups", engine->groups()},
          {"width", width},
          {"height", tool::height_of(width)},
          {"rates", std::move(rows)}};
}

}  // namespace

const Scenario sizing_scenario{
    .name = "sizing",
    .summary = "section 5.2: how much of the machine a renderer needs at 30, 60 and 144 frames/s",
    .run = &run_sizing,
    .accepts = {.capacity = true, .frames = true}};

}  // namespace cohort::bench
