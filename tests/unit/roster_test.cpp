// The packed word of the protocol: the effect of each addition.
#include "cohort/protocol/roster.hpp"

#include <gtest/gtest.h>

#include "cohort/job.hpp"
#include "cohort/platform/cpu.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::protocol {
namespace {

constexpr std::uint32_t sizes[] = {1, 2, 3, 5, 16, 1000, Roster::max_groups};

/// A roster of `active` groups at generation `gen`.
constexpr Roster at(std::uint32_t gen, std::uint32_t active) {
  return Roster{(std::uint64_t{gen} << Roster::gen_shift) | active};
}

TEST(Roster, FieldsDoNotOverlap) {
  const std::uint64_t kinds = std::uint64_t{3} << Roster::kind_shift;
  const std::uint64_t arrivals = std::uint64_t{Roster::wrap - 1} << Roster::arrived_shift;
  const std::uint64_t gens = std::uint64_t{Roster::gen_mask} << Roster::gen_shift;
  std::uint64_t all = 0;
  for (const std::uint64_t field :
       {Roster::active_mask, Roster::gather, Roster::drain, Roster::fault, kinds, arrivals, gens}) {
    EXPECT_EQ(all & field, 0U);
    all |= field;
  }
  EXPECT_EQ(all, ~std::uint64_t{0});
}

TEST(Roster, HasRoomForTheMostGroups) {
  EXPECT_EQ(Roster::max_groups, max_groups_limit);
  EXPECT_LE(Roster::max_groups, Roster::active_mask);
  EXPECT_EQ(at(7, Roster::max_groups).active(), Roster::max_groups);
  EXPECT_EQ(at(7, Roster::max_groups).gen(), 7U);
  // An unbiased count never looks biased, nor does a biased one look unbiased.
  EXPECT_LE(Roster::max_groups, Roster::wrap / 2);
  EXPECT_GT(Roster::wrap - Roster::max_groups, Roster::wrap / 2);
}

TEST(Roster, FlagsAreTheirOwn) {
  const Roster plain = at(3, 5);
  EXPECT_FALSE(plain.gathering() || plain.draining() || plain.faulted());
  EXPECT_TRUE(Roster{plain.word | Roster::gather}.gathering());
  EXPECT_TRUE(Roster{plain.word | Roster::drain}.draining());
  EXPECT_TRUE(Roster{plain.word | Roster::fault}.faulted());
  const Roster full{plain.word | Roster::gather | Roster::drain | Roster::fault};
  EXPECT_EQ(full.active(), 5U);
  EXPECT_EQ(full.gen(), 3U);
  EXPECT_EQ(full.arrived(), 0U);
}

TEST(SelfFlip, TheLastArrivalAdvancesTheGenerationWhereverGroupZeroStandsInTheRow) {
  for (const std::uint32_t active : sizes) {
    for (const std::uint32_t position : {0U, active / 2, active - 1}) {
      Roster roster = at(41, active);
      for (std::uint32_t i = 0; i < active; ++i) {
        EXPECT_EQ(roster.gen(), 41U);
        roster.word += i == position ? Roster::self_flip(active) : Roster::one_arrival;
        EXPECT_EQ(roster.active(), active);
      }
      EXPECT_EQ(roster.word, at(42, active).word) << active << " groups, group 0 as " << position;
    }
  }
}

TEST(SelfFlip, LooksBiasedFromGroupZerosArrivalToTheFlip) {
  for (const std::uint32_t active : sizes) {
    Roster roster = at(1, active);
    for (std::uint32_t i = 1; i < active; ++i) {
      EXPECT_FALSE(roster.biased());
      roster.word += Roster::one_arrival;
    }
    EXPECT_FALSE(roster.biased());
    // Group 0 arrives last: its arrival flips the generation at once.
    roster.word += Roster::self_flip(active);
    EXPECT_FALSE(roster.biased());
    EXPECT_EQ(roster.gen(), 2U);
    if (active == 1) continue;
    roster.word += Roster::self_flip(active);  // group 0 arrives first
    EXPECT_TRUE(roster.biased());
    for (std::uint32_t i = 2; i < active; ++i) {
      roster.word += Roster::one_arrival;
      EXPECT_TRUE(roster.biased());
    }
  }
}

TEST(SelfFlip, AVetoTakesTheBiasOutAndLeavesTheCount) {
  for (const std::uint32_t active : sizes) {
    if (active == 1) continue;
    for (const std::uint32_t before :
         {0U, (active - 1) / 2, active - 2}) {  // number of arrivals before the veto
      Roster roster = at(9, active);
      roster.word += Roster::self_flip(active);
      for (std::uint32_t i = 0; i < before; ++i) roster.word += Roster::one_arrival;
      ASSERT_TRUE(roster.biased());
      roster.word += Roster::one_arrival;
      roster.word -= Roster::bias(active);
      EXPECT_FALSE(roster.biased());
      EXPECT_EQ(roster.gen(), 9U);
      EXPECT_EQ(roster.arrived(), before + 2);
      EXPECT_EQ(roster.active(), active);
      for (std::uint32_t i = before + 2; i < active; ++i) roster.word += Roster::one_arrival;
      EXPECT_EQ(roster.gen(), 9U) << "flipped in spite of the veto";
      EXPECT_EQ(roster.arrived(), active);
    }
  }
}

TEST(SelfFlip, LeavesFlagsAndKindsAlone) {
  constexpr std::uint64_t rest =
      Roster::fault | Roster::gather | (std::uint64_t{3} << Roster::kind_shift);
  for (const std::uint32_t active : sizes) {
    Roster roster{at(0, active).word | rest};
    roster.word += Roster::self_flip(active);
    for (std::uint32_t i = 1; i < active; ++i) roster.word += Roster::one_arrival;
    EXPECT_EQ(roster.word, at(1, active).word | rest);
  }
}

TEST(Generation, WrapsAround) {
  constexpr std::uint32_t last = Roster::gen_mask;
  EXPECT_EQ(at(last, 4).released(4).word, at(0, 4).word);
  Roster roster = at(last, 4);
  roster.word += Roster::self_flip(4);
  for (int i = 0; i < 3; ++i) roster.word += Roster::one_arrival;
  EXPECT_EQ(roster.word, at(0, 4).word);
  // Uses of the generation modulo 2 or 4 continue correctly through the wrap.
  EXPECT_EQ((last + 1) % 4, 0U);
}

TEST(Released, ZeroesTheCountSetsMAndKeepsTheRest) {
  constexpr std::uint64_t rest = Roster::fault | (std::uint64_t{2} << Roster::kind_shift);
  for (const std::uint32_t active : sizes) {
    const Roster full{(at(5, active).word | rest) + active * Roster::one_arrival};
    ASSERT_EQ(full.arrived(), active);
    for (const std::uint32_t next : {0U, 1U, active, Roster::max_groups}) {
      EXPECT_EQ(full.released(next).word, at(6, next).word | rest);
      // The same if the releaser adds the difference, and FAULT has been raised meanwhile.
      const Roster calm{full.word & ~Roster::fault};
      EXPECT_EQ(full.word + (calm.released(next).word - calm.word), at(6, next).word | rest);
    }
  }
}

TEST(Kinds, HaveOneBitForEachParityOfTheGeneration) {
  for (const std::uint32_t gen : {0U, 1U, 6U, 7U, Roster::gen_mask}) {
    const Roster none = at(gen, 2);
    EXPECT_EQ(none.kind(gen), Kind::plain);
    EXPECT_EQ(none.kind(gen + 1), Kind::plain);
    const Roster announced{none.word + (std::uint64_t{1} << (Roster::kind_shift + (gen & 1U)))};
    EXPECT_EQ(announced.kind(gen), Kind::resizing);
    EXPECT_EQ(announced.kind(gen + 1), Kind::plain);
    EXPECT_EQ(announced.active(), 2U);
    EXPECT_EQ(announced.arrived(), 0U);
  }
}

TEST(Draining, CountsTheGroupsThatHaveReturned) {
  const Roster three = at(8, 3);
  EXPECT_EQ(three.live(), 3U);
  EXPECT_FALSE(three.finished());
  Roster roster{(three.word | Roster::drain) + Roster::one_arrival};
  EXPECT_EQ(roster.live(), 2U);
  EXPECT_FALSE(roster.finished());
  roster = roster.with_active(2);  // one leaves
  EXPECT_EQ(roster.live(), 1U);
  EXPECT_FALSE(roster.finished());
  roster.word += Roster::one_arrival;
  EXPECT_EQ(roster.live(), 0U);
  EXPECT_TRUE(roster.finished());
  EXPECT_FALSE(at(8, 0).finished()) << "no group active is not the same as all returned";
}

TEST(Fault, TheFirstOneWinsWithItsGroupAndItsBarrier) {
  Shared<cpu::Platform> shared;
  raise(shared, FaultRecord{Fault::divergent_barrier, 4095, Roster::gen_mask});
  raise(shared, FaultRecord{Fault::cancelled, 7, 3});
  const FaultRecord record{shared.fault.load(Order::relaxed)};
  EXPECT_EQ(record.fault(), Fault::divergent_barrier);
  EXPECT_EQ(record.group(), 4095U);
  EXPECT_EQ(record.gen(), Roster::gen_mask);
  EXPECT_TRUE(shared.look().faulted());
  EXPECT_EQ(FaultRecord{Fault::cancelled}.group(), no_id) << "the host is no group";
}

}  // namespace
}  // namespace cohort::protocol
