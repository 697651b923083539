// cohort demo: a graph traversal on all cores, first alone, then next to a renderer that takes half
// of the cores 25 times a second. All results are verified.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/bfs/host.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/report.hpp"
#include "cohort/cpu.hpp"
#include "cohort/periodic.hpp"
#include "graph/generators.hpp"
#include "tool/other_programs.hpp"
#include "tool/progress.hpp"
#include "tool/record.hpp"
#include "tool/renderer.hpp"
#include "tool/timeline.hpp"

namespace cohort::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

constexpr milliseconds frame_period{40};
constexpr milliseconds frame_work{8};  ///< CPU time of a frame on each of its workers
constexpr Node side = 1000;            ///< side of the grid

struct Options {
  double seconds = 8;
  std::string out;
  std::string json;
  std::string share;
};

/// Totals over the traversals of one phase.
struct Phase {
  std::uint64_t traversals = 0;
  std::uint64_t wrong = 0;
  std::string difference;
  Clock::duration elapsed{};
  Clock::duration run_time{};  ///< sum over the launches, without the checks in between
  std::uint64_t joins = 0;
  std::uint64_t leaves = 0;
  /// M, the number of active groups, from time `at` of the phase on.
  struct Size {
    Clock::duration at;
    std::uint32_t groups;
  };
  std::vector<Size> sizes;

  [[nodiscard]] double per_second() const {
    return static_cast<double>(traversals) / Seconds{run_time}.count();
  }
};

/// The graph and the levels of a sequential search.
struct World {
  apps::bfs::App search{{apps::known_graph(grid(side, side))}, 0};
  std::vector<std::uint32_t> levels;  ///< verified result
};

apps::BfsResult traversal(cpu::Engine& engine, const World& world, const apps::RunOptions& how) {
  return apps::solve(engine, world.search, how);
}

/// Traverses the graph repeatedly for `time`, at least once. `tracer` records the jobs.
Phase traverse(cpu::Engine& engine, const World& world, Seconds time, const std::string& title,
               const std::stop_token& stop, Tracer* tracer = nullptr) {
  const tool::Progress progress;
  Phase phase;
  const auto begin = Clock::now();
  apps::RunOptions how;
  how.launch.stop = stop;
  how.launch.tracer = tracer;
  Clock::time_point launched;
  // Shows the job's workers live, 25 times a second.
  const auto live = [&](const Job& job) {
    const std::uint32_t workers = engine.capacity();
    const auto sizes = job.report().sizes;
    const std::uint32_t groups = sizes.empty() ? 0 : sizes.back().groups;
    std::string bar;
    for (std::uint32_t i = 0; i < std::min(workers, 64U); ++i)
      bar += i < groups ? "\u2588" : "\u2591";
    progress.show(title + "  " + bar + " " + std::to_string(groups) + " of " +
                  std::to_string(workers) + " workers, " + std::to_string(phase.traversals) +
                  " traversals");
  };
  how.drive = [&](const Job& job) {
    launched = Clock::now();
    if (progress.on_terminal()) {
      while (!job.wait_for(milliseconds{40})) live(job);
    }
    Report report = job.wait();
    phase.run_time += Clock::now() - launched;
    return report;
  };
  do {
    const apps::BfsResult result = traversal(engine, world, how);
    if (result.report.status != Status::finished) throw tool::Stopped{};
    if (result.levels != world.levels) {
      ++phase.wrong;
      phase.difference = world.search.difference(result).value_or("");
    }
    ++phase.traversals;
    phase.joins += result.report.joins;
    phase.leaves += result.report.leaves;
    for (const Report::Size& size : result.report.sizes) {
      phase.sizes.push_back(
          {launched - begin + std::chrono::nanoseconds{size.nanoseconds}, size.groups});
    }
    phase.elapsed = Clock::now() - begin;
  } while (phase.elapsed < time);
  return phase;
}

