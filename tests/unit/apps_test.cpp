// Tests of the apps: results are right on every kind of graph, by every algorithm, for every shape
// of job, and while groups join and leave. Invalid options are refused.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "apps/bfs/host.hpp"
#include "apps/cc/host.hpp"
#include "apps/color/host.hpp"
#include "apps/game/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/octree/host.hpp"
#include "apps/p_sssp/host.hpp"
#include "apps_support.hpp"
#include "graph/build.hpp"
#include "graph/spec.hpp"

namespace cohort::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Difference = std::optional<std::string>;

/// The outcome of a run: its report and the first error, if any.
struct Tried {
  Report report;
  Difference difference;
};

/// An app with an algorithm, as a function of a graph.
struct GraphApp {
  std::string name;
  std::function<Tried(cpu::Engine&, const Csr&, const RunOptions&, std::uint64_t chunk)> run;
};

/// `make(graph, chunk)` makes the app.
template <class Make>
GraphApp graph_app(std::string name, Make make) {
  return {std::move(name),
          [make](cpu::Engine& engine, const Csr& graph, const RunOptions& options,
                 std::uint64_t chunk) -> Tried {
            const auto app = make(known_graph(graph), chunk);
            const auto result = solve(engine, app, options);
            return {result.report, app.difference(result)};
          }};
}

/// Runs in short steps also get small cut sizes, and so many hubs.
CutSizes sizes_for(std::uint64_t chunk) {
  return chunk == 0 ? CutSizes{} : CutSizes{.hub = 8, .piece = 16, .block = 32, .list = 3};
}

std::vector<GraphApp> graph_apps() {
  std::vector<GraphApp> apps;
  const auto add_bfs = [&](const char* name, const BfsOptions& options) {
    apps.push_back(graph_app(name, [options](const GraphInput& graph, std::uint64_t chunk) {
      BfsOptions how = options;
      how.chunk = chunk;
      if (chunk != 0) how.solo = 0;
      return bfs::App{{graph}, 0, how};
    }));
  };
  add_bfs("bfs", {.direction = BfsOptions::Direction::down});
  add_bfs("bfs both directions", {.direction = BfsOptions::Direction::both});
  add_bfs("bfs paper", {.algorithm = BfsOptions::Algorithm::paper});
  for (const Priority priority : {Priority::hashed, Priority::id, Priority::degree}) {
    for (const bool paper : {false, true}) {
      using Algorithm = RankedOptions::Algorithm;
      const Algorithm algorithm = paper ? Algorithm::paper : Algorithm::ours;
      std::string kind = paper ? " paper" : "";
      if (priority == Priority::id) kind += " by id";
      if (priority == Priority::degree) kind += " by degree";
      const auto ranked = [=](const GraphInput& graph, std::uint64_t chunk) {
        return RankedApp{{graph}, {algorithm, priority, chunk, sizes_for(chunk)}};
      };
      apps.push_back(graph_app("color" + kind, [=](const GraphInput& graph, std::uint64_t chunk) {
        return color::App{ranked(graph, chunk)};
      }));
      apps.push_back(graph_app("mis" + kind, [=](const GraphInput& graph, std::uint64_t chunk) {
        return mis::App{ranked(graph, chunk)};
      }));
    }
  }
  for (const auto algorithm :
       {PullSsspOptions::Algorithm::in_place, PullSsspOptions::Algorithm::paper}) {
    apps.push_back(graph_app(
        algorithm == PullSsspOptions::Algorithm::paper ? "p-sssp paper" : "p-sssp",
        [=](const GraphInput& graph, std::uint64_t chunk) {
          return p_sssp::App{{{graph}, 0},
                             {.algorithm = algorithm, .chunk = chunk, .sizes = sizes_for(chunk)}};
        }));
  }
  for (const auto algorithm :
       {ListSsspOptions::Algorithm::delta, ListSsspOptions::Algorithm::paper}) {
    apps.push_back(
        graph_app(algorithm == ListSsspOptions::Algorithm::paper ? "l-sssp paper" : "l-sssp",
                  [=](const GraphInput& graph, std::uint64_t chunk) {
                    ListSsspOptions how{.algorithm = algorithm, .chunk = chunk};
                    if (chunk != 0) {
                      how.budget = 16;
                      how.piles = 2;
                    }
                    return l_sssp::App{{{graph}, 0}, how};
                  }));
  }
  apps.push_back(graph_app("cc", [](const GraphInput& graph, std::uint64_t chunk) {
    return cc::App{{graph}, {.chunk = chunk, .sizes = sizes_for(chunk)}};
  }));
  return apps;
}

