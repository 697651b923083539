// Runs an app on several ranks: loads the input, runs the job, and gathers the result on rank 0.
#pragma once

#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/bfs/host.hpp"
#include "apps/cc/host.hpp"
#include "apps/pagerank/host.hpp"
#include "apps/paths.hpp"
#include "apps/ranks/bfs.hpp"
#include "apps/ranks/pagerank.hpp"
#include "apps/ranks/ranked_run.hpp"
#include "apps/ranks/relax.hpp"
#include "apps/ranks/rows.hpp"
#include "apps/source.hpp"
#include "cohort/ranks.hpp"

namespace cohort::apps {

namespace detail {

template <protocol::Network N, class Engine>
class RankedApps {
 public:
  RankedApps(N& network, Engine& engine, RankedRun run)
      : network_(network), engine_(engine), run_(std::move(run)) {}

  RankedOutcome run() {
    if (!network_.joined()) check_same_command();
    if (run_.app == "bfs") return bfs();
    if (run_.app == "cc") return cc();
    if (run_.app == "l-sssp") return sssp();
    if (run_.app == "pagerank") return pagerank();
    throw Error{Errc::bad_options, "app '" + run_.app + "' does not run on several ranks; use " +
                                       std::string{ranked_apps}};
  }

 private:
  using Wants = SharedGraph::Wants;

  RankedOutcome bfs() {
    const SourceChoice source{run_.input, run_.settings};
    load(Wants::as_it_is);
    RankedBfs::Memory memory{threads(), shards_.nodes()};
    const bool symmetric = graph_->symmetric();
    const auto levels = see_through<std::uint32_t>(
        RankedBfs{.shards = shards_, .memory = &memory, .symmetric = symmetric},
        [&](const std::vector<Rows>& rows) {
          std::vector<RankedBfs::Part> parts = RankedBfs::parts_of(rows, source_);
          if (network_.ranks() == 1) {
            memory.one_machine.emplace(engine_, run_.options.launch, parts, shards_.nodes(),
                                       symmetric, source_);
          }
          return parts;
        },
        &source);
    return judged(
        [&](const GraphInput& graph) {
          return bfs::App{{graph}, source.of(*graph)}.difference({levels, {}});
        },
        [&] {
          return bfs::App{{}, 0}.numbers({levels, {}});
        });
  }

  RankedOutcome cc() {
    load(Wants::both_directions);
    const auto labels = relax<LabelRule>(Relax<LabelRule>::none, nullptr);
    return judged([&](const GraphInput& graph) { return check_cc(graph->csr(), labels); },
                  [&] {
                    std::int64_t components = 0;
                    for (Node node = 0; node < labels.size(); ++node)
                      components += labels[node] == node ? 1 : 0;
                    return Numbers{{"components", components}};
                  });
  }

  RankedOutcome sssp() {
    const SourceChoice source{run_.input, run_.settings};
    // Wide buckets, because a superstep costs more than repeated work.
    const std::uint64_t delta = run_.settings.number("delta", 256, 1);
    load(Wants::weights);
    const auto lengths = relax<PathRule>(delta, &source);
    return judged(
        [&](const GraphInput& graph) {
          return check_paths(graph->csr(), source.of(*graph), lengths);
        },
        [&] {
          return SsspApp::numbers({lengths, {}});
        });
  }

  RankedOutcome pagerank() {
    const auto digits = static_cast<double>(run_.settings.number("digits", 6, 0, 9));
    const double tolerance = std::pow(10, -digits);
    load(Wants::as_it_is);
    std::vector<double> away(shards_.nodes(), 0);
    const auto ranks = see_through<double>(
        RankedPages{.shards = shards_, .away = away.data(), .tolerance = tolerance},
        [](const std::vector<Rows>& rows) {
          std::vector<RankedPages::Part> parts;
          for (const Rows& its : rows) {
            parts.push_back({its, {}, {}});
            RankedPages::Part& part = parts.back();
            part.values.assign(part.nodes(), 1);
            part.sums.assign(part.nodes(), 0);
          }
          return parts;
        },
        nullptr);
    return judged(
        [&](const GraphInput& graph) {
          return pagerank::check_ranks(graph->csr(), tolerance, ranks);
        },
        [&] {
          return pagerank::App::numbers({ranks, {}});
        });
  }

  /// A rank with another command would leave the others waiting for ever.
  void check_same_command() {
    std::string all = run_.app + '\0' + run_.input + '\0' + std::to_string(run_.options.shards) +
                      '\0' + run_.options.checkpoint.string() + '\0' + run_.settings.all();
    std::uint64_t sum = 14695981039346656037U;  // the 64-bit FNV-1a hash
    for (const char each : all) sum = (sum ^ static_cast<unsigned char>(each)) * 1099511628211U;
    const std::uint64_t least = network_.vote({.least = sum}).least;
    const std::uint64_t most = ~network_.vote({.least = ~sum}).least;
    if (least != most) {
      throw Error{Errc::bad_options,
                  "the ranks were started with different commands: give all of them the same one"};
    }
  }

  void load(Wants wants) {
    run_.settings.check_all_used();
    wants_ = wants;
    // Newcomers begin with an exchange, so only they cannot report a failed load to the others.
    std::exception_ptr fault;
    try {
      graph_.emplace(run_.input, wants, network_.ranks());
    } catch (const std::exception&) {
      if (network_.joined()) throw;
      fault = std::current_exception();
    }
    if (!network_.joined()) check_all_loaded(fault);
    shards_ = NodeShards{graph_->nodes(), run_.options.shards};
  }

