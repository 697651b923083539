#include "cuda/tapes.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>

namespace cohort::cuda {
namespace {

Trace what(const TapeEvent& event) { return static_cast<Trace>(event.word >> 26U); }

/// One lane's tape.
class Lane {
 public:
  Lane(const Recording& recording, std::size_t lane)
      : stays_(recording.stays.data() + lane * tape_stays,
               std::min(recording.heads[lane].stays, tape_stays)),
        ring_(recording.arrivals.data() + lane * tape_arrivals),
        lost_(recording.heads[lane].stays > tape_stays),
        end_(recording.heads[lane].arrivals),
        begin_(end_ - std::min(end_, tape_arrivals)) {}

  [[nodiscard]] std::span<const TapeEvent> stays() const { return stays_; }
  /// Whether the last events did not fit.
  [[nodiscard]] bool lost() const { return lost_; }
  template <class Visit>
  void each_arrival(Visit visit) const {
    for (std::uint32_t i = begin_; i != end_; ++i) visit(ring_[i % tape_arrivals]);
  }
  /// The time before which arrivals may be missing.
  [[nodiscard]] std::uint64_t complete_from() const {
    return begin_ == 0 ? 0 : ring_[begin_ % tape_arrivals].time;
  }

 private:
  std::span<const TapeEvent> stays_;
  const TapeEvent* ring_;
  bool lost_;
  std::uint32_t end_;
  std::uint32_t begin_;
};

std::vector<Lane> lanes_of(const Recording& recording) {
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < recording.heads.size(); ++i) lanes.emplace_back(recording, i);
  return lanes;
}

}  // namespace

std::int64_t ahead_of(const Recording& recording, const std::vector<std::uint64_t>& heard) {
  std::vector<std::uint64_t> ends;
  std::uint64_t complete_until = ~std::uint64_t{0};
  for (const Lane& lane : lanes_of(recording)) {
    for (const TapeEvent& each : lane.stays()) {
      const Trace its = what(each);
      if (its == Trace::kill || its == Trace::finish || its == Trace::fault)
        ends.push_back(each.time);
    }
    if (lane.lost()) complete_until = std::min(complete_until, lane.stays().back().time);
  }
  std::sort(ends.begin(), ends.end());
  // The host learns of a departure after it has happened, so the i-th time in `heard` is not before
  // the i-th of `ends`.
  constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
  std::int64_t result = unknown;
  for (std::size_t i = 0; i < std::min(ends.size(), heard.size()); ++i) {
    if (ends[i] <= complete_until)
      result = std::min(result, static_cast<std::int64_t>(heard[i] - ends[i]));
  }
  return result == unknown ? 0 : result;
}

void play(const Recording& recording, std::int64_t ahead, Tracer& tracer) {
  const std::vector<Lane> lanes = lanes_of(recording);
  std::uint64_t complete_from = 0;
  for (const Lane& lane : lanes) complete_from = std::max(complete_from, lane.complete_from());
  std::unordered_map<std::uint32_t, std::uint64_t> releases;  // by generation
  for (const Lane& lane : lanes) {
    lane.each_arrival([&](const TapeEvent& arrival) {
      if (what(arrival) != Trace::arrive) return;
      std::uint64_t& release = releases[arrival.value];
      release = std::max(release, arrival.time);
    });
  }

  std::vector<TraceEvent> all;
  for (std::uint32_t unit = 0; unit < lanes.size(); ++unit) {
    const auto emit = [&](const TapeEvent& event, Trace which, std::uint64_t time,
                          std::uint32_t value) {
      all.push_back({.nanoseconds = time + static_cast<std::uint64_t>(ahead),
                     .what = which,
                     .group = event.word >> 13U & 0x1fffU,
                     .active = event.word & 0x1fffU,
                     .value = value,
                     .unit = unit});
    };
    const std::span<const TapeEvent> stays = lanes[unit].stays();
    std::size_t told = 0;
    const auto emit_stays_before = [&](std::uint64_t time) {
      for (; told < stays.size() && stays[told].time <= time; ++told) {
        const TapeEvent& event = stays[told];
        emit(event, what(event), event.time, event.value);
      }
    };
    lanes[unit].each_arrival([&](const TapeEvent& arrival) {
      if (arrival.time < complete_from) return;
      emit_stays_before(arrival.time);
      emit(arrival, what(arrival), arrival.time, arrival.value);
      if (what(arrival) != Trace::arrive) return;
      const std::uint64_t release = releases[arrival.value];
      emit_stays_before(release - 1);  // a resize is recorded by a group that is inside
      emit(arrival, Trace::pass, release, arrival.value + 1);
    });
    emit_stays_before(~std::uint64_t{0});
  }
  // Stable: events of one lane at the same time keep their order.
  std::stable_sort(all.begin(), all.end(), [](const TraceEvent& a, const TraceEvent& b) {
    return a.nanoseconds < b.nanoseconds;
  });
  tracer.clock(ahead);
  for (const TraceEvent& each : all) tracer.record(each);
}

}  // namespace cohort::cuda
