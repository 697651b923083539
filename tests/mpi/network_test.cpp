// Compares mpi::Network with its specification: votes, parcels cut into small pieces, ranks that
// leave. Started by mpiexec on three ranks; the exit status is the number of mistakes.
#include <iostream>
#include <vector>

#include "cohort/mpi.hpp"

namespace {

using cohort::mpi::Network;
using cohort::protocol::Bytes;

int mistakes = 0;
void expect(bool right, const char* what, const Network& network) {
  if (right) return;
  ++mistakes;
  std::cerr << "rank " << network.rank() << ": " << what << std::endl;
}

std::size_t size_of(std::uint32_t from, std::uint32_t to, std::uint32_t round) {
  return (from * 31 + to * 17 + round * 7) % 5 == 0 ? 0 : from * 100 + to * 10 + round * 37;
}
std::byte content_of(std::uint32_t from, std::uint32_t to, std::size_t at) {
  return static_cast<std::byte>(from * 7 + to * 13 + at);
}

void check_exchange(Network& network, std::uint32_t round) {
  std::vector<Bytes> parcels(network.ranks());
  for (std::uint32_t to = 0; to < network.ranks(); ++to) {
    parcels[to].resize(size_of(network.rank(), to, round));
    for (std::size_t i = 0; i < parcels[to].size(); ++i)
      parcels[to][i] = content_of(network.rank(), to, i);
  }
  std::uint32_t arrived = 0;
  network.exchange(std::move(parcels), [&](std::uint32_t from, const Bytes& parcel) {
    ++arrived;
    expect(parcel.size() == size_of(from, network.rank(), round), "a parcel of a wrong size",
           network);
    for (std::size_t i = 0; i < parcel.size(); ++i) {
      if (parcel[i] == content_of(from, network.rank(), i)) continue;
      return expect(false, "a parcel with wrong contents", network);
    }
  });
  expect(arrived == network.ranks(), "a parcel is missing", network);
}

void check_vote(Network& network) {
  const std::uint32_t ranks = network.ranks();
  const auto all = network.vote({.more = 1, .least = 10 + network.rank(), .sum = 0.5});
  expect(all.more == ranks && all.least == 10 && all.sum == 0.5 * ranks, "a wrong vote", network);
}

}  // namespace

int main() {
  Network network{7};  // size of a piece in bytes
  const bool stays = network.rank() != 1;
  expect(network.ranks() == 3, "it needs three ranks", network);
  for (std::uint32_t round = 0; round < 20; ++round) {
    check_vote(network);
    check_exchange(network, round);
  }
  const std::uint32_t rank = network.rank();
  network.shrink({1, 0, 1});
  if (!stays) return mistakes;
  expect(network.ranks() == 2 && network.rank() == rank / 2, "wrong ranks after a leave", network);
  for (std::uint32_t round = 0; round < 20; ++round) {
    check_vote(network);
    check_exchange(network, round);
  }
  return mistakes;
}
