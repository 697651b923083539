#include "bench/cuda/pairs.hpp"

#include <algorithm>

namespace cohort::bench {

std::vector<Variant> cuda_variants(bool quick, std::string_view only, bool chunked) {
  std::vector<Pair> pairs = paper_pairs(quick, "").runnable;
  const auto road = std::ranges::find_if(pairs, [](const Pair& pair) {
    // P-sssp runs on the same graph, so its input is found or replaced in the same way.
    return pair.app == "p-sssp";
  });
  Pair components = *road;
  components.app = "cc";
  pairs.push_back(std::move(components));
  Pair tree = *std::ranges::find(pairs, "octree", &Pair::app);
  tree.chunked = true;
  pairs.push_back(std::move(tree));
  for (Pair& pair : pairs) {
    if (pair.input == "rmat:22") pair.input = "rmat:20";
    if (pair.app == "game" && !quick) pair.input = "connect4:9";
  }
  std::erase_if(pairs,
                [only](const Pair& pair) { return pair.name().find(only) == std::string::npos; });
  std::vector<Variant> variants = variants_of(pairs, chunked);
  std::erase_if(variants, [](const Variant& variant) { return variant.algorithm == "paper"; });
  if (variants.empty()) no_such_pair(only);
  return variants;
}

}  // namespace cohort::bench