/// Prints M over the end of a phase as bars; a column is the mean over 5 ms.
void print_strip(const Phase& phase, std::uint32_t most) {
  constexpr int columns = 72;
  constexpr Clock::duration column_time = milliseconds{5};
  const auto from = std::max(Clock::duration{}, phase.elapsed - columns * column_time);

  std::vector<double> area(columns, 0);  // mean number of groups per column
  for (std::size_t i = 0; i < phase.sizes.size(); ++i) {
    const auto until = i + 1 < phase.sizes.size() ? phase.sizes[i + 1].at : phase.elapsed;
    for (int column = 0; column < columns; ++column) {
      const auto begin = from + column * column_time;
      const auto shared = std::min(until, begin + column_time) - std::max(phase.sizes[i].at, begin);
      if (shared > Clock::duration{})
        area[static_cast<std::size_t>(column)] +=
            phase.sizes[i].groups * (Seconds{shared} / Seconds{column_time});
    }
  }
  const std::uint32_t rows = std::min(most, 4U);
  for (std::uint32_t row = rows; row > 0; --row) {
    const std::uint32_t groups = (most * row + rows - 1) / rows;
    const double before = static_cast<double>(most * (row - 1)) / rows;
    std::cout << std::setw(7) << groups << " |";
    for (const double mean : area) std::cout << (mean > (groups + before) / 2 ? '#' : ' ');
    std::cout << '\n';
  }
  std::cout << " groups +" << std::string(columns, '-') << " last "
            << std::chrono::duration_cast<milliseconds>(columns * column_time).count() << " ms\n";
}

struct Outcome {
  std::uint32_t workers;
  std::uint32_t frame_workers;
  std::uint32_t frame_width;
  Phase alone;
  Phase shared;
  PeriodicReport frames;
  std::uint64_t wrong_frames;
  double share;      ///< fraction of all workers' time spent drawing
  double disturbed;  ///< fraction of the CPUs' time that other programs used

  [[nodiscard]] double slowdown() const { return alone.per_second() / shared.per_second(); }
  [[nodiscard]] double ideal() const { return 1 / (1 - share); }
  [[nodiscard]] bool right() const {
    return alone.wrong == 0 && shared.wrong == 0 && wrong_frames == 0;
  }
};

