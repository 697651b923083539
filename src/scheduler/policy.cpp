#include "scheduler/policy.hpp"

#include <algorithm>

namespace cohort::scheduler {
namespace {

/// The least a job can start or go on with.
std::uint32_t least(const Claim& claim) {
  return claim.rigid ? claim.max_groups : std::min(claim.max_groups, 1U);
}

/// Whether one more unit should go to `a` rather than to `b`: the lower share for its weight, the
/// earlier launch.
bool poorer(std::uint32_t share_a, const Claim& a, std::uint32_t share_b, const Claim& b) {
  return std::uint64_t{share_a} * b.weight < std::uint64_t{share_b} * a.weight;
}

}  // namespace

std::vector<std::uint32_t> share_out(std::uint32_t capacity, std::span<const Claim> claims) {
  std::vector<std::uint32_t> shares(claims.size(), 0);
  std::uint32_t left = capacity;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i].running) continue;
    shares[i] = std::min(least(claims[i]), left);
    left -= shares[i];
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].running) continue;
    if (least(claims[i]) > left) break;  // nobody overtakes a job that waits for room
    shares[i] = least(claims[i]);
    left -= shares[i];
  }
  while (left > 0) {
    std::size_t poorest = claims.size();
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (shares[i] == 0 || shares[i] >= claims[i].max_groups) continue;
      if (poorest == claims.size() ||
          poorer(shares[i], claims[i], shares[poorest], claims[poorest]))
        poorest = i;
    }
    if (poorest == claims.size()) break;
    ++shares[poorest];
    --left;
  }
  return shares;
}

}  // namespace cohort::scheduler