  /// If loading failed on one rank, it throws its own error there, and the other ranks fail too.
  void check_all_loaded(const std::exception_ptr& fault) {
    const std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t first = network_.vote({.least = fault ? network_.rank() : none}).least;
    if (first == none) return;
    if (first == network_.rank()) std::rethrow_exception(fault);
    throw Error{Errc::broken_contract, "another rank has failed; its message says why"};
  }

  /// The number of threads of this rank.
  [[nodiscard]] std::size_t threads() const {
    return std::size_t{run_.options.launch.max_groups.value_or(engine_.capacity())} *
           run_.options.launch.local_size.value_or(1);
  }

  /// Sets the initial values. Without a source, each node starts with its own number.
  template <class Rule>
  std::vector<typename Rule::Value> relax(typename Rule::Value delta, const SourceChoice* source) {
    using Kernel = Relax<Rule>;
    typename Kernel::Lists lists{threads(), shards_.nodes()};
    return see_through<typename Rule::Value>(
        Kernel{.shards = shards_, .lists = &lists, .delta = delta},
        [&](const std::vector<Rows>& rows) {
          std::vector<typename Kernel::Part> parts;
          for (const Rows& its : rows) {
            parts.push_back({its, {}, {}});
            typename Kernel::Part& part = parts.back();
            part.values.assign(part.nodes(), Kernel::none);
            part.flags.assign(part.nodes(), Kernel::at_rest);
            for (Node index = 0; index < part.nodes(); ++index) {
              const Node node = part.first + index;
              if (source != nullptr && node != source_) continue;
              part.values[index] = source == nullptr ? node : 0;
              part.flags[index] = Kernel::far;
            }
          }
          return parts;
        },
        source);
  }

  Node source_of(const SourceChoice& choice, const std::vector<Rows>& rows) {
    const Node source = choice.of([&] { return hub(network_, rows); });
    check_source(run_.app, shards_.nodes(), source);
    return source;
  }

  /// Runs the job. If it finished, returns the values of all nodes on rank 0.
  template <class Value, class Kernel, class MakeParts>
  std::vector<Value> see_through(Kernel kernel, MakeParts make_parts, const SourceChoice* source) {
    RankOptions options = run_.options;
    options.weights = graph_->weights(shards_);
    options.name = run_.app + " on " + run_.input;
    RankJob<N, Engine, Kernel> job{network_, engine_, std::move(kernel), options};
    run_.control(&job.requests());
    outcome_.report = job.run([&](const protocol::Owners& owners) {
      const std::vector<Rows> rows = graph_->rows(network_, shards_, owners);
      if (source != nullptr) source_ = source_of(*source, rows);
      std::vector<typename Kernel::Part> parts = make_parts(rows);
      run_.made();
      return parts;
    });
    run_.control(nullptr);
    graph_.reset();
    if (outcome_.report.end != protocol::RankEnd::finished) return {};
    return gathered<Value>(job);
  }

  template <class Value, class Job>
  std::vector<Value> gathered(Job& job) {
    std::vector<protocol::Bytes> parcels(network_.ranks());
    protocol::ParcelWriter writer{parcels[0]};
    std::uint64_t edges = 0;
    job.for_parts([&](std::uint32_t /*shard*/, const auto& part) {
      edges += part.targets.size();
      writer.value(part.first);
      writer.list(std::span<const Value>{part.values});
    });
    const protocol::Ballot all =
        network_.vote({.least = ~edges, .sum = static_cast<double>(edges)});
    std::vector<Value> values(network_.rank() == 0 ? shards_.nodes() : 0);
    network_.exchange(std::move(parcels),
                      [&](std::uint32_t /*from*/, const protocol::Bytes& parcel) {
                        for (protocol::ParcelReader reader{parcel}; !reader.done();) {
                          const auto first = reader.template value<Node>();
                          std::ranges::copy(reader.template list<Value>(), values.begin() + first);
                        }
                      });
    const auto count = static_cast<std::uint64_t>(all.sum);
    outcome_.input =
        std::to_string(shards_.nodes()) + " nodes, " + std::to_string(count) + " edges";
    if (count > 0)
      outcome_.imbalance = static_cast<double>(~all.least) * network_.ranks() / all.sum;
    return values;
  }

  template <class Check, class Count>
  RankedOutcome judged(const Check& check, const Count& count) {
    if (outcome_.report.end != protocol::RankEnd::finished || network_.rank() != 0) return outcome_;
    outcome_.result = count();
    if (!run_.verify) return outcome_;
    const auto wrong = check(
        known_graph(run_.input, wants_ == Wants::weights ? Edges::weighted : Edges::as_they_are));
    outcome_.verified = !wrong;
    outcome_.difference = wrong.value_or("");
    return outcome_;
  }

  N& network_;
  Engine& engine_;
  RankedRun run_;
  Wants wants_ = Wants::as_it_is;
  std::optional<SharedGraph> graph_;
  NodeShards shards_;
  Node source_ = 0;
  RankedOutcome outcome_;
};

}  // namespace detail

/// Runs an app. Collective: all ranks call it with the same run. Throws Error{bad_options} for
/// options or inputs that it cannot run.
template <protocol::Network N, class Engine>
RankedOutcome run_on_ranks(N& network, Engine& engine, RankedRun run) {
  return detail::RankedApps<N, Engine>{network, engine, std::move(run)}.run();
}

}  // namespace cohort::apps
