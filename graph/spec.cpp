#include "graph/spec.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "cohort/error.hpp"
#include "graph/cache.hpp"
#include "graph/generators.hpp"
#include "graph/read.hpp"

namespace cohort {
namespace {

namespace fs = std::filesystem;

constexpr std::array kinds{
    SpecKind{.syntax = "grid:<width>x<height>",
             .example = "grid:1000x1000",
             .summary = "grid, up to four neighbours a node"},
    SpecKind{.syntax = "rmat:<scale>[,seed=<n>][,factor=<n>][,a=<p>][,b=<p>][,c=<p>]",
             .example = "rmat:16",
             .summary = "R-MAT as in Graph500: 2^scale nodes, hubs, small diameter"},
    SpecKind{.syntax = "road:<nodes>[,seed=<n>]",
             .example = "road:100000",
             .summary = "like a road network: large diameter, weights"},
    SpecKind{.syntax = "geometric:<nodes>[,degree=<n>][,seed=<n>]",
             .example = "geometric:100000",
             .summary = "random points, edges to those nearby, weights"},
    SpecKind{.syntax = "power:<nodes>[,exponent=<x>][,factor=<n>][,seed=<n>]",
             .example = "power:100000",
             .summary = "like a social network: degrees follow a power law"},
    SpecKind{.syntax = "star:<nodes>[,tail=<n>]",
             .example = "star:1000",
             .summary = "one hub, with tails of n nodes at its neighbours"},
    SpecKind{.syntax = "path:<nodes>", .example = "path:1000", .summary = "one line"},
    SpecKind{.syntax = "complete:<nodes>", .example = "complete:100", .summary = "all pairs"},
    SpecKind{.syntax = "empty:<nodes>", .example = "empty:1000", .summary = "no edges"},
    SpecKind{.syntax = "<file>",
             .example = "USA-road-d.NY.gr.gz",
             .summary = ".gr .mtx .graph .el .wel, also with .gz or .xz; here or in $COHORT_DATA"},
};

constexpr std::uint64_t most_nodes = std::numeric_limits<Node>::max();

/// Memory in bytes for a graph and for the edges from which it is built.
double bytes(double nodes, double edges, double bytes_per_edge) {
  return nodes * sizeof(std::uint64_t) + edges * bytes_per_edge;
}

Node nodes_of(const SpecArguments& arguments, double edges_per_node, double bytes_per_edge) {
  const std::uint64_t nodes = arguments.number("the number of nodes", 0, most_nodes);
  const auto many = static_cast<double>(nodes);
  arguments.needs_memory(bytes(many, many * edges_per_node, bytes_per_edge));
  return static_cast<Node>(nodes);
}

struct GridSize {
  Node width;
  Node height;
};

GridSize grid_size(SpecArguments& arguments) {
  const auto [width, height] = arguments.pair("width and height", 1);
  arguments.finish();
  if (width > most_nodes / height)
    arguments.refuse("a graph has at most " + std::to_string(most_nodes) + " nodes");
  return {static_cast<Node>(width), static_cast<Node>(height)};
}

Csr load_grid(SpecArguments& arguments) {
  const auto [width, height] = grid_size(arguments);
  const double nodes = static_cast<double>(width) * static_cast<double>(height);
  arguments.needs_memory(bytes(nodes, 4 * nodes, sizeof(Node)));
  return grid(width, height);
}

struct RmatSize {
  std::uint32_t scale;
  std::uint64_t seed;
  std::uint32_t factor;
  RmatShares shares;
};

RmatSize rmat_size(SpecArguments& arguments) {
  const auto scale = static_cast<std::uint32_t>(arguments.number("scale", 0, 31));
  const std::uint64_t seed = arguments.option("seed", default_seed);
  const auto factor = static_cast<std::uint32_t>(arguments.option("factor", 16, 1, 1U << 16U));
  RmatShares shares;
  shares.a = static_cast<std::uint32_t>(arguments.hundredths("a", shares.a, 0, 100));
  shares.b = static_cast<std::uint32_t>(arguments.hundredths("b", shares.b, 0, 100));
  shares.c = static_cast<std::uint32_t>(arguments.hundredths("c", shares.c, 0, 100));
  arguments.finish();
  if (shares.a + shares.b + shares.c > 100) arguments.refuse("a + b + c should be at most 1");
  return {scale, seed, factor, shares};
}

Csr load_rmat(SpecArguments& arguments) {
  const auto [scale, seed, factor, shares] = rmat_size(arguments);
  const auto nodes = static_cast<double>(std::uint64_t{1} << scale);
  arguments.needs_memory(bytes(nodes * 3, nodes * factor, 16));
  return rmat(scale, seed, factor, shares);
}

Csr load_road(SpecArguments& arguments) {
  const std::uint64_t seed = arguments.option("seed", default_seed);
  arguments.finish();
  return road(nodes_of(arguments, 1.4, 40), seed);
}

Csr load_geometric(SpecArguments& arguments) {
  const auto degree = static_cast<std::uint32_t>(arguments.option("degree", 8, 1, 1U << 16U));
  const std::uint64_t seed = arguments.option("seed", default_seed);
  arguments.finish();
  return geometric(nodes_of(arguments, degree + 4.0, 16), degree, seed);
}

Csr load_power(SpecArguments& arguments) {
  const auto exponent =
      static_cast<std::uint32_t>(arguments.hundredths("exponent", 250, 201, 1000));
  const auto factor = static_cast<std::uint32_t>(arguments.option("factor", 8, 1, 1U << 16U));
  const std::uint64_t seed = arguments.option("seed", default_seed);
  arguments.finish();
  return power_law(nodes_of(arguments, factor, 28), exponent, factor, seed);
}

Csr load_star(SpecArguments& arguments) {
  const auto tail = static_cast<Node>(arguments.option("tail", 0, 0, most_nodes));
  arguments.finish();
  return star(nodes_of(arguments, 2, tail == 0 ? sizeof(Node) : 16), tail);
}

Csr load_path(SpecArguments& arguments) {
  arguments.finish();
  return path(nodes_of(arguments, 4, sizeof(Node)));
}

Csr load_complete(SpecArguments& arguments) {
  arguments.finish();
  const auto nodes = static_cast<double>(arguments.number("the number of nodes", 0, most_nodes));
  return complete(nodes_of(arguments, nodes, sizeof(Node)));
}

Csr load_empty(SpecArguments& arguments) {
  arguments.finish();
  return empty(nodes_of(arguments, 0, 0));
}

using Load = Csr (*)(SpecArguments&);
constexpr std::array<Load, kinds.size() - 1> loads{load_grid,      load_rmat,     load_road,
                                                   load_geometric, load_power,    load_star,
                                                   load_path,      load_complete, load_empty};

[[noreturn]] void refuse(std::string_view spec) {
  std::string known;
  for (const SpecKind& each : kinds)
    known += (known.empty() ? "" : ", ") + std::string{each.syntax};
  throw Error{Errc::bad_options, "input '" + std::string{spec} +
                                     "': no such file, here or in $COHORT_DATA, and no such kind "
                                     "of input; use one of " +
                                     known};
}

}  // namespace

std::span<const SpecKind> graph_specs() { return kinds; }

std::optional<fs::path> find_input(std::string_view spec) {
  if (spec.empty()) return std::nullopt;
  const char* const data = std::getenv("COHORT_DATA");  // NOLINT(concurrency-mt-unsafe)
  std::error_code ignored;
  for (const char* const folder : {"", data}) {
    if (folder == nullptr) continue;
    for (const char* const end : {"", ".gz", ".xz"}) {
      const fs::path file = fs::path{folder} / (std::string{spec} + end);
      if (fs::exists(file, ignored) && !fs::is_directory(file, ignored)) return file;
    }
  }
  return std::nullopt;
}

std::optional<EdgeList> load_edges(std::string_view spec, std::uint32_t part, std::uint32_t parts) {
  const auto share = [&](std::uint64_t all, std::uint32_t before) {
    return all / parts * before + std::min<std::uint64_t>(all % parts, before);
  };
  const std::string_view kind = kind_of(spec);
  if (kind == "rmat") {
    SpecArguments arguments{spec, kinds[1]};
    const auto [scale, seed, factor, shares] = rmat_size(arguments);
    const std::uint64_t all = std::uint64_t{factor} << scale;
    const auto nodes = static_cast<double>(std::uint64_t{1} << scale);
    arguments.needs_memory(bytes(nodes * 3, nodes * factor / parts, 16));
    return EdgeList{
        .nodes = Node{1} << scale,
        .edges = rmat_edges(scale, seed, share(all, part), share(all, part + 1), shares),
        .weights = {}};
  }
  if (kind == "grid") {
    SpecArguments arguments{spec, kinds[0]};
    const auto [width, height] = grid_size(arguments);
    EdgeList list{.nodes = std::uint64_t{width} * height, .edges = {}, .weights = {}};
    arguments.needs_memory(static_cast<double>(list.nodes) / parts * 2 * sizeof(Edge));
    const auto last = static_cast<Node>(share(list.nodes, part + 1));
    for (auto node = static_cast<Node>(share(list.nodes, part)); node < last; ++node) {
      if (node % width + 1 < width) list.edges.push_back({node, node + 1});
      if (node / width + 1 < height) list.edges.push_back({node, node + width});
    }
    return list;
  }
  return {};
}

std::optional<Csr> load_rows(std::string_view spec, Selection& selection) {
  const auto kind = [&](const SpecKind& each) { return kind_of(spec) == kind_of(each.syntax); };
  if (std::ranges::any_of(std::span{kinds}.first(loads.size()), kind)) return {};
  const auto file = find_input(spec);
  if (!file) return {};
  return read_rows(*file, selection);
}

Csr load_graph(std::string_view spec) {
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (kind_of(spec) != kind_of(kinds[i].syntax)) continue;
    SpecArguments arguments{spec, kinds[i]};
    return loads[i](arguments);
  }
  if (const auto file = find_input(spec)) return read_cached(*file);
  std::error_code ignored;
  if (fs::is_directory(spec, ignored)) {
    throw Error{Errc::bad_options,
                "input '" + std::string{spec} +
                    "': a folder; name a graph file in it, or set COHORT_DATA to it"};
  }
  refuse(spec);
}

}  // namespace cohort
