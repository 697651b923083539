// The interface of tracers: every event of a job, with its time, as it happens on the groups' own
// threads.
// Invariant: without a tracer, an event costs one predictable branch.
#pragma once

#include <cstdint>

namespace cohort {

/// The kinds of a TraceEvent.
enum class Trace : std::uint8_t {
  start,  ///< a group of the first set starts; value = number of groups at the start
  join,   ///< a group joins; value = the generation it joins in
  offer,  ///< a group makes an offer
  kill,   ///< the group leaves in offer_kill; active = M without it, value = 1 if that is 0 and the
          ///< job's state is kept
  fork,   ///< request_fork adds groups; active = M with them, value = their number
  arrive,  ///< the group is about to arrive at a global barrier; value = its generation
  resize,  ///< this group is about to set M for a resizing barrier: active = the new M, value = the
           ///< old one
  pass,    ///< the group passes the barrier; active = M as it was released, value = the next
           ///< generation
  shed,    ///< the group leaves in a resizing barrier; value = 1 if the job's state is
           ///< kept
  finish,  ///< the group returns from the kernel
  fault,   ///< the group found or raised a fault; value = the fault code
};

/// Stored instead of a unit if an event did not happen on one.
inline constexpr std::uint32_t no_unit = ~0U;

/// One event. `active` is M as far as the group knows it; 0 if it does not.
struct TraceEvent {
  std::uint64_t nanoseconds = 0;  ///< time of the event, by the engine's clock
  Trace what = Trace::start;
  std::uint32_t group = 0;
  std::uint32_t active = 0;
  std::uint64_t value = 0;
  std::uint32_t unit = no_unit;  ///< the compute unit: a worker of the CPU engine
};

/// A demand that has been met. For a job: groups were wanted back, and are out. For a task: it was
/// submitted, and has its units.
struct TraceGather {
  std::uint64_t begin = 0;  ///< start of the demand, by the engine's clock
  std::uint64_t end = 0;
  std::uint32_t groups = 0;  ///< number of groups that left the job, or that the task obtained
};

/// Receives the events of a job. All groups call it concurrently, so it must be thread-safe and
/// quick. It may call the engine, but must not wait for the job that it traces; on CUDA and OpenCL,
/// it must not wait for any job. wait() and suspend() throw Error{bad_state} in these cases.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual void record(const TraceEvent& event) noexcept = 0;
  /// Called by the engine, before the job comes to rest.
  virtual void gathered(const TraceGather& /*gather*/) noexcept {}
  /// Called by an engine whose device has its own clock. The time of the following events is the
  /// device's time (on CUDA, `%globaltimer`) plus `ahead` nanoseconds.
  virtual void clock(std::int64_t /*ahead*/) noexcept {}
  /// Called by an engine that had to drop events, because it had no room for them.
  virtual void dropped(std::uint64_t /*events*/) noexcept {}

 protected:
  Tracer() = default;
  Tracer(const Tracer&) = default;
  Tracer& operator=(const Tracer&) = default;
};

}  // namespace cohort
