// Scenario "mpi": counts messages, bytes and supersteps of jobs on 1 to 64 ranks of this process. A
// model derives what these counts mean for larger machines. If an MPI is installed, also measures
// the cost of ranks on it.
#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "apps/ranks/run.hpp"
#include "bench/scenario.hpp"
#ifdef COHORT_BENCH_MPI
#include "bench/ranks_mpi.hpp"
#endif
#include "cohort/cpu.hpp"
#include "cohort/protocol/hub.hpp"

namespace cohort::bench {
namespace {

using Network = protocol::HubNetwork<cpu::Platform>;

/// Totals of the data that one rank sent to others.
struct Counts {
  std::uint64_t votes = 0;
  std::uint64_t exchanges = 0;
  std::uint64_t parcels = 0;  // number of parcels with contents
  std::uint64_t bytes = 0;
};

/// A network that counts what it carries.
class CountedNetwork {
 public:
  explicit CountedNetwork(Network& network) : network_(network) {}

  [[nodiscard]] std::uint32_t rank() const { return network_.rank(); }
  [[nodiscard]] std::uint32_t ranks() const { return network_.ranks(); }
  [[nodiscard]] bool joined() const { return network_.joined(); }
  protocol::Ballot vote(const protocol::Ballot& mine) {
    ++counts.votes;
    return network_.vote(mine);
  }
  template <protocol::TakesParcel Arrival>
  void exchange(std::vector<protocol::Bytes> parcels, Arrival&& arrival) {
    ++counts.exchanges;
    for (std::uint32_t to = 0; to < parcels.size(); ++to) {
      if (to == rank() || parcels[to].empty()) continue;
      ++counts.parcels;
      counts.bytes += parcels[to].size();
    }
    network_.exchange(std::move(parcels), std::forward<Arrival>(arrival));
  }
  std::uint32_t grow(std::uint32_t more) { return network_.grow(more); }
  void shrink(const std::vector<std::uint8_t>& stays) { network_.shrink(stays); }

  Counts counts;

 private:
  Network& network_;
};

struct Job {
  const char* app;
  const char* input;
  const char* quick_input;
};
constexpr std::array jobs{Job{"bfs", "rmat:16", "rmat:10"}, Job{"cc", "rmat:16", "rmat:10"},
                          Job{"l-sssp", "road:100000", "road:2000"},
                          Job{"pagerank", "rmat:14", "rmat:8"}};

struct Counted {
  std::uint32_t ranks = 1;
  std::uint64_t supersteps = 0;
  std::uint64_t parcels = 0;     // sent by all ranks together during the job
  std::uint64_t most_bytes = 0;  // sent by the rank that sent most
  std::uint64_t bytes = 0;
  double imbalance = 1;
};

Counted count(const Job& job, const char* input, std::uint32_t ranks) {
  protocol::Hub<cpu::Platform> hub{ranks, ranks};
  std::vector<Counts> before(ranks);  // the counts when the shards were complete
  std::vector<Counts> after(ranks);
  apps::RankedOutcome outcome;
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Network local{hub, rank};
      CountedNetwork network{local};
      cpu::Engine engine{{.capacity = 1}};
      apps::RankedRun run{.app = job.app, .input = input, .options = {.shards = 256}};
      run.made = [&] { before[rank] = network.counts; };
      run.control = [&](RankRequests* requests) {
        if (requests == nullptr) after[rank] = network.counts;
      };
      const apps::RankedOutcome its = apps::run_on_ranks(network, engine, run);
      if (rank == 0) outcome = its;
    });
  }
  threads.clear();
  Counted counted{
      .ranks = ranks, .supersteps = outcome.report.supersteps, .imbalance = outcome.imbalance};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t bytes = after[rank].bytes - before[rank].bytes;
    counted.parcels += after[rank].parcels - before[rank].parcels;
    counted.bytes += bytes;
    counted.most_bytes = std::max(counted.most_bytes, bytes);
  }
  return counted;
}

constexpr double alpha = 2e-6;         // seconds per message
constexpr double beta = 1.0 / 12.5e9;  // seconds per byte: 100 Gbit/s

struct Model {
  double direct = 0;
  double two_hops = 0;
};

