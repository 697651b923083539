// The seven apps in the OpenCL dialect run while groups join and leave. Results are compared with
// sequential computations that share no code with the apps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <functional>
#include <numeric>
#include <queue>
#include <random>

#include "resized_runs.hpp"

namespace cohort::test {
namespace {

using Words = Shared<std::uint32_t>;
constexpr std::uint32_t unreached = ~0U;

const std::filesystem::path folder = COHORT_TEST_APPS;

struct Graph {
  Words row{0};
  Words target;
  Words weight;
  [[nodiscard]] std::uint32_t nodes() const { return static_cast<std::uint32_t>(row.size() - 1); }
};

/// An undirected ring of nodes with random chords, and a few unreachable nodes.
Graph random_graph(std::uint32_t nodes, std::uint32_t seed) {
  std::mt19937 random{seed};
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> edges(nodes);
  const auto connect = [&](std::uint32_t a, std::uint32_t b) {
    const auto weight = static_cast<std::uint32_t>(1 + random() % 100);
    edges[a].emplace_back(b, weight);
    edges[b].emplace_back(a, weight);
  };
  for (std::uint32_t i = 0; i + 11 < nodes; ++i) connect(i, i + 1);
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const auto a = static_cast<std::uint32_t>(random() % (nodes - 10));
    const auto b = static_cast<std::uint32_t>(random() % (nodes - 10));
    if (a / 50 == b / 50 && a != b) connect(a, b);  // short chords keep many levels
  }
  Graph graph;
  for (const auto& each : edges) {
    for (const auto& [to, weight] : each) {
      graph.target.push_back(to);
      graph.weight.push_back(weight);
    }
    graph.row.push_back(static_cast<std::uint32_t>(graph.target.size()));
  }
  return graph;
}

std::uint64_t priority(std::uint32_t id) {
  std::uint64_t z = id + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

Words distances(const Graph& graph, bool weighted) {
  Words result(graph.nodes(), unreached);
  using Entry = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  result[0] = 0;
  open.emplace(0, 0);
  while (!open.empty()) {
    const auto [far, node] = open.top();
    open.pop();
    if (far != result[node]) continue;
    for (std::uint32_t edge = graph.row[node]; edge < graph.row[node + 1]; ++edge) {
      const std::uint32_t there = far + (weighted ? graph.weight[edge] : 1);
      if (there >= result[graph.target[edge]]) continue;
      result[graph.target[edge]] = there;
      open.emplace(there, graph.target[edge]);
    }
  }
  return result;
}

ProgramKernel app(const std::string& name) {
  ProgramOptions options;
  options.engine = engine_name;
  options.optimise = "-O1";
  return Program::from_file(folder / (name + ".cl"), options).kernel(name);
}

/// Checks results with groups of one and of four threads. Repeats each run until groups have
/// joined.
void expect_right(
    const std::function<Report(std::uint32_t local_size, std::uint32_t attempt)>& run) {
  for (const std::uint32_t local_size : {1U, 4U}) {
    SCOPED_TRACE(testing::Message() << "groups of " << local_size);
    repeat_until_joined([&](std::uint32_t attempt) { return run(local_size, attempt); });
  }
}

const Graph& graph() {
  static const Graph one = random_graph(3000, 7);
  return one;
}

TEST(Apps, Color) {
  ProgramKernel kernel = app("color");
  // colour(u) = 1 + the largest colour among neighbours of higher priority, or 0
  std::vector<std::uint32_t> order(graph().nodes());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [](std::uint32_t a, std::uint32_t b) { return priority(a) > priority(b); });
  Shared<std::int32_t> expected(graph().nodes(), -1);
  for (const std::uint32_t node : order) {
    expected[node] = 0;
    for (std::uint32_t edge = graph().row[node]; edge < graph().row[node + 1]; ++edge) {
      const std::uint32_t next = graph().target[edge];
      if (priority(next) > priority(node))
        expected[node] = std::max(expected[node], expected[next] + 1);
    }
  }
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Shared<std::int32_t> colour(graph().nodes(), -1);
    Words highest(graph().nodes());
    Words more(2);
    kernel.set("row", graph().row.data())
        .set("target", graph().target.data())
        .set("nodes", graph().nodes());
    kernel.set("colour", colour.data()).set("highest", highest.data()).set("more", more.data());
    Report report = run_resizing(kernel, local_size, attempt);
    EXPECT_EQ(colour, expected);
    return report;
  });
}