/// A graph from adjacency lists.
Csr csr(const std::vector<std::vector<Node>>& lists) {
  Csr graph;
  for (const auto& each : lists) {
    graph.targets.insert(graph.targets.end(), each.begin(), each.end());
    graph.offsets.push_back(graph.targets.size());
  }
  return graph;
}

TEST(GraphApps, AreRightWhileGroupsComeAndGoOnEveryKindOfGraph) {
  const bool small = test::scale() < 1;
  const auto size = static_cast<Node>(small ? 500 : 1500);
  const std::vector<TestGraph> graphs = {
      {"grid", grid(size / 25, 25)},
      {"rmat", with_weights(rmat(small ? 8 : 10))},
      {"road", road(size)},
      {"geometric", geometric(size)},
      {"star", star(size)},
      {"path", path(small ? 200 : 600)},
      {"complete", complete(small ? 100 : 250)},
      {"empty", empty(size), false},
  };
  cpu::Engine engine{{.capacity = 4}};
  for (const GraphApp& app : graph_apps()) {
    for (const TestGraph& each : graphs) {
      const auto run = [&](std::uint32_t seed) {
        RunOptions options = resized_at_random(4, seed);
        options.launch.local_size = seed % 2 == 0 ? 7 : 1;
        const Tried tried = app.run(engine, each.graph, options, 2);
        EXPECT_EQ(tried.difference, std::nullopt) << app.name << " on " << each.name << " " << seed;
        return tried.report;
      };
      SCOPED_TRACE(app.name + " on " + each.name);
      if (each.resizes) {
        ASSERT_NO_FATAL_FAILURE(repeat_until_resized(2, run));
      } else {
        for (const std::uint32_t seed : {1U, 2U}) EXPECT_EQ(run(seed).status, Status::finished);
      }
    }
  }
}

TEST(Apps, OfTheListAreRightStaticAndWhileGroupsComeAndGo) {
  cpu::Engine engine{{.capacity = 3}};
  for (const AppInfo& app : all()) {
    for (const std::string_view input :
         app.examples.first(std::min<std::size_t>(2, app.examples.size()))) {
      SCOPED_TRACE(std::string{app.name} + " on " + std::string{input});
      const Ready ready = app.prepare(std::string{input}, {});
      const auto right = [&](const RunOptions& options) {
        const Outcome outcome = apps::outcome(run_app(ready, engine, options), true);
        EXPECT_EQ(outcome.verified, true) << outcome.difference;
        return outcome.report;
      };
      RunOptions fixed;
      fixed.launch.resizable = false;
      EXPECT_EQ(right(fixed).status, Status::finished);
      repeat_until_resized(1,
                           [&](std::uint32_t seed) { return right(resized_at_random(3, seed)); });
    }
  }
}

