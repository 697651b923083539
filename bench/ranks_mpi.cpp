// The measured part of scenario "mpi": the cost of ranks, on two ranks of this machine. `cohort
// bench mpi` starts itself under mpirun for this. Rank 0 measures; rank 1 sleeps until it is
// called.
#include "bench/ranks_mpi.hpp"

#include <mpi.h>

#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "apps/bfs/host.hpp"
#include "apps/ranks/bfs.hpp"
#include "bench/affinity.hpp"
#include "bench/arithmetic.hpp"
#include "bench/child.hpp"
#include "bench/harness.hpp"
#include "cohort/cpu.hpp"
#include "cohort/mpi.hpp"

namespace cohort::bench {
namespace {

using apps::RankedBfs;
using protocol::Bytes;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr std::uint32_t shards = 32;

double in_ns(nanoseconds time) { return static_cast<double>(time.count()); }

// ---- breadth-first search

/// A search on all ranks of a network. The graph stays loaded.
class BfsOnRanks {
 public:
  BfsOnRanks(mpi::Network& network, cpu::Engine& engine, const std::string& input)
      : network_(network),
        engine_(engine),
        owners_(protocol::first_owners(shards, network.ranks())) {
    apps::SharedGraph graph{input, apps::SharedGraph::Wants::as_it_is, network.ranks()};
    shards_ = apps::NodeShards{graph.nodes(), shards};
    symmetric_ = graph.symmetric();
    rows_ = graph.rows(network, shards_, owners_);
    source_ = apps::hub(network, rows_);
  }

  /// Runs one search. Returns the nanoseconds that it took on this rank.
  double run() {
    RankedBfs::Memory memory{engine_.capacity(), shards_.nodes()};
    RankJob<mpi::Network, cpu::Engine, RankedBfs> job{
        network_,
        engine_,
        RankedBfs{.shards = shards_, .memory = &memory, .symmetric = symmetric_},
        {.shards = shards}};
    const RankReport report = job.run([&](const protocol::Owners& /*owners*/) {
      std::vector<RankedBfs::Part> parts = RankedBfs::parts_of(rows_, source_);
      if (network_.ranks() == 1)
        memory.one_machine.emplace(engine_, LaunchOptions{}, parts, shards_.nodes(), symmetric_,
                                   source_);
      return parts;
    });
    double sum = 0;
    job.for_parts(
        [&](std::uint32_t, const RankedBfs::Part& part) { sum += checksum(part.values); });
    checksum_ = network_.vote({.sum = sum}).sum;
    return in_ns(report.local_time + report.exchange_time);
  }
  /// Checksum of the last run's result.
  [[nodiscard]] double checksum() const { return checksum_; }
  static double checksum(const auto& levels) {
    double sum = 0;
    for (const std::uint32_t level : levels) sum += level == RankedBfs::unreached ? 0 : 1.0 + level;
    return sum;
  }

 private:
  mpi::Network& network_;
  cpu::Engine& engine_;
  protocol::Owners owners_;
  apps::NodeShards shards_;
  bool symmetric_ = false;
  std::vector<apps::Rows> rows_;
  Node source_ = 0;
  double checksum_ = 0;
};

// ---- votes and exchanges

double of_rounds(std::uint32_t rounds, const auto& round) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < rounds; ++i) round();
  return in_ns(std::chrono::steady_clock::now() - begin) / rounds;
}

/// Nanoseconds for a vote and an exchange of `size` bytes in both directions.
double by_network(mpi::Network& network, std::size_t size, std::uint32_t rounds) {
  const Bytes content(size, std::byte{1});
  return of_rounds(rounds, [&] {
    std::vector<Bytes> parcels(2);
    parcels[1 - network.rank()] = content;
    network.vote({.more = 1});
    network.exchange(std::move(parcels), [](std::uint32_t, const Bytes&) {});
  });
}