TEST(Apps, Mis) {
  ProgramKernel kernel = app("mis");
  std::vector<std::uint32_t> order(graph().nodes());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [](std::uint32_t a, std::uint32_t b) { return priority(a) < priority(b); });
  Words expected(graph().nodes(), 0);
  for (const std::uint32_t node : order) {  // greedy colouring
    if (expected[node] != 0) continue;
    expected[node] = 1;
    for (std::uint32_t edge = graph().row[node]; edge < graph().row[node + 1]; ++edge)
      expected[graph().target[edge]] = 2;
  }
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Words mark(graph().nodes());
    Words lowest(graph().nodes());
    Words drop(graph().nodes());
    Words left{0};
    kernel.set("row", graph().row.data())
        .set("target", graph().target.data())
        .set("nodes", graph().nodes());
    kernel.set("mark", mark.data())
        .set("lowest", lowest.data())
        .set("drop", drop.data())
        .set("undecided_left", left.data());
    Report report = run_resizing(kernel, local_size, attempt);
    EXPECT_EQ(mark, expected);
    return report;
  });
}

TEST(Apps, PSssp) {
  ProgramKernel kernel = app("p_sssp");
  const Words expected = distances(graph(), true);
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Words x(graph().nodes(), unreached);
    Words y(graph().nodes(), unreached);
    y[0] = 0;
    Words changed{0};
    kernel.set("row", graph().row.data())
        .set("source", graph().target.data())
        .set("weight", graph().weight.data());
    kernel.set("nodes", graph().nodes())
        .set("x", x.data())
        .set("y", y.data())
        .set("changed", changed.data());
    Report report = run_resizing(kernel, local_size, attempt);
    EXPECT_EQ(y, expected);
    return report;
  });
}

TEST(Apps, Bfs) {
  ProgramKernel kernel = app("bfs");
  const Words expected = distances(graph(), false);
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Words level(graph().nodes(), unreached);
    Words first(graph().nodes());
    Words second(graph().nodes());
    Words sizes{1, 0};
    level[0] = 0;
    kernel.set("row", graph().row.data())
        .set("target", graph().target.data())
        .set("level_of", level.data());
    kernel.set("list0", first.data())
        .set("list1", second.data())
        .set("size0", &sizes[0])
        .set("size1", &sizes[1]);
    Report report = run_resizing(kernel, local_size, attempt);
    EXPECT_EQ(level, expected);
    return report;
  });
}

TEST(Apps, LSssp) {
  ProgramKernel kernel = app("l_sssp");
  const Words expected = distances(graph(), true);
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Words distance(graph().nodes(), unreached);
    Words stamp(graph().nodes());
    Words first(graph().nodes());
    Words second(graph().nodes());
    Words sizes{1, 0};
    distance[0] = 0;
    kernel.set("row", graph().row.data())
        .set("target", graph().target.data())
        .set("weight", graph().weight.data());
    kernel.set("distance", distance.data()).set("stamp", stamp.data());
    kernel.set("list0", first.data())
        .set("list1", second.data())
        .set("size0", &sizes[0])
        .set("size1", &sizes[1]);
    Report report = run_resizing(kernel, local_size, attempt);
    EXPECT_EQ(distance, expected);
    return report;
  });
}

// ---- work stealing

struct alignas(64) Pool {
  std::uint32_t lock = 0;
  std::uint32_t count = 0;
  std::uint32_t victim = 0;
  std::uint32_t first = 0;
};
struct Pools {
  static constexpr std::uint32_t count = 6;
  explicit Pools(std::uint32_t room_for_each)
      : room(room_for_each), tasks(std::size_t{count} * room_for_each) {}
  void give(ProgramKernel& kernel) {
    kernel.set("pools", pools.data())
        .set("tasks", tasks.data())
        .set("pool_count", count)
        .set("room", room)
        .set("lost", lost.data());
  }
  void push(std::uint32_t task) { tasks[pools[0].count++] = task; }

