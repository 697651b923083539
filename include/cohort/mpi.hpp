// Jobs on several ranks by MPI. Each rank is a process with an engine of its own. Invariant: only
// the thread that runs a job calls MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cohort/protocol/network.hpp"
#include "cohort/ranks.hpp"

namespace cohort::mpi {

/// The ranks of MPI_COMM_WORLD. If the program has not initialised MPI, this object does so, and
/// finalises it at the end.
class Network {
 public:
  /// Parcels are sent in pieces of at most this many bytes, because MPI counts with int.
  explicit Network(std::size_t piece = std::size_t{1} << 30U);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  [[nodiscard]] std::uint32_t rank() const;
  [[nodiscard]] std::uint32_t ranks() const;
  [[nodiscard]] bool joined() const;
  protocol::Ballot vote(const protocol::Ballot& mine);
  template <protocol::TakesParcel Arrival>
  void exchange(std::vector<protocol::Bytes> parcels, Arrival&& arrival) {
    std::vector<protocol::Bytes> arrived = trade(std::move(parcels));
    for (std::uint32_t i = 0; i < arrived.size(); ++i) arrival(i, std::move(arrived[i]));
    reuse(std::move(arrived));
  }
  /// Starts more ranks with this program's command line. Only possible if the MPI supports it and
  /// the job has begun as one rank: ranks started by one mpirun can only end together.
  std::uint32_t grow(std::uint32_t more);
  void shrink(const std::vector<std::uint8_t>& stays);

  /// Ends the processes of all ranks at once, after an error of which the other ranks cannot know.
  [[noreturn]] void abort(int status);

 private:
  struct Impl;

  std::vector<protocol::Bytes> trade(std::vector<protocol::Bytes> parcels);
  /// Takes back the memory of parcels that have been read, for parcels to come.
  void reuse(std::vector<protocol::Bytes> parcels);

  std::unique_ptr<Impl> impl_;
};

static_assert(protocol::Network<Network>);

/// Runs kernels on all ranks, each on its local engine:
///
///     cohort::cpu::Engine local;
///     cohort::mpi::Engine engine{local};
///     auto job = engine.launch(Kernel{...}, {.shards = 1024});
///     const auto report = job->run([](const Owners& owners) { return parts; });
template <class Local>
class Engine {
 public:
  explicit Engine(Local& local) : local_(local) {}

  template <class Kernel>
  std::unique_ptr<RankJob<Network, Local, Kernel>> launch(Kernel kernel, RankOptions options = {}) {
    return std::make_unique<RankJob<Network, Local, Kernel>>(network_, local_, std::move(kernel),
                                                             std::move(options));
  }
  [[nodiscard]] Network& network() { return network_; }

 private:
  Local& local_;
  Network network_;
};

}  // namespace cohort::mpi