/// The same, made only of MPI calls. Received data has its memory already.
double by_bare_calls(int rank, std::size_t size, std::uint32_t rounds) {
  const Bytes content(size, std::byte{1});
  Bytes arrived(size);
  return of_rounds(rounds, [&] {
    const std::array<double, 8> ballot{1};
    std::array<double, 8> all{};
    MPI_Allreduce(ballot.data(), all.data(), 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const Bytes parcel = content;
    std::array<int, 2> sizes{};
    std::array<int, 2> coming{};
    sizes[static_cast<std::size_t>(1 - rank)] = static_cast<int>(size);
    MPI_Alltoall(sizes.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, MPI_COMM_WORLD);
    constexpr std::array<int, 2> at{0, 0};
    MPI_Alltoallv(parcel.data(), sizes.data(), at.data(), MPI_BYTE, arrived.data(), coming.data(),
                  at.data(), MPI_BYTE, MPI_COMM_WORLD);
  });
}

// ---- units for tasks

/// Steps of a known length, with a superstep from time to time.
struct Stepping {
  struct Part {
    std::uint32_t unused = 0;
    template <class Visit>
    void fields(Visit& visit) {
      visit(unused);
    }
  };
  using Message = std::uint32_t;
  static constexpr std::uint32_t steps = 600;
  static constexpr std::uint32_t steps_of_superstep = 50;
  struct State {
    std::uint32_t step = 0;
  };

  std::uint64_t work;
  std::atomic<std::uint32_t>* done;
  Shards<Part> parts = {};
  Inbox<Message> in = {};
  Outbox<Message> out = {};

  template <class Group>
  Next step(Group& group, State& state) const {
    keep(churn(work));
    if (group.global_id() == 0) done->store(state.step, std::memory_order_relaxed);
    if (++state.step == steps) return Next::halt;
    return state.step % steps_of_superstep == 0 ? Next::exchange : Next::again;
  }
};

/// Gather times of tasks of one group that arrive at random moments next to a job of all groups.
/// `run(kernel)` runs the job to its end.
template <class Run>
std::vector<double> gather_times(cpu::Engine& engine, std::uint64_t work, Run run) {
  std::atomic<std::uint32_t> done{0};
  std::vector<double> times;
  std::jthread tasks{[&](const std::stop_token& stop) {
    std::mt19937_64 random{1};  // NOLINT(cert-msc51-cpp): the same for all contenders
    std::uniform_int_distribution<int> pause{500, 2000};
    while (done.load(std::memory_order_relaxed) == 0) {
      if (stop.stop_requested()) return;
      std::this_thread::sleep_for(microseconds{50});
    }
    while (done.load(std::memory_order_relaxed) < Stepping::steps * 9 / 10) {
      std::this_thread::sleep_for(microseconds{pause(random)});
      times.push_back(in_ns(engine.submit([] {}, {.groups = 1}).wait().gather));
    }
  }};
  run(Stepping{.work = work, .done = &done});
  tasks = {};  // ends the thread and joins it
  return times;
}

// ---- the ranks

constexpr std::array<std::size_t, 3> exchange_sizes{0, 4096, 262144};
std::uint32_t rounds_of(std::size_t size) { return size > 65536 ? 300 : 3000; }

/// What rank 1 has to do together with rank 0.
enum class Call : int { end, search, network, bare_calls };

/// Sends a call from rank 0 to rank 1. Rank 1 sleeps until then, because polling would take a CPU
/// from rank 0.
void call(Call what, std::size_t argument = 0) {
  const std::array<std::uint64_t, 2> words{static_cast<std::uint64_t>(what), argument};
  MPI_Send(words.data(), 2, MPI_UINT64_T, 1, 0, MPI_COMM_WORLD);
  if (what != Call::end) MPI_Barrier(MPI_COMM_WORLD);
}
std::pair<Call, std::size_t> await_call() {
  std::array<std::uint64_t, 2> words{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(words.data(), 2, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, &request);
  for (int came = 0; came == 0;) {
    std::this_thread::sleep_for(microseconds{200});
    MPI_Test(&request, &came, MPI_STATUS_IGNORE);
  }
  if (static_cast<Call>(words[0]) != Call::end) MPI_Barrier(MPI_COMM_WORLD);
  return {static_cast<Call>(words[0]), words[1]};
}

class Contest {
 public:
  Contest(mpi::Network& pair, mpi::Network& alone, const RanksPart& part)
      : pair_(pair),
        alone_(alone),
        part_(part),
        two_groups_({.capacity = 2, .pin_workers = true}),
        one_group_((pin(allowed_cpus().at(pair.rank())), cpu::EngineOptions{.capacity = 1})),
        on_pair_(pair, one_group_, part.input) {}

  void follow() {
    for (;;) {
      const auto [what, argument] = await_call();
      switch (what) {
        case Call::end: return;
        case Call::search: on_pair_.run(); break;
        case Call::network: by_network(pair_, argument, rounds_of(argument)); break;
        case Call::bare_calls: by_bare_calls(1, argument, rounds_of(argument)); break;
      }
    }
  }

  nlohmann::ordered_json lead() {
    searches();
    for (const std::size_t size : exchange_sizes) rounds(size);
    tasks();
    call(Call::end);
    return {{"measurements", std::move(measurements_)}, {"text", text_.str()}};
  }

 private:
  void searches() {
    const apps::bfs::App app{{apps::known_graph(part_.input)},
                             apps::known_graph(part_.input)->get(&cohort::hub)};
    BfsOnRanks on_one{alone_, two_groups_, part_.input};
    const double expected =
        BfsOnRanks::checksum(app.run(two_groups_, {.launch = {.max_groups = 2}}).levels);
    const auto one_rank = [&] {
      const double time = on_one.run();
      if (on_one.checksum() != expected) throw std::runtime_error{"one rank: a wrong result"};
      return std::vector{time};
    };
    add("bfs on " + part_.input + ", 2 groups",
        {{.name = "on the engine",
          .measure =
              [&] {
                const Report report =
                    app.run(two_groups_, {.launch = {.max_groups = 2}, .results = false}).report;
                return std::vector{in_ns(report.run_time)};
              },
          .reference = true},
         {.name = "on one rank", .measure = one_rank}});
    add("bfs on " + part_.input + ", 2 groups in all",
        {{.name = "1 rank of 2 groups", .measure = one_rank, .reference = true},
         {.name = "2 ranks of 1 group", .measure = [&] {
            call(Call::search);
            const double time = on_pair_.run();
            if (on_pair_.checksum() != expected)
              throw std::runtime_error{"two ranks: a wrong result"};
            return std::vector{time};
          }}});
  }

  void rounds(std::size_t size) {
    add("vote, exchange of " + std::to_string(size) + " bytes",
        {{.name = "MPI calls",
          .measure =
              [&] {
                call(Call::bare_calls, size);
                return std::vector{by_bare_calls(0, size, rounds_of(size))};
              },
          .reference = true},
         {.name = "cohort", .measure = [&] {
            call(Call::network, size);
            return std::vector{by_network(pair_, size, rounds_of(size))};
          }}});
  }

  void tasks() {
    const std::uint64_t work = steps_for(microseconds{100});
    add("task gets a group of 2, steps of 100 us",
        {{.name = "without MPI",
          .measure =
              [&] {
                return gather_times(two_groups_, work, [&](const Stepping& kernel) {
                  two_groups_.launch(kernel, {.max_groups = 2}).wait();
                });
              },
          .reference = true},
         {.name = "in a rank", .measure = [&] {
            return gather_times(two_groups_, work, [&](const Stepping& kernel) {
              RankJob<mpi::Network, cpu::Engine, Stepping> job{
                  alone_, two_groups_, kernel, {.shards = 1, .launch = {.max_groups = 2}}};
              job.run([](const protocol::Owners&) { return std::vector<Stepping::Part>(1); });
            });
          }}});
  }

  void add(const std::string& name, const std::vector<Contender>& contenders) {
    const Measurement measurement =
        measure(name, "ns", contenders, {.count = part_.repetitions, .warm_ups = 2});
    print(text_, measurement);
    text_ << '\n';
    measurements_.push_back(to_json(measurement));
  }

  mpi::Network& pair_;
  mpi::Network& alone_;
  const RanksPart& part_;
  cpu::Engine two_groups_;
  cpu::Engine one_group_;
  BfsOnRanks on_pair_;
  nlohmann::ordered_json measurements_ = nlohmann::ordered_json::array();
  std::ostringstream text_;
};

}  // namespace

nlohmann::ordered_json measure_ranks(const RanksPart& part) {
  nlohmann::ordered_json skipped{{"measurements", nlohmann::ordered_json::array()}};
  const auto skip = [&](const std::string& why) {
    skipped["text"] = "not measured on an MPI: " + why + "\n";
    return skipped;
  };
  if (allowed_cpus().size() < 2) return skip("two ranks need two CPUs");
  // Only Open MPI reads these variables: ranks bind themselves, and containers run as root.
  const Environment as_here{{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                            {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  try {
    Child child{{"-n", "2", std::filesystem::read_symlink("/proc/self/exe").string(), "bench",
                 "ranks-part", part.input, std::to_string(part.repetitions)},
                as_here,
                COHORT_MPIEXEC};
    const auto output = child.output_within(std::chrono::minutes{10});
    if (!output) return skip("two ranks took more than 10 minutes");
    return nlohmann::ordered_json::parse(*output);
  } catch (const std::exception& error) {
    return skip(error.what());
  }
}

void run_ranks_part(const RanksPart& part) {
  mpi::Network pair;
  if (pair.ranks() != 2) throw Error{Errc::bad_options, "this measurement needs 2 ranks"};
  mpi::Network alone;  // contains only rank 0
  alone.shrink({1, 0});
  try {
    Contest contest{pair, alone, part};
    if (pair.rank() == 1) return contest.follow();
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    nlohmann::ordered_json result{
        {"mpi", std::string{version.data()}.substr(0, std::string{version.data()}.find(", "))}};
    result.update(contest.lead());
    std::cout << result << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "cohort: rank " << pair.rank() << ": " << error.what() << std::endl;
    pair.abort(1);
  }
}

}  // namespace cohort::bench