  std::uint32_t room;
  Shared<Pool> pools = Shared<Pool>(count);
  Words tasks;
  Words lost{0};
};

using Board = std::array<std::array<char, 7>, 6>;
/// A board in the kernel's format: seven bits per column, the lowest row first.
struct Position {
  std::uint64_t x = 0;
  std::uint64_t o = 0;
  std::uint32_t parent = ~0U;
  std::uint32_t level = 1;
  std::int32_t value = 0;
  std::uint32_t open = 0;
};

Position position_of(const Board& board) {
  Position result;
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 7; ++column) {
      const std::uint64_t bit = std::uint64_t{1} << (column * 7 + 5 - row);
      if (board[row][column] == 1) result.x |= bit;
      if (board[row][column] == 2) result.o |= bit;
    }
  }
  return result;
}

int score_of(const Board& board) {
  int score = 0;
  const auto line = [&](int row, int column, int down, int right) -> int {
    std::string cells;
    for (; row >= 0 && row < 6 && column >= 0 && column < 7; row += down, column += right) {
      const char piece = board[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
      cells += piece == 0 ? '.' : piece == 1 ? 'x' : 'o';
    }
    for (std::size_t i = 0; i < cells.size();) {
      std::size_t end = i;
      while (end < cells.size() && cells[end] == cells[i]) ++end;
      const int sign = cells[i] == 'x' ? 1 : cells[i] == 'o' ? -1 : 0;
      if (sign != 0 && end - i >= 4) return sign;
      if (end - i == 2 || end - i == 3) score += sign;
      i = end;
    }
    return 0;
  };
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 6; ++j) {  // each line is visited once, from the edge of the board
      int won = 0;
      if (i == 0) won = line(j, 0, 0, 1);
      if (won == 0 && j == 0) won = line(0, i, 1, 0);
      if (won == 0 && (i == 0 || j == 0) && std::min(6 - j, 7 - i) >= 4) won = line(j, i, 1, 1);
      if (won == 0 && (i == 6 || j == 0) && std::min(6 - j, i + 1) >= 4) won = line(j, i, 1, -1);
      if (won != 0) return won * 666;
    }
  }
  return score;
}

bool drop(Board& board, std::size_t column, char piece) {
  for (std::size_t row = 6; row > 0; --row) {
    if (board[row - 1][column] != 0) continue;
    board[row - 1][column] = piece;
    return true;
  }
  return false;
}

int minimax(const Board& board, std::uint32_t level, std::uint32_t depth) {
  const int score = score_of(board);
  if (level == depth || score == 666 || score == -666) return score;
  const bool opponent = level % 2 == 1;
  int best = opponent ? INT_MAX : INT_MIN;
  bool full = true;
  for (std::size_t column = 0; column < 7; ++column) {
    Board next = board;
    if (!drop(next, column, opponent ? 2 : 1)) continue;
    full = false;
    const int value = minimax(next, level + 1, depth);
    best = opponent ? std::min(best, value) : std::max(best, value);
  }
  return full ? score : best;
}

TEST(Apps, Game) {
  ProgramKernel kernel = app("game");
  Board start{};
  start[4][0] = 2;
  start[5] = {2, 1, 0, 1, 1, 0, 0};
  const std::uint32_t depth = 4;
  std::vector<int> expected;
  std::vector<Position> roots;
  for (std::size_t column = 0; column < 7; ++column) {
    Board root = start;
    drop(root, column, 1);
    roots.push_back(position_of(root));
    expected.push_back(minimax(root, 1, depth));
  }
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Shared<Position> nodes(10000);
    std::copy(roots.begin(), roots.end(), nodes.begin());
    Pools pools{4000};
    for (std::uint32_t i = 0; i < 7; ++i) pools.push(i);
    Words used{7};
    Words open{7};
    kernel.set("nodes", nodes.data())
        .set("used", used.data())
        .set("room_for_nodes", static_cast<std::uint32_t>(nodes.size()));
    kernel.set("depth", depth).set("roots_open", open.data());
    pools.give(kernel);
    Report report = run_resizing(kernel, local_size, attempt);
    std::vector<int> values;
    for (std::size_t i = 0; i < 7; ++i) values.push_back(nodes[i].value);
    EXPECT_EQ(values, expected);
    EXPECT_EQ(pools.lost[0], 0U);
    return report;
  });
}

