// Inputs that stay: loaded once while somebody keeps them, the least recently used gone first; and
// what is known of a graph, found once.
#include "apps/kept.hpp"

#include <gmock/gmock.h>

#include "apps/known_graph.hpp"
#include "graph/build.hpp"

namespace cohort::apps {
namespace {

/// Loads `key`, and counts how often that took a load.
struct Loads {
  int count = 0;

  std::shared_ptr<const int> operator()(const std::string& key) {
    return kept<int>(key, [this] { return ++count; });
  }
};

TEST(KeepInput, LoadsAnInputOnceWhileThereIsAKeeper) {
  Loads load;
  EXPECT_NE(load("a"), load("a"));
  EXPECT_EQ(load.count, 2);
  {
    const KeepInput keep;
    const auto first = load("a");
    EXPECT_EQ(load("a"), first);
    const KeepInput another;
    EXPECT_EQ(load("a"), first);
    EXPECT_EQ(load.count, 3);
  }
  EXPECT_NE(load("a"), load("a"));
  EXPECT_EQ(load.count, 5);
}

TEST(KeepInput, DropsWhatWasUsedLongestAgo) {
  const KeepInput keep{2};
  Loads load;
  load("a");
  load("b");
  load("a");
  load("c");  // in the place of b
  load("a");
  EXPECT_EQ(load.count, 3);
  load("b");
  EXPECT_EQ(load.count, 4);
}

TEST(KeepInput, KeepsWhatIsOfAnotherTypeApart) {
  const KeepInput keep{2};
  EXPECT_EQ(*kept<int>("a", [] { return 1; }), 1);
  EXPECT_EQ(*kept<std::string>("a", [] { return "one"; }), "one");
}

TEST(KeepInput, AfterAnErrorTheNextLoadMaySucceed) {
  const KeepInput keep;
  EXPECT_THROW((void)kept<int>("a", []() -> int { throw std::runtime_error{"no"}; }),
               std::runtime_error);
  EXPECT_EQ(*kept<int>("a", [] { return 7; }), 7);
}

int asked = 0;
Node ask(const Csr& graph) {
  ++asked;
  return hub(graph);
}

TEST(KnownGraph, FindsAFactOnce) {
  const auto star = known_graph("star:9");
  EXPECT_EQ(star->get(&ask), 0U);
  EXPECT_EQ(star->get(&ask), 0U);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(&star->get(&transpose), &star->get(&transpose));
  EXPECT_TRUE(star->get(&is_symmetric));
}

TEST(KnownGraph, HasTheEdgesThatAreWanted) {
  EXPECT_TRUE(known_graph("grid:3x2")->csr().weights.empty());
  EXPECT_FALSE(known_graph("grid:3x2", Edges::weighted)->csr().weights.empty());
  EXPECT_TRUE(is_symmetric(known_graph("rmat:5", Edges::undirected)->csr()));
}

}  // namespace
}  // namespace cohort::apps
