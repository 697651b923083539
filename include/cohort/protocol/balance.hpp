// Assigns shards of different weights to ranks at the start. Shards with hubs weigh more.
// Invariant: as in placement.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cohort/protocol/placement.hpp"

namespace cohort::protocol {

/// The weight of the heaviest rank, divided by the average.
inline double imbalance(const std::vector<std::uint64_t>& weights, const Owners& owners,
                        std::uint32_t ranks) {
  std::vector<std::uint64_t> of(ranks, 0);
  for (std::size_t shard = 0; shard < owners.size(); ++shard) of[owners[shard]] += weights[shard];
  const std::uint64_t all = std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  if (all == 0) return 1;
  return static_cast<double>(*std::max_element(of.begin(), of.end())) * ranks /
         static_cast<double>(all);
}

/// The same as first_owners(), unless a rank would then have over a tenth more than the average. In
/// that case, shards are dealt out by falling weight to the ranks in turn, forwards and backwards.
/// Neighbouring shards are then on different ranks, but all ranks have about the same weight.
inline Owners balanced_owners(const std::vector<std::uint64_t>& weights, std::uint32_t ranks) {
  constexpr double enough = 1.1;
  const auto shards = static_cast<std::uint32_t>(weights.size());
  Owners neighbours = first_owners(shards, ranks);
  const double before = imbalance(weights, neighbours, ranks);
  if (before <= enough) return neighbours;
  std::vector<std::uint32_t> order(shards);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return weights[a] > weights[b]; });
  Owners dealt(shards);
  for (std::uint32_t i = 0; i < shards; ++i) {
    const std::uint32_t at = i % ranks;
    dealt[order[i]] = i / ranks % 2 == 0 ? at : ranks - 1 - at;
  }
  return imbalance(weights, dealt, ranks) < before ? dealt : neighbours;
}

}  // namespace cohort::protocol
