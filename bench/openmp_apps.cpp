#include "bench/openmp_apps.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>

#include "apps/bfs/host.hpp"
#include "apps/color/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "graph/arguments.hpp"
#include "graph/build.hpp"

namespace cohort::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

void must_be_right(const std::optional<std::string>& difference) {
  if (difference) throw std::runtime_error{"the OpenMP version is wrong: " + *difference};
}

std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

template <class T>
T load(const T& word) {
  return std::atomic_ref{const_cast<T&>(word)}
      .load(  // NOLINT(cppcoreguidelines-pro-type-const-cast)
          std::memory_order_relaxed);
}
template <class T>
void store(T& word, T value) {
  std::atomic_ref{word}.store(value, std::memory_order_relaxed);
}

/// Appends a thread's nodes to a queue, and adds their number to its `size`.
void append(std::vector<Node>& mine, std::vector<Node>& queue, std::size_t& size) {
  std::size_t at = 0;
#pragma omp atomic capture
  {
    at = size;
    size += mine.size();
  }
  std::copy(mine.begin(), mine.end(), queue.begin() + static_cast<std::ptrdiff_t>(at));
  mine.clear();
}

/// Searches level by level, from one queue into another. Each thread fills a queue of its own and
/// appends it at the end of the level.
double bfs(const CsrView& graph, Node source, std::vector<std::uint32_t>& levels, bool both) {
  const Node nodes = graph.num_nodes();
  levels.assign(nodes, ~0U);
  std::vector<Node> queue(nodes);
  std::vector<Node> next(nodes);
  std::vector<char> front(both ? nodes : 0, 0);
  std::vector<char> reached(both ? nodes : 0, 0);
  levels[source] = 0;
  queue[0] = source;
  std::size_t size = 1;
  std::size_t found = 0;
  std::uint64_t edges = graph.degree(source);
  std::uint64_t edges_left = graph.num_edges();
  bool up = false;
  bool was_up = false;
  const auto begin = Clock::now();
#pragma omp parallel default(shared)
  {
    std::vector<Node> mine;
    for (std::uint32_t level = 0; size > 0; ++level) {
#pragma omp barrier
#pragma omp single
      {
        found = 0;
        edges_left -= std::min(edges, edges_left);
        const bool goes_up = both && (up ? size > nodes / 18 : !was_up && edges > edges_left / 15);
        if (goes_up && !up) {
          for (std::size_t i = 0; i < size; ++i) front[queue[i]] = 1;
          was_up = true;
        } else if (!goes_up && up) {
          std::size_t at = 0;
          for (Node node = 0; node < nodes; ++node) {
            if (front[node] != 0) queue[at++] = node;
          }
        }
        up = goes_up;
        edges = 0;
      }
      std::uint64_t degrees = 0;
      if (up) {
#pragma omp for schedule(dynamic, 1024) reduction(+ : found)
        for (Node node = 0; node < nodes; ++node) {
          reached[node] = 0;
          if (levels[node] != ~0U) continue;
          for (const Node from : graph.neighbours(node)) {
            if (front[from] == 0) continue;
            levels[node] = level + 1;
            reached[node] = 1;
            ++found;
            break;
          }
        }
      } else {
#pragma omp for schedule(dynamic, 64) nowait
        for (std::size_t i = 0; i < size; ++i) {
          for (const Node target : graph.neighbours(queue[i])) {
            if (load(levels[target]) != ~0U) continue;
            std::uint32_t unseen = ~0U;
            if (!std::atomic_ref{levels[target]}.compare_exchange_strong(unseen, level + 1,
                                                                         std::memory_order_relaxed))
              continue;
            mine.push_back(target);
            if (both) degrees += graph.degree(target);
          }
        }
        append(mine, next, found);
#pragma omp atomic
        edges += degrees;
#pragma omp barrier
      }
#pragma omp single
      {
        size = found;
        if (up) {
          front.swap(reached);
        } else {
          queue.swap(next);
        }
      }
    }
  }
  return since(begin);
}

double color(const CsrView& graph, std::vector<std::uint32_t>& colours) {
  const Node nodes = graph.num_nodes();
  colours.assign(nodes, ~0U);
  std::vector<Node> rival(nodes);
  bool again = true;
  const auto begin = Clock::now();
#pragma omp parallel default(shared)
  for (std::uint32_t turn = 0; again; ++turn) {
#pragma omp barrier
#pragma omp single
    again = false;
    bool any = false;
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) {
      if (colours[node] != ~0U) continue;
      Node highest = node;
      std::uint64_t top = splitmix64(node);
      for (const Node other : graph.neighbours(node)) {
        if (other == node || colours[other] != ~0U) continue;
        any = true;
        const std::uint64_t its = splitmix64(other);
        highest = top < its ? other : highest;
        top = std::max(top, its);
      }
      rival[node] = highest;
    }
    if (any) store(again, true);
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) {
      if (colours[node] == ~0U && rival[node] == node) colours[node] = turn;
    }
  }
  return since(begin);
}

