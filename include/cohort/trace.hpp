// The tracer's hook: every event of a job, with its time, as it happens on the groups' own threads.
// Invariant: with no tracer attached an event costs one predictable branch.
#pragma once

#include <cstdint>

namespace cohort {

/// What a TraceEvent tells.
enum class Trace : std::uint8_t {
  start,  ///< a group of the first set starts; value = groups at the start
  join,   ///< a group joins; value = the generation it joins in
  offer,  ///< a group offers itself
  kill,   ///< the group leaves in offer_kill; active = M without it, value = 1 if that is 0 and the
          ///< job's state is kept
  fork,   ///< request_fork adds groups; active = M with them, value = how many
  arrive,  ///< the group is about to arrive at a global barrier; value = its generation
  resize,  ///< this group is about to set M for a resizing barrier: active = the new M, value = the
           ///< old one
  pass,    ///< the group passes the barrier; active = M as it was released, value = the next
           ///< generation
  shed,    ///< the group leaves in a resizing barrier; value = 1 if it is group 0 and the job's
           ///< state is kept
  finish,  ///< the group returns from the kernel
  fault,   ///< the group found or raised a fault; value = the fault code
};

/// One event. `active` is M as the group saw it.
struct TraceEvent {
  std::uint64_t nanoseconds = 0;  ///< of the engine's clock
  Trace what = Trace::start;
  std::uint32_t group = 0;
  std::uint32_t active = 0;
  std::uint64_t value = 0;
};

/// Receives the events of a job. Called concurrently by all its groups: must be thread-safe and
/// quick.
class Tracer {
 public:
  virtual ~Tracer() = default;
  virtual void record(const TraceEvent& event) noexcept = 0;

 protected:
  Tracer() = default;
  Tracer(const Tracer&) = default;
  Tracer& operator=(const Tracer&) = default;
};

}  // namespace cohort
