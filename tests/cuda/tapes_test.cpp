// Checks how a tracer receives what groups wrote on their tapes. Runs on the host only.
#include "cuda/tapes.hpp"

#include <gmock/gmock.h>

#include <map>
#include <vector>

namespace cohort::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Keeps the events as text, one list per lane.
class Listener final : public Tracer {
 public:
  void record(const TraceEvent& event) noexcept override {
    constexpr const char* names[] = {"start",  "join", "offer", "kill",   "fork", "arrive",
                                     "resize", "pass", "shed",  "finish", "fault"};
    lanes[event.unit].push_back(std::string{names[static_cast<std::size_t>(event.what)]} + " " +
                                std::to_string(event.group) + " " + std::to_string(event.value) +
                                " @" + std::to_string(event.nanoseconds));
  }
  void clock(std::int64_t by) noexcept override { ahead = by; }
  std::map<std::uint32_t, std::vector<std::string>> lanes;
  std::int64_t ahead = 0;
};

/// Tapes with the contents that a device would have written.
struct Written : Recording {
  explicit Written(std::size_t lanes) {
    heads.resize(lanes);
    stays.resize(lanes * tape_stays);
    arrivals.resize(lanes * tape_arrivals);
  }
  void note(std::size_t lane, Trace what, std::uint64_t time, std::uint32_t group) {
    stays[lane * tape_stays + heads[lane].stays++] = event(what, time, group, 0);
  }
  void arrive(std::size_t lane, std::uint64_t time, std::uint32_t group, std::uint32_t gen) {
    arrivals[lane * tape_arrivals + heads[lane].arrivals++ % tape_arrivals] =
        event(Trace::arrive, time, group, gen);
  }
  void offer(std::size_t lane, std::uint64_t time, std::uint32_t group) {
    arrivals[lane * tape_arrivals + heads[lane].arrivals++ % tape_arrivals] =
        event(Trace::offer, time, group, 0);
  }
  static TapeEvent event(Trace what, std::uint64_t time, std::uint32_t group, std::uint32_t value) {
    return {time, value, static_cast<std::uint32_t>(what) << 26U | group << 13U | 2U};
  }
  [[nodiscard]] Listener played(std::int64_t ahead = 0) const {
    Listener listener;
    play(*this, ahead, listener);
    return listener;
  }
};

TEST(Tapes, StaysAreToldInTheirOrderByTheHostsClock) {
  Written tape{2};
  tape.note(1, Trace::start, 10, 5);
  tape.note(1, Trace::kill, 20, 5);
  tape.note(1, Trace::join, 30, 4);
  EXPECT_THAT(tape.played(1000).lanes[1],
              ElementsAre("start 5 0 @1010", "kill 5 0 @1020", "join 4 0 @1030"));
  EXPECT_EQ(tape.played(1000).ahead, 1000);
  EXPECT_THAT(tape.played().lanes[0], IsEmpty());
}

TEST(Tapes, TheClocksAreComparedByWhatWasHeardOfSoonest) {
  Written tape{2};
  tape.note(0, Trace::start, 1, 0);  // starts and resizes are not reported to the host
  tape.note(1, Trace::start, 2, 1);
  tape.note(0, Trace::resize, 5, 0);
  tape.note(0, Trace::kill, 10, 0);
  tape.note(1, Trace::kill, 12, 1);
  tape.note(1, Trace::join, 13, 1);
  tape.note(1, Trace::kill, 20, 1);
  tape.note(0, Trace::join, 25, 0);
  tape.note(0, Trace::finish, 40, 0);
  // The host may have heard of the departure at 12 before the one at 10. Their order does not
  // matter.
  EXPECT_EQ(ahead_of(tape, {1019, 1019, 1023, 1060}), 1003);
}

TEST(Tapes, TheClocksAreComparedOnlyWhileNothingIsLost) {
  Written tape{2};
  for (std::uint32_t i = 0; i < tape_stays; ++i) tape.note(0, Trace::kill, i, 0);
  tape.heads[0].stays += 1;  // of an event at time 300
  tape.note(1, Trace::finish, 500, 1);
  std::vector<std::uint64_t> heard;
  for (std::uint32_t i = 0; i < tape_stays; ++i) heard.push_back(100 + i);
  heard.push_back(400);  // without the counted event, this would be matched with the event at 500
  heard.push_back(600);
  EXPECT_EQ(ahead_of(tape, heard), 100);
}

TEST(Tapes, OffersAreToldAmongTheStays) {
  Written tape{1};
  tape.note(0, Trace::start, 1, 0);
  tape.offer(0, 10, 0);
  tape.offer(0, 20, 0);
  tape.note(0, Trace::kill, 21, 0);
  EXPECT_THAT(tape.played().lanes[0],
              ElementsAre("start 0 0 @1", "offer 0 0 @10", "offer 0 0 @20", "kill 0 0 @21"));
}

TEST(Tapes, ABarrierIsPassedWhenTheLastOneArrives) {
  Written tape{2};
  for (const std::uint32_t lane : {0U, 1U}) tape.note(lane, Trace::start, 1, lane);
  tape.arrive(0, 10, 0, 7);
  tape.arrive(1, 15, 1, 7);
  for (const std::uint32_t lane : {0U, 1U}) tape.note(lane, Trace::finish, 20, lane);
  Listener listener = tape.played();
  EXPECT_THAT(listener.lanes[0],
              ElementsAre("start 0 0 @1", "arrive 0 7 @10", "pass 0 8 @15", "finish 0 0 @20"));
  EXPECT_THAT(listener.lanes[1],
              ElementsAre("start 1 0 @1", "arrive 1 7 @15", "pass 1 8 @15", "finish 1 0 @20"));
}

TEST(Tapes, OfManyArrivalsTheLastOnesAreKept) {
  Written tape{2};
  tape.note(0, Trace::start, 1, 0);
  tape.note(1, Trace::start, 1, 1);
  const std::uint32_t extra = 3;
  for (std::uint32_t gen = 0; gen < tape_arrivals + extra; ++gen) {
    tape.arrive(0, 10 + 10 * gen, 0, gen);
    if (gen % 2 == 0) tape.arrive(1, 15 + 10 * gen, 1, gen);  // this tape does not overflow
  }
  Listener listener = tape.played();
  EXPECT_EQ(listener.lanes[0].size(), 1 + 2 * tape_arrivals);
  EXPECT_EQ(listener.lanes[0][1], "arrive 0 3 @40");
  // Barriers with a lost arrival are not reported.
  EXPECT_EQ(listener.lanes[1][1], "arrive 1 4 @55");
}

TEST(Tapes, StaysBeyondTheTapesEndAreLost) {
  Written tape{1};
  for (std::uint32_t i = 0; i < tape_stays; ++i) tape.note(0, Trace::join, i, 0);
  tape.heads[0].stays += 10;
  EXPECT_EQ(tape.played().lanes[0].size(), tape_stays);
}

}  // namespace
}  // namespace cohort::cuda
