// Allocation of memory through an engine, and atomic access to it from kernels.
#include "cohort/buffer.hpp"

#include <gmock/gmock.h>

#include "cohort/cpu.hpp"

namespace cohort {
namespace {

using testing::ElementsAre;

TEST(Buffer, IsFilledUploadedWrittenAndRead) {
  cpu::Engine engine{{.capacity = 1}};
  const auto sevens = engine.fill<std::uint32_t>(5, 7);
  EXPECT_THAT(sevens.read(), ElementsAre(7, 7, 7, 7, 7));
  const auto some = engine.upload(std::vector<std::uint16_t>{1, 2, 3});
  some.write(std::vector<std::uint16_t>{9, 8});
  EXPECT_THAT(some.read(), ElementsAre(9, 8, 3));
  some.write(std::vector<std::uint16_t>{7}, 2);
  EXPECT_THAT(some.read(), ElementsAre(9, 8, 7));
  EXPECT_EQ(engine.allocate<std::uint32_t>(5).read().size(), 5U);
}

TEST(Buffer, MayBeEmptyAndMoved) {
  cpu::Engine engine{{.capacity = 1}};
  auto none = engine.fill<std::uint64_t>(0, 1);
  EXPECT_THAT(none.read(), ElementsAre());
  auto one = engine.fill<std::uint64_t>(1, 3);
  none = std::move(one);
  EXPECT_THAT(none.read(), ElementsAre(3));
}

TEST(Buffer, OutlivesItsEngine) {
  Buffer<int> kept;
  {
    cpu::Engine engine{{.capacity = 1}};
    kept = engine.fill<int>(2, 4);
  }
  EXPECT_THAT(kept.read(), ElementsAre(4, 4));
}

TEST(Buffer, ThatDoesNotFitIsRefused) {
  cpu::Engine engine{{.capacity = 1}};
  const auto refuses = [&engine]<class T>(std::size_t count, T value) {
    try {
      static_cast<void>(engine.fill<T>(count, value));
    } catch (const Error& error) {
      return error.code() == Errc::out_of_memory;
    }
    return false;
  };
  EXPECT_TRUE(refuses(std::size_t{1} << 60U, char{0})) << "an exabyte was allocated";
  EXPECT_TRUE(refuses((std::size_t{1} << 61U) + 1, std::uint64_t{0})) << "2^64 + 8 bytes are not 8";
  EXPECT_TRUE(refuses(SIZE_MAX - 10, char{0})) << "rounded up to pages, it is nothing";
}

/// Every thread takes part in each atomic operation.
struct Tally {
  std::uint32_t* words;

  template <class Group>
  COHORT_FN void run(Group group, Nothing) const {
    const auto rank = static_cast<std::uint32_t>(group.global_id());
    group.atomic(words[0]).fetch_add(1);
    group.atomic(words[1]).fetch_min(rank + 1);
    group.atomic(words[2]).fetch_max(rank + 1);
    group.atomic(words[3]).fetch_or(1U << rank);
    group.atomic(words[4]).fetch_and(~(1U << rank));
    std::uint32_t seen = group.atomic(words[5]).load(Order::acquire);
    while (!group.atomic(words[5]).compare_exchange(seen, seen + 2, Order::acq_rel)) {
    }
    group.view(words)[8 + rank] = rank;
  }
};

TEST(Atomic, CombinesWhatAllThreadsDo) {
  cpu::Engine engine{{.capacity = 2}};
  auto words = engine.upload(std::vector<std::uint32_t>{0, 99, 0, 0, ~0U, 0, 0, 0, 9, 9, 9, 9});
  const Job job =
      engine.launch(Tally{words.data()}, {.max_groups = 2, .local_size = 2, .resizable = false});
  job.wait();
  EXPECT_THAT(words.read(), ElementsAre(4, 1, 4, 15, ~15U, 8, 0, 0, 0, 1, 2, 3));
}

}  // namespace
}  // namespace cohort