/// Network time of a superstep on `nodes` nodes, in seconds. Each node sends `bytes` in total. It
/// sends evenly to all others at once, or to the nodes of its row and from there along columns.
Model superstep(double nodes, double bytes) {
  const double vote = 2 * std::log2(nodes) * alpha;
  const double side = std::ceil(std::sqrt(nodes));
  return {vote + (nodes - 1) * alpha + bytes * beta,
          vote + 2 * (side - 1) * alpha + 2 * bytes * beta};
}

nlohmann::ordered_json run_ranks(const ScenarioOptions& options) {
  auto counts = nlohmann::ordered_json::array();
  auto models = nlohmann::ordered_json::array();
  const std::uint32_t most = options.quick ? 8 : 64;
  for (const Job& job : jobs) {
    const char* const input = options.quick ? job.quick_input : job.input;
    std::cout << job.app << " on " << input << ", counted\n"
              << " ranks  supersteps  parcels/rank/superstep  bytes/rank/superstep  most/average  "
                 "edges most/average\n";
    Counted last;
    for (std::uint32_t ranks = 1; ranks <= most && !options.stop.stop_requested(); ranks *= 2) {
      last = count(job, input, ranks);
      const auto all = static_cast<double>(last.supersteps * ranks);
      const double average = static_cast<double>(last.bytes) / ranks;
      std::cout << std::fixed << std::setw(6) << ranks << std::setw(12) << last.supersteps
                << std::setw(24) << std::setprecision(2) << static_cast<double>(last.parcels) / all
                << std::setw(22) << std::setprecision(0) << static_cast<double>(last.bytes) / all
                << std::setw(14) << std::setprecision(2)
                << (last.bytes == 0 ? 1 : static_cast<double>(last.most_bytes) / average)
                << std::setw(20) << last.imbalance << '\n';
      counts.push_back({{"app", job.app},
                        {"input", input},
                        {"ranks", ranks},
                        {"supersteps", last.supersteps},
                        {"parcels", last.parcels},
                        {"bytes", last.bytes},
                        {"most_bytes_of_a_rank", last.most_bytes},
                        {"edges_most_over_average", last.imbalance}});
    }
    const double bytes =
        static_cast<double>(last.bytes) / static_cast<double>(last.supersteps * last.ranks);
    std::cout << "  nodes  direct us/superstep  two hops us/superstep\n";
    for (double nodes = 16; nodes <= 4096; nodes *= 4) {
      const Model model = superstep(nodes, bytes);
      std::cout << std::setw(7) << std::setprecision(0) << nodes << std::setw(21)
                << std::setprecision(1) << model.direct * 1e6 << std::setw(23)
                << model.two_hops * 1e6 << '\n';
      models.push_back({{"app", job.app},
                        {"nodes", nodes},
                        {"bytes_per_node", bytes},
                        {"direct_s", model.direct},
                        {"two_hops_s", model.two_hops}});
    }
    std::cout << '\n';
  }
  std::cout
      << "the model: each node sends in a superstep what a rank sent on " << most
      << " ranks here (the input grows with the nodes), evenly to all others; a message costs "
      << std::setprecision(0) << alpha * 1e6 << " us and a byte " << std::setprecision(2)
      << beta * 1e9
      << " ns; votes take 2 log2(nodes) messages. Two hops: along the rows of a square of "
         "nodes, then along its columns. Local work and imbalance come on top."
      << std::endl;
  nlohmann::ordered_json record{{"counts", std::move(counts)},
                                {"model",
                                 {{"seconds_per_message", alpha},
                                  {"seconds_per_byte", beta},
                                  {"supersteps", std::move(models)}}}};
#ifdef COHORT_BENCH_MPI
  nlohmann::ordered_json measured = measure_ranks(
      {.input = options.quick ? "rmat:14" : "rmat:20", .repetitions = options.repetitions});
  std::cout << '\n' << measured["text"].get<std::string>() << std::endl;
  measured.erase("text");
  record.update(measured);
#endif
  return record;
}

}  // namespace

const Scenario mpi_scenario{
    .name = "mpi",
    .summary =
        "messages, bytes and supersteps on 1 to 64 ranks, a model of 16 to 4096 nodes, and "
        "what two ranks of an MPI cost",
    .run = &run_ranks};

}  // namespace cohort::bench
