// The world that a run takes place in: its threads, its memory, and the schedule. It knows nothing
// of the protocol. Invariant: one thread runs at a time, from one access to the next, so a run is a
// function of the choices that were made.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cohort/explore/options.hpp"
#include "cohort/platform/explore.hpp"
#include "cohort/trace.hpp"
#include "cohort/trace_check.hpp"

namespace cohort::explore {

/// One at a time may be alive on an operating-system thread.
class World {
 public:
  explicit World(const Options& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();

  /// Starts a new schedule: no threads, no history.
  void begin();
  /// A thread for this schedule. `what` names it in reports.
  void spawn(std::uint32_t actor, std::string_view what, void (*body)(void* context),
             void* context);
  /// The threads `first .. first + size - 1` can meet each other, as `team`.
  void enlist(std::uint32_t team, std::uint32_t first, std::uint32_t size);
  /// Checks the events of the coming run against the rules of the model, and passes them on.
  void expect(const TraceRules& rules, Tracer* tracer = nullptr);
  /// So far the scheduler has never wanted fewer groups than `least`, nor more than `most`.
  void wanted(std::uint32_t least, std::uint32_t most);
  /// No more events: how the job ended.
  void expect_end(Status status);
  /// Runs the schedule to its end.
  void go();
  /// Takes up the schedule after this one. False: there is none.
  bool next();

  /// One of `options` values, chosen by the schedule. The first is the usual one.
  std::uint32_t choose(std::uint32_t options);
  /// Something is wrong: the schedule ends here. The first complaint counts.
  void fail(std::string sentence);
  [[nodiscard]] const std::string& failure() const;
  /// Everything so far happens before whatever comes now: all is at rest.
  void settle();
  /// Waiting threads look again: something they look at has changed that is no atomic word.
  void stir();

  /// The thread that runs.
  [[nodiscard]] std::uint32_t running() const;
  [[nodiscard]] std::uint64_t steps() const;
  /// Whether this schedule only repeats others, which an exhaustive search may find out on its way.
  [[nodiscard]] bool redundant() const;
  [[nodiscard]] std::uint64_t seed() const;
  /// The choices of this schedule, as Options::replay takes them.
  [[nodiscard]] std::string schedule() const;
  [[nodiscard]] const std::vector<TraceEvent>& events() const;

  /// Names a word of the protocol in timelines. `format` writes its values there. A word without a
  /// name ("") is left out.
  void name(const detail::Location& location, std::string name,
            std::string (*format)(std::uint64_t value) = nullptr);
  /// Whose memory is named: that of the kernel's author, or of the protocol.
  enum class Owner : std::uint8_t { kernel, protocol };
  /// Names memory that consists of elements of `element` bytes.
  void name(const void* memory, std::size_t bytes, std::size_t element, std::string name,
            Owner owner);
  /// Whether this schedule's timeline is recorded. Set it before begin().
  void log(bool on);
  [[nodiscard]] bool logging() const;
  /// Adds a line to the timeline: what the running thread does.
  void note(std::string text);
  [[nodiscard]] std::string timeline() const;

  /// From now on: this schedule, and after its end what is usual.
  void follow(const std::string& schedule);
  /// The choices of a schedule as a list, `usual` where the usual was chosen.
  static constexpr std::uint8_t usual = 255;
  [[nodiscard]] std::vector<std::uint8_t> choices() const;
  void follow(const std::vector<std::uint8_t>& choices);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace cohort::explore
