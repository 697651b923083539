// The private part of a World: fibres, words, and the choices made so far. Invariant: `running` is
// the thread whose stack is in use; every other thread is suspended at a scheduling point.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "cohort/explore/world.hpp"
#include "explore/clock.hpp"
#include "explore/strategy.hpp"
#include "fibre_notes.hpp"

namespace cohort::explore {

using detail::Location;

/// One value in a word's modification order.
struct Store {
  std::uint64_t value = 0;
  std::uint32_t version = 0;
  Clock released;  // the knowledge that an acquire load of this value gains
  /// When each thread first saw this value. A thread that knows of such a moment cannot see an
  /// older value.
  std::array<std::uint32_t, max_actors> seen{};
};

/// What the explorer knows about an atomic word in this run.
struct Word {
  std::uint32_t version = 0;
  Actors watchers = 0;         // threads whose await reads this word
  Clock released;              // the knowledge that the latest value carries
  std::vector<Store> history;  // values, the latest last; only with weak memory
};

/// What the explorer knows about a piece of plain memory in this run.
struct Cell {
  // For atomic accesses. The first member, so that a Location can be cast to its cell.
  Location word;
  const void* memory = nullptr;
  std::size_t bytes = 0;  // size of the word
  std::uint32_t writer = max_actors;
  std::uint32_t written = 0;  // the last writer's clock at the time of its write
  // Plain reads since then: each thread's clock at its last one.
  std::array<std::uint32_t, max_actors> read{};
  std::array<std::uint32_t, max_actors> swapped{};  // atomic writes since then, likewise
  std::array<std::uint32_t, max_actors> loaded{};   // atomic reads since then, likewise
};

enum class Stance : std::uint8_t { ended, ready, awaiting, meeting };

/// Used instead of a group id.
inline constexpr std::uint32_t no_group = ~0U;

/// A thread of the run.
struct Actor {
  std::uint32_t index = 0;
  std::string what;
  void (*body)(void*) = nullptr;
  void* context = nullptr;
  Stance stance = Stance::ended;

  boost::context::stack_context stack{};
  boost::context::fiber fibre;
  FibreNotes notes;
  Handling handling;
  bool fresh = true;  // its fibre has not been started, or was abandoned

  std::uint32_t group = no_group;  // the group of this thread, or its last group
  bool inside = false;             // the group has not left yet
  TraceEvent last;                 // the group's last event
  // Source line of its next access to an atomic word of the kernel's memory.
  detail::SourceLine source;

  Clock clock;     // happens-before, as given by the program's memory orders
  Clock unfenced;  // what an acquire fence adds: `clock`, had its relaxed reads been acquires
  Clock fenced;    // its clock at its last release fence; its relaxed writes pass it on
  Clock strong;    // its clock at its last write stronger than relaxed; a notification covers it
  Clock notified;  // notifications that came before it announced its sleep
  // Used during an await.
  bool (*done)(void*) = nullptr;
  void* done_context = nullptr;
  Location* event = nullptr;
  bool timed = false;
  bool awake = false;
  std::uint64_t heard = 0;  // the event's count of notifications at the last check
  bool listens = false;     // sleeps until `event` exceeds `heard`
  // Used during a split await: what the await has read.
  bool recording = false;
  bool latest_only = false;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> read;  // slot, version