double in_ms(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

void print(const Outcome& outcome) {
  const PeriodicReport& frames = outcome.frames;
  std::cout << std::fixed << std::setprecision(1) << "alone        " << outcome.alone.per_second()
            << " traversals/s on " << outcome.workers << " workers\n"
            << "with frames  " << outcome.shared.per_second() << " traversals/s: slowdown "
            << std::setprecision(2) << outcome.slowdown() << ", ideal " << outcome.ideal()
            << " (frames used " << std::setprecision(1) << outcome.share * 100
            << "% of the machine)\n"
            << "frames       " << frames.count - frames.late << " of " << frames.count
            << " on time, each on " << outcome.frame_workers << " of " << outcome.workers
            << " workers, drawn in " << in_ms(frames.run_time.p50) << " ms (p50)\n"
            << "gather time  p50 " << std::setprecision(2) << in_ms(frames.gather.p50)
            << " ms, p99 " << in_ms(frames.gather.p99) << " ms, max " << in_ms(frames.gather.max)
            << " ms; " << outcome.shared.leaves << " groups left, " << outcome.shared.joins
            << " joined\n";
  print_strip(outcome.shared, outcome.workers);
  const std::string warning = tool::busy_warning(outcome.disturbed);
  if (!warning.empty()) std::cout << "note         " << warning << '\n';
  const std::uint64_t traversals = outcome.alone.traversals + outcome.shared.traversals;
  if (outcome.right()) {
    std::cout << "verified     all " << traversals << " traversals, all " << frames.count
              << " frames\n";
  } else {
    std::cout << "WRONG        " << outcome.alone.wrong + outcome.shared.wrong << " of "
              << traversals << " traversals, " << outcome.wrong_frames << " of " << frames.count
              << " frames " << outcome.alone.difference << outcome.shared.difference << '\n';
  }
}

nlohmann::ordered_json to_json(const Phase& phase) {
  return {{"traversals", phase.traversals},
          {"wrong", phase.wrong},
          {"run_time_ns", std::chrono::nanoseconds{phase.run_time}.count()},
          {"elapsed_ns", std::chrono::nanoseconds{phase.elapsed}.count()},
          {"per_second", phase.per_second()},
          {"joins", phase.joins},
          {"leaves", phase.leaves}};
}

nlohmann::ordered_json to_json(const Outcome& outcome) {
  const PeriodicReport& frames = outcome.frames;
  nlohmann::ordered_json result{
      {"workers", outcome.workers},
      {"alone", to_json(outcome.alone)},
      {"with_frames", to_json(outcome.shared)},
      {"slowdown", outcome.slowdown()},
      {"ideal_slowdown", outcome.ideal()},
      {"frames",
       {{"workers", outcome.frame_workers},
        {"width", outcome.frame_width},
        {"period_ns", std::chrono::nanoseconds{frame_period}.count()},
        {"count", frames.count},
        {"late", frames.late},
        {"wrong", outcome.wrong_frames},
        {"gather", tool::to_json(frames.gather)},
        {"run_time", tool::to_json(frames.run_time)},
        {"share", outcome.share}}},
      {"disturbed", outcome.disturbed},
      {"warning", tool::busy_warning(outcome.disturbed)},
      {"verified", outcome.right()},
  };
  result.update(tool::provenance());
  return result;
}

/// Records 0.3 s for the timeline in a separate run, because tracing costs time.
void record(cpu::Engine& engine, const World& world, std::uint32_t frame_width,
            std::uint32_t frame_workers, const std::filesystem::path& folder,
            const std::stop_token& stop) {
  // A new loop, because the measured run may have stopped in the middle of a frame.
  tool::Renderer renderer{frame_width};
  tool::Timeline timeline{std::size_t{1} << 16U};
  Periodic frames{engine,
                  frame_period,
                  [&renderer](auto& group) { renderer.draw(group); },
                  {.groups = frame_workers, .priority = 1, .tracer = &timeline.task("frame")}};
  traverse(engine, world, milliseconds{300}, "recording", stop, &timeline.job("bfs"));
  frames.stop();
  timeline.write(folder / "timeline.trace.json");
  engine.submit([&renderer](auto& group) { renderer.draw(group); }, {.groups = frame_workers})
      .wait();
  tool::write_png(folder / "frame.png", renderer.picture());
}

int run(const Options& options, const std::stop_token& stop) {
  if (!options.json.empty()) tool::check_writable(options.json);
  if (!options.out.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(options.out, ignored);
    tool::check_writable(std::filesystem::path{options.out} / "report.html");
  }

  cpu::Engine engine{{.share = share_name(options.share)}};
  announce_share(share_name(options.share));
  const std::uint32_t workers = engine.capacity();
  const std::uint32_t frame_workers = std::max(1U, workers / 2);
  World world;
  const std::uint32_t width = tool::width_for(frame_work * frame_workers);
  tool::Renderer renderer{width};
  std::cout << "breadth-first search of a grid of " << side << " x " << side << " nodes, "
            << "and a picture of " << width << " x " << tool::height_of(width) << " pixels every "
            << frame_period.count() << " ms\n"
            << std::flush;
  const apps::BfsResult first = traversal(engine, world, {});
  world.levels = first.levels;
  if (const auto difference = world.search.difference(first)) {
    std::cout << "WRONG        " << *difference << '\n';
    return failed;
  }

  const Seconds half{options.seconds / 2};
  const tool::OtherPrograms others;
  Phase alone = traverse(engine, world, half, "alone", stop);
  Periodic frames{engine,
                  frame_period,
                  [&renderer](auto& group) { renderer.draw(group); },
                  {.groups = frame_workers, .priority = 1}};
  Phase shared = traverse(engine, world, half, "with frames", stop);
  const auto used = renderer.used();
  const PeriodicReport drawn = frames.stop();
  const double disturbed = others.share();
  if (!options.out.empty()) record(engine, world, width, frame_workers, options.out, stop);

  const double share = Seconds{used} / Seconds{shared.elapsed} / workers;
  const Outcome outcome{.workers = workers,
                        .frame_workers = frame_workers,
                        .frame_width = width,
                        .alone = std::move(alone),
                        .shared = std::move(shared),
                        .frames = drawn,
                        .wrong_frames = renderer.wrong(),
                        .share = share,
                        .disturbed = disturbed};
  print(outcome);
  if (!options.json.empty()) tool::write_atomically(options.json, to_json(outcome).dump(2) + "\n");
  if (!options.out.empty()) {
    tool::write_atomically(std::filesystem::path{options.out} / "demo.json",
                           to_json(outcome).dump(2) + "\n");
    write_report({options.out});
  }
  return outcome.right() ? fine : failed;
}

}  // namespace

void add_demo(CLI::App& tool, Action& chosen, Interrupt& interrupt) {
  CLI::App* const command =
      tool.add_subcommand("demo", "Traverse a graph while a renderer takes half of the workers");
  const auto options = std::make_shared<Options>();
  add_value(*command, "--seconds", options->seconds, "SECONDS",
            "Duration of the measurement, half of it without the renderer")
      ->check(positive_number("--seconds", 3600))
      ->capture_default_str();
  add_value(*command, "--json", options->json, "FILE", "Write the figures to FILE");
  add_value(*command, "--out", options->out, "FOLDER",
            "Write the figures, report.html and a frame into FOLDER, made if it is missing");
  add_share(*command, options->share);
  command->callback([options, &chosen, &interrupt] {
    chosen = [options, &interrupt] {
      const Interrupt::Graceful graceful{interrupt};
      return run(*options, interrupt.token());
    };
  });
}

}  // namespace cohort::cli