TEST(GraphApps, AreRightForEveryNumberOfGroupsAndThreads) {
  const bool small = test::scale() < 1;
  const Csr sparse = road(small ? 100 : 700);
  const Csr dense = with_weights(rmat(small ? 5 : 8));
  for (const GraphApp& app : graph_apps()) {
    for (const std::uint32_t groups : {1U, 3U}) {
      cpu::Engine engine{{.capacity = groups}};
      for (const std::uint32_t local_size : {1U, 7U, 64U}) {
        RunOptions options;
        options.launch.local_size = local_size;
        options.launch.resizable = local_size != 64;
        for (const Csr* graph : {&sparse, &dense}) {
          EXPECT_EQ(app.run(engine, *graph, options, 0).difference, std::nullopt)
              << app.name << ", " << groups << " groups of " << local_size;
        }
      }
    }
  }
}

TEST(GraphApps, TakeTheLargestGroupsThereAre) {
  const Node side = test::scale() < 1 ? 5 : 20;
  const Csr graph = grid(side, side);
  cpu::Engine engine{{.capacity = 2}};
  RunOptions options;
  options.launch.local_size = max_local_size;
  for (const GraphApp& app : graph_apps()) {
    if (app.name.ends_with("by id")) continue;  // runs the same code with many more rounds
    EXPECT_EQ(app.run(engine, graph, options, 0).difference, std::nullopt) << app.name;
  }
}

TEST(GraphApps, TakeOddGraphs) {
  const std::vector<TestGraph> graphs = {
      {"one node", csr({{}})},
      {"a self loop", csr({{0}})},
      {"self loops and duplicates", csr({{0, 1, 1}, {0, 0, 2}, {1, 2, 2}, {}})},
      {"two islands", csr({{1}, {0}, {3}, {2}})},
  };
  cpu::Engine engine{{.capacity = 2}};
  for (const GraphApp& app : graph_apps()) {
    for (const TestGraph& each : graphs) {
      for (const std::uint32_t local_size : {1U, 7U}) {
        RunOptions options;
        options.launch.local_size = local_size;
        EXPECT_EQ(app.run(engine, each.graph, options, 0).difference, std::nullopt)
            << app.name << " on " << each.name << ", groups of " << local_size;
      }
    }
  }
}

TEST(GraphApps, TakeAGraphWithoutNodesOrRefuseIt) {
  cpu::Engine engine{{.capacity = 2}};
  const Csr nothing;
  for (const auto algorithm : {RankedOptions::Algorithm::ours, RankedOptions::Algorithm::paper}) {
    const RankedApp app{{known_graph(nothing)}, {algorithm}};
    EXPECT_THAT(solve(engine, color::App{app}, {}).colours, ElementsAre());
    EXPECT_THAT(solve(engine, mis::App{app}, {}).marks, ElementsAre());
  }
  EXPECT_THAT(solve(engine, cc::App{{known_graph(nothing)}}, {}).component, ElementsAre());
  EXPECT_THROW((void)run_bfs(engine, nothing, 0), Error);
  EXPECT_THROW((void)run_p_sssp(engine, nothing, 0), Error);
  EXPECT_THROW((void)run_l_sssp(engine, nothing, 0), Error);
}

TEST(GraphApps, FollowEdgesInTheirDirection) {
  const Csr one_way = csr({{1, 2}, {3}, {3}, {}, {0}});
  cpu::Engine engine{{.capacity = 2}};
  for (const auto direction : {BfsOptions::Direction::down, BfsOptions::Direction::both}) {
    EXPECT_THAT(run_bfs(engine, one_way, 0, {}, {.direction = direction}).levels,
                ElementsAre(0, 1, 1, 2, Levels::unreached));
  }
  EXPECT_THAT(run_p_sssp(engine, one_way, 0).distances, ElementsAre(0, 1, 1, 2, infinite));
  EXPECT_THAT(run_l_sssp(engine, one_way, 0).distances, ElementsAre(0, 1, 1, 2, infinite));
  EXPECT_THAT(solve(engine, cc::App{{known_graph(one_way)}}, {}).component,
              ElementsAre(0, 0, 0, 0, 0))
      << "weakly connected";
}

