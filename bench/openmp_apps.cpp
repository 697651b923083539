#include "bench/openmp_apps.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
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
  if (at + mine.size() > queue.size()) {  // no exception may leave a parallel region
    std::cerr << "cohort: the OpenMP baseline has more open nodes than places\n";
    std::abort();
  }
  std::copy(mine.begin(), mine.end(), queue.begin() + static_cast<std::ptrdiff_t>(at));
  mine.clear();
}

/// One bit per node.
using Bits = std::vector<std::uint64_t>;

/// Searches level by level, from one queue into another. Each thread fills a queue of its own and
/// appends it at the end of the level. With `both`, dense levels are searched from the unreached
/// nodes over a bitmap (Beamer, Asanović and Patterson 2012).
double bfs(const CsrView& graph, Node source, std::vector<std::uint32_t>& levels, bool both) {
  const Node nodes = graph.num_nodes();
  const std::size_t words = std::size_t{nodes} / 64 + 1;
  levels.assign(nodes, ~0U);
  std::vector<Node> queue(nodes);
  std::vector<Node> next(nodes);
  Bits front(both ? words : 0);
  Bits reached(both ? words : 0);
  levels[source] = 0;
  queue[0] = source;
  std::size_t size = 1;
  std::size_t found = 0;
  std::uint64_t edges = graph.degree(source);
  std::uint64_t edges_left = graph.num_edges();
  bool up = false;
  bool was_up = false;
  bool turns = false;
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
        turns = goes_up != up;
        up = goes_up;
        was_up |= up;
        edges = 0;
      }
      if (turns && up) {
#pragma omp for schedule(static)
        for (std::size_t i = 0; i < size; ++i)
          std::atomic_ref{front[queue[i] / 64]}.fetch_or(std::uint64_t{1} << queue[i] % 64,
                                                         std::memory_order_relaxed);
      } else if (turns) {
#pragma omp for schedule(static) nowait
        for (std::size_t word = 0; word < words; ++word) {
          for (std::uint64_t left = front[word]; left != 0; left &= left - 1)
            mine.push_back(
                static_cast<Node>(word * 64 + static_cast<unsigned>(std::countr_zero(left))));
        }
        append(mine, queue, found);
#pragma omp barrier
#pragma omp single
        found = 0;
      }
      if (up) {
#pragma omp for schedule(dynamic, 16) reduction(+ : found)
        for (std::size_t word = 0; word < words; ++word) {
          std::uint64_t set = 0;
          const auto end = static_cast<Node>(std::min<std::size_t>(word * 64 + 64, nodes));
          for (auto node = static_cast<Node>(word * 64); node < end; ++node) {
            if (levels[node] != ~0U) continue;
            for (const Node from : graph.neighbours(node)) {
              if ((front[from / 64] >> from % 64 & 1U) == 0) continue;
              levels[node] = level + 1;
              set |= std::uint64_t{1} << node % 64;
              break;
            }
          }
          reached[word] = set;
          found += static_cast<std::size_t>(std::popcount(set));
        }
      } else {
        std::uint64_t degrees = 0;
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

/// Delta-stepping (Meyer and Sanders 2003): each thread has bins of its own. The nodes of the first
/// bin of all threads are shared before the bin is expanded. A thread continues with nodes that it
/// puts into this bin itself while there are few of them (bucket fusion, Zhang et al. 2020).
template <class Length>
double delta_stepping(const CsrView& graph, Node source, Length delta,
                      std::vector<apps::Distance>& distances) {
  constexpr Length unreached = std::numeric_limits<Length>::max();
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  constexpr std::size_t few = 1000;
  std::vector<Length> distance(graph.num_nodes(), unreached);
  // Enough in practice. A node that is improved after its expansion adds its neighbours again.
  std::vector<Node> shared(std::max<std::uint64_t>(graph.num_edges(), 1));
  distance[source] = 0;
  shared[0] = source;
  std::size_t bins[2] = {0, none};  // by turn modulo 2: the current bin and the next one
  std::size_t sizes[2] = {1, 0};
  const auto begin = Clock::now();
#pragma omp parallel default(shared)
  {
    std::vector<std::vector<Node>> mine;
    std::vector<Node> again;
    const auto expand = [&](Node node) {
      const Length start = load(distance[node]);
      for (std::uint64_t edge = graph.first_edge(node); edge < graph.first_edge(node + 1); ++edge) {
        Length& end = distance[graph.target(edge)];
        const Length through = start + graph.weight(edge);
        Length old = load(end);
        while (through < old && !std::atomic_ref{end}.compare_exchange_weak(
                                    old, through, std::memory_order_relaxed)) {
        }
        if (through >= old) continue;
        const std::size_t bin = through / delta;
        if (bin >= mine.size()) mine.resize(bin + 1);
        mine[bin].push_back(graph.target(edge));
      }
    };
    for (unsigned turn = 0; bins[turn % 2] != none; ++turn) {
      const std::size_t bin = bins[turn % 2];
      const std::size_t size = sizes[turn % 2];
      std::size_t& next_bin = bins[(turn + 1) % 2];
      std::size_t& next_size = sizes[(turn + 1) % 2];
#pragma omp for schedule(dynamic, 64) nowait
      for (std::size_t i = 0; i < size; ++i) {
        // Otherwise the node has moved to an earlier bin, and was expanded there.
        if (load(distance[shared[i]]) >= std::uint64_t{delta} * bin) expand(shared[i]);
      }
      while (bin < mine.size() && !mine[bin].empty() && mine[bin].size() < few) {
        again.swap(mine[bin]);
        for (const Node node : again) expand(node);
        again.clear();
      }
      std::size_t first = bin;
      while (first < mine.size() && mine[first].empty()) ++first;
      if (first < mine.size()) {
#pragma omp critical
        next_bin = std::min(next_bin, first);
      }
#pragma omp barrier
#pragma omp single nowait
      {
        bins[turn % 2] = none;
        sizes[turn % 2] = 0;
      }
      if (next_bin < mine.size()) append(mine[next_bin], shared, next_size);
#pragma omp barrier
    }
  }
  const double time = since(begin);
  distances.assign(distance.begin(), distance.end());
  std::ranges::replace(distances, apps::Distance{unreached}, apps::infinite);
  return time;
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
    if (paper_) {
      time = l_sssp(graph, source_, distances);
    } else {
      const apps::Distance delta = graph_->get(&apps::fitting_delta);
      time =
          apps::are_short(graph_->get(&apps::longest_path))
              ? delta_stepping(graph, source_, static_cast<apps::ShortDistance>(delta), distances)
              : delta_stepping(graph, source_, delta, distances);
    }
    expect([&] { return apps::check_paths(csr, source_, distances); });
  } else {
    throw std::runtime_error{"there is no OpenMP version of " + app_};
  }
  return time;
}

}  // namespace cohort::bench
