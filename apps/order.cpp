#include "apps/order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

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

/// The last steps of MurmurHash3 for 32 bits.
std::uint32_t murmur(std::uint32_t key) {
  for (const std::uint32_t factor : {0x85ebca6bU, 0xc2b2ae35U}) {
    key ^= key >> (factor == 0x85ebca6bU ? 16 : 13);
    key *= factor;
  }
  return key ^ key >> 16;
}

}  // namespace

std::vector<Node> ascending(const Csr& graph, Priority priority) {
  using Key = std::tuple<std::uint64_t, std::uint64_t, Node>;
  std::vector<Key> keys;
  for (Node node = 0; node < graph.num_nodes(); ++node) {
    const std::uint64_t degree = graph.offsets[node + 1] - graph.offsets[node];
    switch (priority) {
      case Priority::hashed: keys.emplace_back(0, first_splitmix(node), node); break;
      case Priority::id: keys.emplace_back(0, 0, node); break;
      case Priority::degree: keys.emplace_back(degree, murmur(node), node); break;
    }
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Node> order;
  order.reserve(keys.size());
  for (const Key& key : keys) order.push_back(std::get<Node>(key));
  return order;
}

}  // namespace cohort::apps