struct Box {
  static constexpr std::uint32_t leaf = ~0U;

  std::uint32_t children, begin, end, depth;
  float x, y, z, half_width;
};
using Particle = std::array<float, 3>;

/// The leaves of the tree in tree order, each with its particles in any order.
void leaves_of(const std::vector<Particle>& particles, std::array<float, 3> centre, float half,
               std::uint32_t depth, std::vector<std::vector<Particle>>& leaves) {
  std::array<std::vector<Particle>, 8> parts;
  for (const Particle& each : particles) {
    parts[(each[0] >= centre[0] ? 1U : 0U) | (each[1] >= centre[1] ? 2U : 0U) |
          (each[2] >= centre[2] ? 4U : 0U)]
        .push_back(each);
  }
  for (std::uint32_t i = 0; i < 8; ++i) {
    if (parts[i].size() <= 5 || depth + 1 >= 20) {
      std::sort(parts[i].begin(), parts[i].end());
      leaves.push_back(parts[i]);
    } else {
      const auto move = [&](std::uint32_t bit, float from) {
        return from + ((i & bit) != 0 ? half : -half);
      };
      leaves_of(parts[i], {move(1, centre[0]), move(2, centre[1]), move(4, centre[2])}, half / 2,
                depth + 1, leaves);
    }
  }
}

TEST(Apps, Octree) {
  ProgramKernel kernel = app("octree");
  std::mt19937 random{5489};
  std::vector<Particle> particles(4000);
  for (Particle& each : particles) {
    for (float& along : each)
      along = static_cast<float>(static_cast<double>(random()) / 4294967295.0 * 800 - 400);
  }
  std::vector<std::vector<Particle>> expected;
  leaves_of(particles, {0, 0, 0}, 256, 0, expected);
  expect_right([&](std::uint32_t local_size, std::uint32_t attempt) {
    Shared<Particle> first(particles.size());
    std::copy(particles.begin(), particles.end(), first.begin());
    Shared<Particle> second(particles.size());
    Shared<Particle> result(particles.size());
    Shared<Box> boxes(40000);
    const auto all = static_cast<std::uint32_t>(particles.size());
    boxes[0] = {Box::leaf, 0, all, 0, 0, 0, 0, 256};
    Pools pools{97};  // small, so that pools are sometimes full and wrap around
    pools.push(0);
    Words used{1};
    Words left{all};
    kernel.set("boxes", boxes.data())
        .set("used", used.data())
        .set("room_for_boxes", static_cast<std::uint32_t>(boxes.size()));
    kernel.set("particles0", first.data())
        .set("particles1", second.data())
        .set("result", result.data());
    kernel.set("max_leaf", 5U).set("max_depth", 20U).set("left", left.data());
    pools.give(kernel);
    Report report = run_resizing(kernel, local_size, attempt);
    EXPECT_EQ(pools.lost[0], 0U);
    EXPECT_EQ(left[0], 0U);
    std::vector<std::vector<Particle>> leaves;
    const std::function<void(std::uint32_t)> collect = [&](std::uint32_t box) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        const Box& child = boxes[boxes[box].children + i];
        if (child.children != Box::leaf) {
          collect(boxes[box].children + i);
          continue;
        }
        std::vector<Particle> leaf;
        for (std::uint32_t at = child.begin; at < child.end; ++at) leaf.push_back(result[at]);
        std::sort(leaf.begin(), leaf.end());
        leaves.push_back(leaf);
      }
    };
    collect(0);
    EXPECT_EQ(leaves, expected);
    return report;
  });
}

}  // namespace
}  // namespace cohort::test
