// Decides which rank has which shard, by pure functions, so that all ranks compute the same answer
// by themselves. Invariant: every shard has one owner, and the numbers of shards of two ranks
// differ by at most one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace cohort::protocol {

/// Index: shard; value: its rank.
using Owners = std::vector<std::uint32_t>;

/// The owners at the start: neighbouring shards share a rank.
inline Owners first_owners(std::uint32_t shards, std::uint32_t ranks) {
  Owners owners(shards);
  for (std::uint32_t i = 0; i < shards; ++i)
    owners[i] = static_cast<std::uint32_t>(std::uint64_t{i} * ranks / shards);
  return owners;
}

/// The owners after the ranks without `stays` have left. As few shards as possible move.
inline Owners next_owners(Owners owners, const std::vector<std::uint8_t>& stays) {
  const std::size_t ranks = stays.size();
  std::vector<std::uint32_t> has(ranks, 0);
  for (const std::uint32_t owner : owners) ++has[owner];
  std::vector<std::uint32_t> staying;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    if (stays[i] != 0) staying.push_back(i);
  }
  // If the division has a remainder, the ranks that have the most shards already get one more.
  std::stable_sort(staying.begin(), staying.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return has[a] > has[b]; });
  std::vector<std::uint32_t> room(ranks, 0);
  for (std::size_t i = 0; i < staying.size(); ++i) {
    room[staying[i]] = static_cast<std::uint32_t>(owners.size() / staying.size() +
                                                  (i < owners.size() % staying.size() ? 1 : 0));
  }
  std::vector<std::size_t> moving;
  for (std::size_t shard = 0; shard < owners.size(); ++shard) {
    std::uint32_t& left = room[owners[shard]];
    if (left == 0) {
      moving.push_back(shard);
    } else {
      --left;
    }
  }
  std::uint32_t to = 0;
  for (const std::size_t shard : moving) {
    while (room[to] == 0) ++to;
    owners[shard] = to;
    --room[to];
  }
  return owners;
}

/// The new ids of the ranks with `stays`, indexed by old id.
inline std::vector<std::uint32_t> next_ids(const std::vector<std::uint8_t>& stays) {
  std::vector<std::uint32_t> ids(stays.size());
  std::exclusive_scan(stays.begin(), stays.end(), ids.begin(), 0U);
  return ids;
}

}  // namespace cohort::protocol
