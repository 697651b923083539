// The world of a run: its threads, its memory and the schedule. It does not know the protocol.
// Invariant: one thread runs at a time, from one access to the next, so a run is a function of the
// choices made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cohort/explore/options.hpp"
#include "cohort/platform/explore.hpp"
#include "cohort/trace.hpp"
#include "cohort/trace_check.hpp"

namespace cohort::explore {

/// A world of threads and words. At most one may be alive per operating-system thread.
class World {
 public:
  explicit World(const Options& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Starts a new schedule: no threads, no history.
  void begin();
  /// Adds a thread to this schedule. Reports call it `what`.
  void spawn(std::uint32_t actor, std::string_view what, void (*body)(void* context),
             void* context);
  /// Makes the threads `first .. first + size - 1` a `team`: they can meet each other.
  void enlist(std::uint32_t team, std::uint32_t first, std::uint32_t size);
  /// Checks the events of the coming run against the rules of the model, and forwards them to
  /// `tracer`.
  void expect(const TraceRules& rules, Tracer* tracer = nullptr);
  /// The range of targets that the scheduler has published so far.
  void wanted(std::uint32_t least, std::uint32_t most);
  /// Call after the last event, with the job's final status.
  void expect_end(Status status);
  /// Runs the schedule to its end.
  void go();
  /// Advances to the next schedule. Returns false if there is none.
  bool next();

  /// One of the values 0 to `options` - 1, chosen by the schedule. 0 is the usual choice.
  std::uint32_t choose(std::uint32_t options);
  /// Reports a failure: the schedule ends here. Only the first failure counts.
  void fail(std::string sentence);
  [[nodiscard]] const std::string& failure() const;
  /// Orders everything so far before everything that follows. Call it while all threads are at
  /// rest.
  void settle();
  /// Makes waiting threads check their conditions again, because a part of a condition that is not
  /// an atomic word has changed.
  void stir();

  /// The index of the running thread.
  [[nodiscard]] std::uint32_t running() const;
  [[nodiscard]] std::uint64_t steps() const;
  /// Whether this schedule only repeats others. An exhaustive search may find this out during the
  /// schedule.
  [[nodiscard]] bool redundant() const;
  [[nodiscard]] std::uint64_t seed() const;
  /// The choices of this schedule, in the format of Options::replay.
  [[nodiscard]] std::string schedule() const;
  [[nodiscard]] const std::vector<TraceEvent>& events() const;

  /// Names a word of the protocol in timelines. `format` writes its values there. A word with the
  /// name "" is left out.
  void name(const detail::Location& location, std::string name,
            std::string (*format)(std::uint64_t value) = nullptr);
  /// The owner of memory: the author of the kernel, or the protocol.
  enum class Owner : std::uint8_t { kernel, protocol };
  /// Names memory that consists of elements of `element` bytes.
  void name(const void* memory, std::size_t bytes, std::size_t element, std::string name,
            Owner owner);
  /// Whether this schedule's timeline is recorded. Set it before begin().
  void log(bool on);
  [[nodiscard]] bool logging() const;
  /// Adds a line to the timeline that says what the running thread does.
  void note(std::string text);
  [[nodiscard]] std::string timeline() const;

  /// Follows this schedule from now on, and makes the usual choices after its end.
  void follow(const std::string& schedule);
  /// The choices of a schedule as a list, `usual` for each usual choice.
  static constexpr std::uint8_t usual = 255;
  [[nodiscard]] std::vector<std::uint8_t> choices() const;
  void follow(const std::vector<std::uint8_t>& choices);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace cohort::explore