/// Suspends a search at a resizing point and continues it in groups of another size. Repeats this
/// at later and later points. Returns the number of continued searches.
std::uint32_t moves(const Csr& graph, std::uint32_t from, std::uint32_t to,
                    const BfsOptions& how = {}) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("cohort-bfs-moves-" + std::to_string(::getpid()));
  cpu::Engine engine{{.capacity = 2}};
  std::uint32_t moved = 0;
  for (std::uint32_t point = 1;; point *= 3) {
    test::ResizeHold hold{point, false};
    RunOptions options;
    options.movable = true;
    options.launch.local_size = from;
    options.launch.tracer = &hold;
    options.drive = [&](const Job& job) {
      while (!hold.reached()) {
        if (auto report = job.wait_for(std::chrono::microseconds{100})) return *report;
      }
      if (job.suspend() == Status::suspended) job.checkpoint(file);
      return job.report();
    };
    if (run_bfs(engine, graph, 0, options, how).report.status != Status::suspended) break;
    ++moved;
    RunOptions rest;
    rest.movable = true;
    rest.launch.local_size = to;
    rest.restore = file;
    const BfsResult result = run_bfs(engine, graph, 0, rest, how);
    EXPECT_EQ(check_bfs(graph, 0, result.levels), std::nullopt)
        << "from " << from << " threads to " << to << ", at resizing point " << point;
  }
  std::filesystem::remove(file);
  return moved;
}

// Groups of several threads leave gaps in their lists; groups of one thread do not.
TEST(Bfs, GoesOnInGroupsOfOneThreadWhereLargerOnesHaveLeftIt) {
  EXPECT_GT(moves(load_graph("grid:200x200"), 16, 1), 5U);
}

// A half-finished level may be small for groups of another size, and later levels large.
TEST(Bfs, GoesOnInTheMiddleOfALevelInGroupsOfAnySize) {
  const BfsOptions short_steps{.chunk = 4};
  const Csr graph = load_graph("grid:170x170");
  EXPECT_GT(moves(graph, 16, 1, short_steps), 5U);
  EXPECT_GT(moves(graph, 1, 16, short_steps), 5U);
}

// Groups of several threads share the edges of a node; groups of one thread do not.
TEST(Bfs, OfManyEdgesGoesOnInGroupsOfAnySize) {
  const Csr graph = load_graph("rmat:14");
  ASSERT_TRUE(has_many_edges(graph));
  const BfsOptions short_steps{.chunk = 4};  // makes the search last longer
  EXPECT_GT(moves(graph, 16, 1, short_steps), 5U);
  EXPECT_GT(moves(graph, 1, 16, short_steps), 5U);
}

TEST(GraphApps, GoOnFromACheckpointOnlyIfMovable) {
  cpu::Engine engine{{.capacity = 2}};
  RunOptions options;
  options.restore = "a checkpoint";
  EXPECT_THAT([&] { (void)run_bfs(engine, path(4), 0, options); },
              ThrowsMessage<Error>(HasSubstr("movable")));
}

/// Node 1 is first found far beyond the first window, then on a shorter path. The next nodes lie
/// many windows behind it, so one window is empty.
Csr far_apart() {
  constexpr Node chain = 40;  // nodes connected by edges of length 0, each with a tail
  Csr result = csr({{1, 2, 3}, {}, {1}});
  result.weights = {200, 1, 600, 1};
  const auto node = [&result](std::initializer_list<std::pair<Node, Weight>> edges) {
    for (const auto& [target, weight] : edges) {
      result.targets.push_back(target);
      result.weights.push_back(weight);
    }
    result.offsets.push_back(result.targets.size());
  };
  for (Node i = 0; i < chain; ++i) {
    const Node here = 3 + 3 * i;
    node({{here + 1, 1}, {i + 1 < chain ? here + 3 : here, 0}});
    node({{here + 2, 1}});
    node({});
  }
  return result;
}

