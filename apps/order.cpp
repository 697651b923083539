#include "apps/order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cohort::apps {
namespace {

/// First output of SplitMix64 with this seed.
std::uint64_t first_splitmix(std::uint64_t seed) {
  std::uint64_t bits = seed;
  bits += 11400714819323198485ULL;
  bits ^= bits >> 30U;
  bits *= 13787848793156543929ULL;
  bits ^= bits >> 27U;
  bits *= 10723151780598845931ULL;
  return bits ^ bits >> 31U;
}

}  // namespace

std::vector<Node> ascending(Node num_nodes, bool hashed) {
  std::vector<std::pair<std::uint64_t, Node>> keys(num_nodes);
  for (Node node = 0; node < num_nodes; ++node)
    keys[node] = {hashed ? first_splitmix(node) : node, node};
  std::sort(keys.begin(), keys.end());
  std::vector<Node> order;
  order.reserve(num_nodes);
  for (const auto& [key, node] : keys) order.push_back(node);
  return order;
}

}  // namespace cohort::apps