  std::uint32_t idle_loads = 0;  // loads since the last write by any thread
  std::uint32_t idle_since = 0;

  Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  ~Actor();
};

/// A meeting point of threads.
struct Meeting {
  std::uint32_t first = 0;
  std::uint32_t size = 0;
  Actors arrived = 0;  // threads that have arrived, by local id
  std::array<protocol::Point, max_actors> points{};
  std::array<void*, max_actors> slots{};
  detail::Act act = nullptr;
  void* context = nullptr;
  Location ground;  // stands for the group's local memory, which a meeting orders
  Clock clock;
};

/// Kinds of access to a kernel's memory.
enum class Access : std::uint8_t { read, write, atomic_read, atomic_write };

enum class Mode : std::uint8_t {
  step,  // every access is a scheduling point
  peek,  // checks whether an await is over; leaves no trace
  poll,  // the await counts as a single step
};

struct World::Impl {
  explicit Impl(const Options& options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  // Scheduling.
  void begin();
  void spawn(std::uint32_t index, std::string_view what, void (*body)(void*), void* context);
  void go();
  void drain();
  void reschedule();
  std::uint32_t choose_next();
  void switch_to(Actor& other);
  void start_fibre(Actor& actor);
  void look_again();
  bool look(Actor& actor);
  std::uint32_t choose(std::uint32_t options);
  void fail(std::string sentence);
  void point(const Location& location, bool writes);
  void stepped(const Footprint& touched);
  void check_draining();
  [[nodiscard]] std::string stuck() const;

  // Memory.
  Word& word(const Location& location);
  std::uint64_t load(const Location& location, Order order);
  void store(Location& location, std::uint64_t value, Order order);
  std::uint64_t begin_update(Location& location);
  void end_update(Location& location, std::uint64_t value, Order order, bool changes);
  void commit(Location& location, Word& word, std::uint64_t value, Order order, bool update);
  const Store& read_some(Word& word, Order order);
  Cell& cell(const void* memory);
  Location& word_at(const void* memory, std::size_t bytes, detail::SourceLine source);
  void touch(const void* memory, bool writes, detail::SourceLine source);
  void touch_atomically(const Location& location, bool writes);
  void race(const void* memory, Access mine, std::uint32_t other, Access its);
  bool await(Location& event, bool timed, bool (*done)(void*), void* context);
  void stand_in_await(Actor& self);
  bool await_in_steps(Location& event, bool timed, bool (*done)(void*), void* context);
  void notify(Location& event);
  void fence();
  void learn(Actor& self, const Clock& released, Order order);
  void meet(std::uint32_t team, std::uint32_t local_id, protocol::Point point, void* slot,
            detail::Act act, void* context);

  // The timeline.
  struct Region {
    const char* from;
    const char* to;
    std::size_t element;
    std::string text;
    World::Owner owner;
  };
  void log_access(const Location& location, std::string_view what, std::uint64_t value);
  void log_touch(const void* memory, Access access, detail::SourceLine source);
  [[nodiscard]] std::string value_of(const Location& location, std::uint64_t value) const;
  [[nodiscard]] std::string name_of(const Location& location) const;
  [[nodiscard]] std::string name_of(const void* memory) const;
  [[nodiscard]] const Region* region_of(const void* memory) const;
  [[nodiscard]] std::string name_of(const Actor& actor) const;
  [[nodiscard]] const Meeting* team_of(const Actor& actor) const;
  void note(std::string text, World::Owner owner = World::Owner::kernel);
  void record(const TraceEvent& event);

  const Options options;
  const bool weak;
  const bool split;  // awaits read one word at a time
  std::unique_ptr<Strategy> strategy;
  bool reduced = false;

  std::uint32_t run = 0;
  std::array<Actor, max_actors + 1> actors;  // the last actor is the caller of go()
  Actor* running = nullptr;                  // null outside go()
  Actor* previous = nullptr;
  Actor* home = &actors[max_actors];
  Actors ready = 0;
  Actors awaiting = 0;
  Actors awake = 0;
  Actors stale = 0;  // waiting threads that must check their conditions again
  Actors lazy = 0;   // threads that have only read for a while: others run first
  Outlook outlook;
  std::array<Meeting, max_actors> meetings;

  Mode mode = Mode::step;
  Footprint seen;  // words that the condition of the current await has read
  std::deque<Word> words;
  std::uint32_t words_used = 0;
  std::vector<std::uint32_t> table;  // cells by address: open addressing, index + 1
  std::deque<Cell> cells;
  std::uint32_t cells_used = 0;
  std::uint32_t writes = 0;  // number of writes by any thread

  std::uint32_t steps = 0;
  std::uint64_t all_steps = 0;
  std::uint32_t lazy_steps = 0;
  bool stopping = false;
  bool draining = false;
  bool quitting = false;
  std::uint32_t drained = 0;
  std::string failure;
  std::vector<std::uint8_t> choices;  // all choices so far; `usual` stands for the usual one
  std::vector<TraceEvent> events;
  std::optional<TraceChecker> checker;
  std::uint32_t least_wanted = 0;  // minimum of all targets so far
  std::uint32_t most_wanted = ~0U;
  Tracer* tracer = nullptr;

  bool logging = false;
  struct Line {
    std::string actor;
    std::string text;
  };
  std::vector<Line> lines;
  /// The source line of each thread's last access to a piece of the kernel's memory, by kind of
  /// access. Recorded only while logging.
  std::map<std::tuple<const void*, std::uint32_t, Access>, detail::SourceLine> accessed;
  struct Name {
    std::string text;
    std::string (*format)(std::uint64_t) = nullptr;
  };
  std::unordered_map<const Location*, Name> names;
  std::vector<Region> regions;
};

}  // namespace cohort::explore