double mis(const CsrView& graph, std::vector<std::uint32_t>& marks) {
  const Node nodes = graph.num_nodes();
  marks.assign(nodes, 0);
  std::vector<Node> rival(nodes);
  std::vector<std::uint32_t> stopped(nodes, 0);
  bool again = true;
  const auto begin = Clock::now();
#pragma omp parallel default(shared)
  while (again) {
#pragma omp barrier
#pragma omp single
    again = false;
    bool any = false;
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) {
      if (marks[node] != 0) continue;
      any = true;
      Node least = node;
      std::uint64_t bottom = splitmix64(node);
      for (const Node other : graph.neighbours(node)) {
        if (marks[other] != 0) continue;
        const std::uint64_t its = splitmix64(other);
        least = its < bottom ? other : least;
        bottom = std::min(bottom, its);
      }
      rival[node] = least;
    }
    if (any) store(again, true);
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) {
      if (load(marks[node]) != 0 || rival[node] != node) continue;
      store(marks[node], 1U);
      for (const Node other : graph.neighbours(node)) {
        if (other != node && load(marks[other]) == 0) store(stopped[other], 1U);
      }
    }
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) {
      if (marks[node] == 0 && stopped[node] != 0) marks[node] = 2;
    }
  }
  return since(begin);
}

double p_sssp(const CsrView& incoming, Node source, std::vector<apps::Distance>& y) {
  const Node nodes = incoming.num_nodes();
  y.assign(nodes, apps::infinite);
  y[source] = 0;
  std::vector<apps::Distance> x(nodes);
  bool again = true;
  const auto begin = Clock::now();
#pragma omp parallel default(shared)
  while (again) {
#pragma omp barrier
#pragma omp single
    again = false;
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) x[node] = y[node];
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) {
      apps::Distance least = x[node];
      for (std::uint64_t edge = incoming.first_edge(node); edge < incoming.first_edge(node + 1);
           ++edge) {
        const apps::Distance from = x[incoming.target(edge)];
        if (from != apps::infinite) least = std::min(least, from + incoming.weight(edge));
      }
      y[node] = least;
    }
    bool any = false;
#pragma omp for schedule(static)
    for (Node node = 0; node < nodes; ++node) any |= x[node] != y[node];
    if (any) store(again, true);
#pragma omp barrier
  }
  return since(begin);
}

double l_sssp(const CsrView& graph, Node source, std::vector<apps::Distance>& distances) {
  const Node nodes = graph.num_nodes();
  distances.assign(nodes, apps::infinite);
  distances[source] = 0;
  std::vector<Node> queue(nodes);
  std::vector<Node> next(nodes);
  std::vector<std::uint32_t> stamp(nodes, ~0U);
  queue[0] = source;
  std::size_t size = 1;
  std::size_t found = 0;
  const auto begin = Clock::now();
#pragma omp parallel default(shared)
  {
    std::vector<Node> mine;
    for (std::uint32_t turn = 0; size > 0; ++turn) {
#pragma omp for schedule(dynamic, 64) nowait
      for (std::size_t i = 0; i < size; ++i) {
        const Node node = queue[i];
        const apps::Distance start = load(distances[node]);
        for (std::uint64_t edge = graph.first_edge(node); edge < graph.first_edge(node + 1);
             ++edge) {
          const Node target = graph.target(edge);
          const apps::Distance through = start + graph.weight(edge);
          apps::Distance old = load(distances[target]);
          while (through < old && !std::atomic_ref{distances[target]}.compare_exchange_weak(
                                      old, through, std::memory_order_relaxed)) {
          }
          if (through < old &&
              std::atomic_ref{stamp[target]}.exchange(turn, std::memory_order_relaxed) != turn)
            mine.push_back(target);
        }
      }
      append(mine, next, found);
#pragma omp barrier
#pragma omp single
      {
        size = found;
        found = 0;
        queue.swap(next);
      }
    }
  }
  return since(begin);
}

}  // namespace

bool has_openmp(const Variant& variant) { return variant.pair.style == Style::barriers; }

OpenMpApp::OpenMpApp(const Variant& variant)
    : app_(variant.pair.app),
      paper_(variant.algorithm == "paper"),
      graph_(apps::known_graph(variant.pair.input, apps::Edges::weighted)),
      source_(kind_of(variant.pair.input) == "rmat" ? graph_->get(&hub) : 0) {}

double OpenMpApp::run(int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  const Csr& csr = graph_->csr();
  const CsrView graph = csr.view();
  const auto expect = [this](auto difference) {
    if (!verified_) must_be_right(difference());
    verified_ = true;
  };
  double time = 0;
  std::vector<std::uint32_t> words;
  std::vector<apps::Distance> distances;
  if (app_ == "bfs") {
    time = bfs(graph, source_, words, !paper_ && apps::has_many_edges(csr));
    expect([&] { return apps::check_bfs(csr, source_, words); });
  } else if (app_ == "color") {
    time = color(graph, words);
    expect([&] {
      return apps::check_color(csr, {apps::ColorRule::Choice::highest, apps::Priority::hashed},
                               words);
    });
  } else if (app_ == "mis") {
    time = mis(graph, words);
    expect([&] { return apps::check_mis(csr, apps::Priority::hashed, words); });
  } else if (app_ == "p-sssp") {
    time = p_sssp(graph, source_, distances);
    expect([&] { return apps::check_paths(csr, source_, distances); });
  } else if (app_ == "l-sssp") {
    time = l_sssp(graph, source_, distances);
    expect([&] { return apps::check_paths(csr, source_, distances); });
  } else {
    throw std::runtime_error{"there is no OpenMP version of " + app_};
  }
  return time;
}

}  // namespace cohort::bench