TEST(ShortestPaths, AreRightBeyondAnEmptyWindow) {
  const Csr graph = far_apart();
  cpu::Engine engine{{.capacity = 4}};
  for (const std::uint32_t local_size : {1U, 4U, 33U}) {
    for (int i = 0; i < 20; ++i) {
      RunOptions options;
      options.launch.local_size = local_size;
      const auto found = run_l_sssp(engine, graph, 0, options, {.delta = 10});
      ASSERT_EQ(check_paths(graph, 0, found.distances), std::nullopt) << local_size << " threads";
    }
  }
}

TEST(ShortestPaths, AreShortWhereNoneIsLongerEvenWithAnEdgeMore) {
  Csr back = csr({{1}, {2}, {1}});
  EXPECT_EQ(longest_path(back), 3U) << "without weights an edge is 1 long";
  back.weights.assign(3, 0x7FFF'FFF0U);
  EXPECT_EQ(longest_path(back), Distance{3} * 0x7FFF'FFF0U);
  back.weights = {1, 0x7FFF'FFF0U, 2};
  EXPECT_EQ(longest_path(back), Distance{2} * 0x7FFF'FFF0U + 2) << "by the heaviest into each node";
  EXPECT_TRUE(are_short(0xFFFF'FFEFU));
  EXPECT_FALSE(are_short(0xFFFF'FFF0U));
}

TEST(ShortestPaths, DoNotWrapWhereAnEdgeLeadsBack) {
  Csr back = csr({{1}, {2}, {1}});
  const Distance weight = 0x7FFF'FFF0U;
  back.weights.assign(3, static_cast<Weight>(weight));
  cpu::Engine engine{{.capacity = 2}};
  for (const std::uint32_t local_size : {1U, 4U}) {
    RunOptions options;
    options.launch.local_size = local_size;
    EXPECT_THAT(run_l_sssp(engine, back, 0, options).distances, ElementsAre(0, weight, 2 * weight));
    EXPECT_THAT(run_p_sssp(engine, back, 0, options).distances, ElementsAre(0, weight, 2 * weight));
  }
}

TEST(ShortestPaths, DoNotWrapWithTheLargestWeights) {
  Csr chain = path(6);
  chain.weights.assign(chain.targets.size(), ~Weight{0});
  Csr apart = csr({{1}, {0}, {3}, {2}});
  apart.weights.assign(4, ~Weight{0});
  cpu::Engine engine{{.capacity = 2}};
  const Distance most = ~Weight{0};
  const auto expect = [&](const auto& run) {
    EXPECT_THAT(run(chain), ElementsAre(0, most, 2 * most, 3 * most, 4 * most, 5 * most));
    EXPECT_THAT(run(apart), ElementsAre(0, most, infinite, infinite));
  };
  for (const auto algorithm :
       {PullSsspOptions::Algorithm::in_place, PullSsspOptions::Algorithm::paper}) {
    for (const std::uint32_t local_size : {1U, 7U}) {
      expect([&](const Csr& graph) {
        RunOptions options;
        options.launch.local_size = local_size;
        return run_p_sssp(engine, graph, 0, options, {.algorithm = algorithm}).distances;
      });
    }
  }
  for (const std::optional<Distance> delta :
       {std::optional<Distance>{}, {Distance{1}}, {most}, {Distance{1} << 40U}}) {
    expect([&](const Csr& graph) {
      return run_l_sssp(engine, graph, 0, {}, {.delta = delta}).distances;
    });
  }
  expect([&](const Csr& graph) {
    const ListSsspOptions how{.algorithm = ListSsspOptions::Algorithm::paper};
    return run_l_sssp(engine, graph, 0, {}, how).distances;
  });
}

TEST(Mis, HasTheKnownSizes) {
  cpu::Engine engine{{.capacity = 2}};
  const Csr graph = grid(100, 100);
  const auto size = [&](Priority priority) {
    const mis::App app{{{known_graph(graph)}, {.priority = priority}}};
    const auto marks = solve(engine, app, {}).marks;
    return std::count(marks.begin(), marks.end(), Mark::in);
  };
  EXPECT_EQ(size(Priority::id), 5000);
  EXPECT_LT(size(Priority::hashed), 5000);
}

TEST(Color, NeedsFarFewerColoursThanThePaper) {
  cpu::Engine engine{{.capacity = 2}};
  const auto colours = [&](const Csr& graph, const RankedOptions& how) {
    const color::App app{{{known_graph(graph)}, how}};
    return color::App::numbers(solve(engine, app, {}))[0].second;
  };
  const RankedOptions ours{.priority = Priority::degree};
  const RankedOptions paper{.algorithm = RankedOptions::Algorithm::paper};
  EXPECT_LE(colours(grid(100, 100), ours), 5);
  EXPECT_LE(colours(road(10'000), ours), 5);
  EXPECT_EQ(colours(star(1000), ours), 2);
  EXPECT_EQ(colours(complete(100), ours), 100) << "more than fit a word";
  const Csr hubs = rmat(11);
  EXPECT_LT(3 * colours(hubs, ours), colours(hubs, paper));
}

TEST(Checks, NoticeMistakes) {
  const Csr graph = grid(3, 1);
  const ColorRule by_id{ColorRule::Choice::highest, Priority::id};
  EXPECT_EQ(check_color(graph, by_id, {2, 1, 0}), std::nullopt);
  EXPECT_THAT(check_color(graph, by_id, {0, 0, 1}).value_or(""), HasSubstr("same colour"));
  EXPECT_THAT(check_color(graph, by_id, {1, 0, 1}).value_or(""), HasSubstr("instead of"));
  const ColorRule least{ColorRule::Choice::least, Priority::id};
  EXPECT_EQ(check_color(graph, least, {0, 1, 0}), std::nullopt);
  EXPECT_THAT(check_color(graph, least, {2, 1, 0}).value_or(""), HasSubstr("instead of"));
  EXPECT_EQ(check_mis(graph, Priority::id, {1, 2, 1}), std::nullopt);
  EXPECT_THAT(check_mis(graph, Priority::id, {1, 1, 2}).value_or(""),
              HasSubstr("so is a neighbour"));
  EXPECT_THAT(check_mis(graph, Priority::id, {1, 2, 2}).value_or(""), HasSubstr("no neighbour is"));
  EXPECT_THAT(check_mis(graph, Priority::id, {2, 1, 2}).value_or(""), HasSubstr("should"));
  EXPECT_THAT(check_mis(graph, Priority::id, {0, 1, 2}).value_or(""), HasSubstr("undecided"));
  EXPECT_EQ(check_paths(graph, 0, {0, 1, 2}), std::nullopt);
  EXPECT_EQ(check_paths(graph, 0, {0, 1, 3}), "node 2 has distance 3 instead of 2");
  EXPECT_EQ(check_cc(graph, {0, 0, 0}), std::nullopt);
  EXPECT_THAT(check_cc(graph, {0, 0, 2}).value_or(""), HasSubstr("component 2 instead of 0"));
}

// ---- work stealing

std::vector<PoolOptions> pool_kinds() {
  std::vector<PoolOptions> kinds;
  for (const auto kind : {PoolOptions::Kind::deque, PoolOptions::Kind::mutex}) {
    for (const KillOrder order : {KillOrder::highest_first, KillOrder::any})
      kinds.push_back({.kind = kind, .order = order});
  }
  return kinds;
}

/// The message of the Error with which a run is refused.
template <class Run>
std::string refusal(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string name_of(const PoolOptions& pools) {
  return std::string{pools.kind == PoolOptions::Kind::mutex ? "mutex" : "deque"} +
         (pools.order == KillOrder::any ? ", any" : "");
}

TEST(Octree, IsRightWhileGroupsComeAndGo) {
  const auto particles = make_particles(test::scale() < 1 ? 3000 : 20000);
  cpu::Engine engine{{.capacity = 4}};
  for (const PoolOptions& pools : pool_kinds()) {
    SCOPED_TRACE(name_of(pools));
    repeat_until_resized(3, [&](std::uint32_t seed) {
      const auto result =
          run_octree(engine, particles, resized_at_random(4, seed), {.pools = pools});
      EXPECT_EQ(check_octree(particles, result), std::nullopt);
      return result.report;
    });
  }
}

/// Calls `run(engine, options)` with groups of every kind, on engines of one or more groups.
template <class Run>
void for_every_number_of_groups_and_threads(Run run) {
  for (const std::uint32_t groups : {1U, 3U}) {
    cpu::Engine engine{{.capacity = groups}};
    for (const std::uint32_t local_size : {1U, 7U, 64U, max_local_size}) {
      SCOPED_TRACE(testing::Message() << groups << " groups of " << local_size);
      RunOptions options;
      options.launch.local_size = local_size;
      options.launch.resizable = local_size != 64;
      run(engine, options);
    }
  }
}

TEST(Octree, IsRightForEveryNumberOfGroupsAndThreads) {
  for_every_number_of_groups_and_threads([](cpu::Engine& engine, const RunOptions& options) {
    const bool few = options.launch.local_size == max_local_size || test::scale() < 1;
    const auto particles = make_particles(few ? 100 : 2000);
    EXPECT_EQ(check_octree(particles, run_octree(engine, particles, options)), std::nullopt);
  });
}

TEST(Octree, IsTheSameInPortions) {
  const auto particles = make_particles(test::scale() < 1 ? 1000 : 5000);
  cpu::Engine engine{{.capacity = 4}};
  for (const std::uint32_t chunk : {1U, 6U, 999U, 4999U, 5000U, ~0U}) {
    for (const std::uint32_t local_size : {1U, 7U}) {
      RunOptions options = resized_at_random(4, chunk);
      options.launch.local_size = local_size;
      const OctreeOptions how{.chunk = chunk};
      const auto result = run_octree(engine, particles, options, how);
      ASSERT_EQ(result.report.status, Status::finished);
      EXPECT_EQ(check_octree(particles, result, how), std::nullopt)
          << chunk << " particles, " << local_size << " threads";
    }
  }
}

TEST(Octree, TakesFewParticlesAndCoincidentOnes) {
  cpu::Engine engine{{.capacity = 2}};
  for (const std::uint32_t count : {0U, 1U, 5U, 6U}) {
    const auto particles = make_particles(count);
    const auto result = run_octree(engine, particles);
    EXPECT_EQ(check_octree(particles, result), std::nullopt) << count;
  }
  const std::vector<Particle> same(50, Particle{1, 2, 3});
  const auto result = run_octree(engine, same, {}, {.max_depth = 20});
  EXPECT_EQ(check_octree(same, result, {.max_depth = 20}), std::nullopt);
  EXPECT_EQ(tree_size(result).depth, 19);
  EXPECT_EQ(tree_size(result).leaves, 1) << "a big one";
}

TEST(Octree, TellsWhatThereIsTooLittleOf) {
  cpu::Engine engine{{.capacity = 2}};
  const auto particles = make_particles(5000);
  const auto message = [&](const OctreeOptions& how) {
    return refusal([&] { (void)run_octree(engine, particles, {}, how); });
  };
  EXPECT_THAT(message({.boxes = 100}), HasSubstr("boxes=100"));
  EXPECT_THAT(message({.boxes = 8}), HasSubstr("boxes=8"));
  for (PoolOptions pools : pool_kinds()) {
    pools.room = 1;
    EXPECT_THAT(message({.pools = pools}), HasSubstr("pool-room=1")) << name_of(pools);
  }
}

TEST(CheckOctree, NoticesMistakes) {
  cpu::Engine engine{{.capacity = 1}};
  const auto particles = make_particles(300);
  const auto good = run_octree(engine, particles);
  EXPECT_EQ(check_octree(particles, good), std::nullopt);
  auto bad = good;
  bad.particles[7].x += 1;
  EXPECT_THAT(check_octree(particles, bad).value_or(""), HasSubstr("other particles"));
  bad = good;
  bad.boxes[0].children = Box::leaf;
  EXPECT_THAT(check_octree(particles, bad).value_or(""), HasSubstr("is a leaf"));
  bad = good;
  bad.boxes.emplace_back();
  EXPECT_THAT(check_octree(particles, bad).value_or(""), HasSubstr("boxes instead of"));
}

TEST(Game, HasTheKnownValues) {
  cpu::Engine engine{{.capacity = 2}};
  for (const std::uint32_t grain : {0U, 1U, 2U, 6U}) {
    const GameResult result = run_game(engine, start_board(), {}, {.depth = 6, .grain = grain});
    EXPECT_THAT(result.values, ElementsAre(1, 3, 666, 4, 4, 666, 666)) << grain;
    EXPECT_EQ(result.positions, 83759U) << grain;
  }
}

TEST(Game, IsRightWhileGroupsComeAndGo) {
  const std::uint32_t depth = test::scale() < 1 ? 4 : 5;
  cpu::Engine engine{{.capacity = 4}};
  for (const PoolOptions& pools : pool_kinds()) {
    SCOPED_TRACE(name_of(pools));
    repeat_until_resized(3, [&](std::uint32_t seed) {
      const auto result = run_game(engine, start_board(), resized_at_random(4, seed),
                                   {.pools = pools, .depth = depth, .grain = seed % 2});
      EXPECT_EQ(check_game(start_board(), depth, result), std::nullopt);
      return result.report;
    });
  }
}

TEST(Game, IsRightForEveryNumberOfGroupsAndThreads) {
  for_every_number_of_groups_and_threads([](cpu::Engine& engine, const RunOptions& options) {
    const std::uint32_t depth = options.launch.local_size == max_local_size ? 3 : 4;
    const auto result = run_game(engine, start_board(), options, {.depth = depth, .grain = 2});
    EXPECT_EQ(check_game(start_board(), depth, result), std::nullopt);
  });
}

TEST(Game, KnowsFullColumnsAndFullBoards) {
  Board board;  // two columns are left, each with one free cell
  for (std::uint32_t column = 0; column < 7; ++column) {
    for (std::uint32_t row = 0; row < (column < 5 ? 6U : 5U); ++row)
      board = board.play(column, (row / 2 + column) % 2 == 0);
  }
  cpu::Engine engine{{.capacity = 2}};
  for (const std::uint32_t grain : {0U, 3U}) {
    const auto result =
        run_game(engine, board, {}, {.depth = 9, .grain = grain, .positions = 1000});
    EXPECT_EQ(check_game(board, 9, result), std::nullopt);
    EXPECT_EQ(result.values[0], std::nullopt);
  }
}

TEST(Game, TellsWhatThereIsTooLittleOf) {
  cpu::Engine engine{{.capacity = 2}};
  const auto message = [&](const GameOptions& how) {
    return refusal([&] { (void)run_game(engine, start_board(), {}, how); });
  };
  EXPECT_THAT(message({.grain = 0, .positions = 50}), HasSubstr("positions=50"));
  EXPECT_THAT(message({.depth = 30}), HasSubstr("larger grain"));
  EXPECT_THAT(message({.depth = 0}), HasSubstr("depth"));
  for (PoolOptions pools : pool_kinds()) {
    pools.room = 8;
    EXPECT_THAT(message({.pools = pools, .grain = 0}), HasSubstr("pool-room=8")) << name_of(pools);
    pools.room = 3;  // will be rounded up
    EXPECT_THAT(message({.pools = pools}), HasSubstr("pool-room=4")) << name_of(pools);
  }
}

}  // namespace
}  // namespace cohort::apps
