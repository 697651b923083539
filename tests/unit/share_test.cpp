// How the items of a step are divided among groups: in portions if few groups are left, and so that
// no group waits for one that has all the edges.
#include "apps/share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "apps/worklist.hpp"

namespace cohort::apps {
namespace {

/// The part of a Group that portion() uses.
struct FewGroups {
  std::uint32_t groups;
  [[nodiscard]] std::uint32_t num_groups() const { return groups; }
  [[nodiscard]] static std::uint32_t max_groups() { return 64; }
  [[nodiscard]] static std::uint32_t local_size() { return 1; }
  [[nodiscard]] static bool alone() { return true; }
};

TEST(Portions, AreWholeWhileLittleIsLentAndAsLongAsEverWhenMuchIs) {
  constexpr std::size_t count = 6'400'000;
  for (const std::uint32_t groups : {64U, 63U, 32U, 16U})
    EXPECT_TRUE(portion(FewGroups{groups}, 0, count, even_chunk).last) << groups;
  std::uint32_t steps = 0;
  for (std::size_t at = 0; at < count; ++steps) {
    const Portion now = portion(FewGroups{1}, at, count, even_chunk);
    EXPECT_EQ(now.begin, at);
    EXPECT_LE(now.end - now.begin, count / 64);
    at = now.end;
  }
  EXPECT_EQ(steps, 64U);
  EXPECT_TRUE(portion(FewGroups{1}, 0, 4096, even_chunk).last);  // the rest is not worth a barrier
  EXPECT_TRUE(portion(FewGroups{1}, 0, count, 0).last);
}

TEST(Portions, AreShorterWhereItemsAreMoreWork) {
  const Portion now = portion(FewGroups{1}, 0, 4096, even_chunk, 16);
  EXPECT_EQ(now.end, 256U);
  EXPECT_FALSE(now.last);
  EXPECT_EQ(portion(FewGroups{1}, 0, 4096, even_chunk, 8192).end, 64U) << "as among all groups";
  EXPECT_EQ(portion(FewGroups{1}, 0, 32, even_chunk, 8192).end, 1U) << "one at least";
}

/// The same for groups of many threads.
struct FewLargeGroups : FewGroups {
  [[nodiscard]] static std::uint32_t local_size() { return 256; }
  [[nodiscard]] static bool alone() { return false; }
};

TEST(Portions, OfLargeGroupsAreAFewNodesForEachThreadAtLeast) {
  const FewLargeGroups one{{1}};
  EXPECT_TRUE(portion(one, 0, 1024, even_chunk).last);
  EXPECT_EQ(portion(one, 0, 1025, even_chunk).end, 1024U);
  EXPECT_EQ(portion(one, 0, 1025, even_chunk, 16).end, 64U);
  EXPECT_EQ(portion(one, 0, 128'000, even_chunk).end, 2000U) << "as among all groups";
}

/// The part of a Group that for_edges() uses.
struct OneOfLargeGroups {
  std::uint32_t id;
  std::uint32_t groups;
  [[nodiscard]] std::uint32_t group_id() const { return id; }
  [[nodiscard]] std::uint32_t num_groups() const { return groups; }
  [[nodiscard]] static std::uint32_t local_size() { return 32; }
  template <class T>
  [[nodiscard]] static auto atomic(T& value) {
    return std::atomic_ref{value};
  }
  [[nodiscard]] static bool alone() { return false; }
};

TEST(Worklists, DealOutEveryPartOfEveryNodeOnceAndEvenly) {
  for (const std::uint32_t groups : {1U, 2U, 3U, 7U, 132U}) {
    for (const Node nodes : {0U, 1U, 2U, 3U, 6U, 7U, 65U, 66U, 67U, 131U, 132U, 133U, 9001U}) {
      std::vector<Node> spill(nodes);
      std::iota(spill.begin(), spill.end(), 0U);
      const Worklist list{nullptr, spill.data(), nullptr, 0, 0};
      const Node begin = nodes / 3;  // all items before this one have been visited
      std::map<Node, std::multiset<std::uint32_t>> visited;
      std::vector<std::size_t> by_group(groups);
      std::uint32_t parts = 1;
      for (std::uint32_t id = 0; id < groups; ++id) {
        list.for_edges(OneOfLargeGroups{id, groups}, begin, nodes,
                       [&]([[maybe_unused]] const Node* at, std::size_t count, auto... part) {
                         for (std::size_t i = 0; i < count; ++i) {
                           (visited[at[i * part.stride]].insert(part.index), ...);
                           ((parts = part.count), ...);
                           ++by_group[id];
                         }
                       });
      }
      EXPECT_EQ(visited.size(), nodes - begin) << groups;
      std::multiset<std::uint32_t> all;
      for (std::uint32_t i = 0; i < parts; ++i) all.insert(i);
      for (const auto& [node, its] : visited)
        EXPECT_EQ(its, all) << "node " << node << " of " << nodes << ", " << groups << " groups";
      const auto [least, most] = std::minmax_element(by_group.begin(), by_group.end());
      EXPECT_LE(*most - *least, 1U) << nodes << " nodes, " << groups << " groups";
    }
  }
}

}  // namespace
}  // namespace cohort::apps
