#include "cuda/tapes.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace cohort::cuda {
namespace {

/// One lane's tape.
class Lane {
 public:
  Lane(const TapeHead& head, std::span<const TapeEvent> events)
      : stays_(events.first(std::min(head.stays, tape_stays))),
        ring_(events.subspan(tape_stays)),
        end_(head.arrivals),
        begin_(head.arrivals - std::min(head.arrivals, tape_arrivals)) {}

  [[nodiscard]] std::span<const TapeEvent> stays() const { return stays_; }
  template <class Visit>
  void each_arrival(Visit visit) const {
    for (std::uint32_t i = begin_; i != end_; ++i) visit(ring_[i % tape_arrivals]);
  }
  /// The time before which arrivals are missing.
  [[nodiscard]] std::uint64_t complete_from() const {
    return begin_ == 0 ? 0 : ring_[begin_ % tape_arrivals].time;
  }

 private:
  std::span<const TapeEvent> stays_;
  std::span<const TapeEvent> ring_;
  std::uint32_t end_;
  std::uint32_t begin_;
};

std::vector<Lane> lanes_of(std::span<const TapeHead> heads, std::span<const TapeEvent> events) {
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    lanes.emplace_back(heads[i], events.subspan(i * tape_events, tape_events));
  }
  return lanes;
}

}  // namespace

TapeTimes times_of(std::span<const TapeHead> heads, std::span<const TapeEvent> events) {
  TapeTimes result;
  for (const Lane& lane : lanes_of(heads, events)) {
    for (const TapeEvent& each : lane.stays()) {
      result.first = std::min(result.first, each.time);
      result.last = std::max(result.last, each.time);
    }
  }
  return result;
}

void play(std::span<const TapeHead> heads, std::span<const TapeEvent> events, std::int64_t ahead,
          Tracer& tracer) {
  const std::vector<Lane> lanes = lanes_of(heads, events);
  std::uint64_t complete_from = 0;
  for (const Lane& lane : lanes) complete_from = std::max(complete_from, lane.complete_from());
  std::unordered_map<std::uint32_t, std::uint64_t> releases;  // by generation
  for (const Lane& lane : lanes) {
    lane.each_arrival([&](const TapeEvent& arrival) {
      std::uint64_t& release = releases[arrival.value];
      release = std::max(release, arrival.time);
    });
  }

  for (std::uint32_t unit = 0; unit < lanes.size(); ++unit) {
    const auto tell = [&](const TapeEvent& event, Trace what, std::uint64_t time,
                          std::uint32_t value) {
      tracer.record({.nanoseconds = time + static_cast<std::uint64_t>(ahead),
                     .what = what,
                     .group = event.word >> 13U & 0x1fffU,
                     .active = event.word & 0x1fffU,
                     .value = value,
                     .unit = unit});
    };
    const std::span<const TapeEvent> stays = lanes[unit].stays();
    std::size_t told = 0;
    const auto tell_stays_before = [&](std::uint64_t time) {
      for (; told < stays.size() && stays[told].time <= time; ++told) {
        const TapeEvent& event = stays[told];
        tell(event, static_cast<Trace>(event.word >> 26U), event.time, event.value);
      }
    };
    lanes[unit].each_arrival([&](const TapeEvent& arrival) {
      if (arrival.time < complete_from) return;
      tell_stays_before(arrival.time);
      tell(arrival, Trace::arrive, arrival.time, arrival.value);
      const std::uint64_t release = releases[arrival.value];
      tell_stays_before(release - 1);  // a resize is told of by one who is inside
      tell(arrival, Trace::pass, release, arrival.value + 1);
    });
    tell_stays_before(~std::uint64_t{0});
  }
}

}  // namespace cohort::cuda
