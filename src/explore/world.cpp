// Scheduling: decides which thread runs and which threads wait, and what to do when none can
// continue.
#include "cohort/explore/world.hpp"

#include <bit>
#include <utility>

#include "cohort/error.hpp"
#include "explore/impl.hpp"

namespace cohort::explore {
namespace {

namespace context = boost::context;

constexpr std::size_t stack_bytes = 256UL * 1024UL;
// Number of accesses after which threads that only read must give way.
constexpr std::uint32_t patience = 4000;

thread_local World::Impl* world = nullptr;

/// A stack allocator that frees nothing: the actors own the stacks and reuse them.
struct KeepStack {
  static void deallocate(context::stack_context& /*stack*/) noexcept {}
};

const char* in_words(protocol::Point point) {
  switch (point) {
    case protocol::Point::barrier: return "barrier";
    case protocol::Point::broadcast: return "broadcast";
    case protocol::Point::reduce: return "reduce";
    case protocol::Point::scan: return "a scan";
    case protocol::Point::offer_kill: return "offer_kill";
    case protocol::Point::request_fork: return "request_fork";
    case protocol::Point::offer: return "offer";
    case protocol::Point::global_barrier: return "global_barrier";
    case protocol::Point::resizing_global_barrier: return "the resizing barrier";
    case protocol::Point::query: return "query";
  }
  return "the end of the kernel";
}

}  // namespace

Actor::~Actor() {
  if (stack.sp == nullptr) return;
  context::protected_fixedsize_stack allocator{stack_bytes};
  allocator.deallocate(stack);
}

World::Impl::Impl(const Options& with)
    : options(with),
      weak(with.weak_memory),
      split(with.weak_memory || with.search != Search::exhaustive),
      strategy(make_strategy(with)) {
  reduced = options.search == Search::exhaustive && !options.preemptions;
  if (reduced && weak) {
    throw Error{Errc::bad_options,
                "explore: an exhaustive search with weak memory needs a bound: set `preemptions`"};
  }
  for (std::uint32_t i = 0; i <= max_actors; ++i) actors[i].index = i;
  table.assign(1024, 0);
}

World::Impl::~Impl() {
  quitting = true;
  running = home;
  for (Actor& actor : actors) {
    if (&actor != home && !actor.fresh) switch_to(actor);
    running = home;
  }
}

void World::Impl::begin() {
  ++run;
  ready = awaiting = awake = stale = lazy = 0;
  outlook.alive = outlook.waiting = 0;
  words_used = 0;
  if (cells_used != 0) std::fill(table.begin(), table.end(), 0);
  cells_used = 0;
  writes = 0;
  for (Actor& actor : actors) {
    actor.stance = Stance::ended;
    actor.clock = {};
    actor.unfenced = {};
    actor.fenced = {};
    actor.strong = {};
    actor.notified = {};
    if (actor.index < max_actors) actor.clock.at[actor.index] = 1;
    actor.idle_loads = actor.idle_since = 0;
    actor.recording = false;
    actor.latest_only = false;
    actor.group = no_group;
    actor.inside = false;
    actor.last = {};
  }
  for (Meeting& meeting : meetings) meeting = {};
  mode = Mode::step;
  steps = lazy_steps = 0;
  stopping = draining = false;
  drained = 0;
  failure.clear();
  choices.clear();
  events.clear();
  lines.clear();
  accessed.clear();
  names.clear();
  regions.clear();
  checker.reset();
  least_wanted = 0;
  most_wanted = ~0U;
  tracer = nullptr;
  strategy->begin();
}

void World::Impl::spawn(std::uint32_t index, std::string_view what, void (*body)(void*),
                        void* with) {
  if (index >= max_actors) {
    throw Error{Errc::bad_options,
                "explore: too many threads: capacity x local_size may be at most " +
                    std::to_string(max_actors - 1)};
  }
  Actor& actor = actors[index];
  if (logging) actor.what = what;
  actor.body = body;
  actor.context = with;
  actor.stance = Stance::ready;
  outlook.next[index].count = 0;
  outlook.alive |= 1U << index;
  ready |= 1U << index;
}

void World::Impl::start_fibre(Actor& actor) {
  if (actor.stack.sp == nullptr) {
    context::protected_fixedsize_stack allocator{stack_bytes};
    actor.stack = allocator.allocate();
  }
  actor.notes.begin_on(actor.stack.sp, actor.stack.size);
  actor.fresh = false;
  actor.handling = {};
  actor.fibre = context::fiber{std::allocator_arg,
                               context::preallocated{actor.stack.sp, actor.stack.size, actor.stack},
                               KeepStack{}, [this, &actor](context::fiber&& from) {
                                 actor.notes.after_switch_from(previous->notes);
                                 previous->fibre = std::move(from);
                                 while (!quitting) {  // each pass of the loop is one run
                                   if (!draining) stepped(Footprint{});
                                   try {
                                     if (!draining) actor.body(actor.context);
                                   } catch (const Unwind&) {
                                     // The run has ended; the exception has unwound this fibre.
                                   } catch (...) {
                                     fail("an exception left the kernel");
                                   }
                                   actor.stance = Stance::ended;
                                   outlook.alive &= ~(1U << actor.index);
                                   ready &= ~(1U << actor.index);
                                   switch_to(draining ? *home : actors[choose_next()]);
                                 }
                                 actor.notes.before_switch_to(home->notes, true);
                                 return std::move(home->fibre);
                               }};
}

void World::Impl::switch_to(Actor& other) {
  Actor& self = *running;
  if (&other == &self) return;
  if (other.fresh && &other != home) start_fibre(other);
  previous = &self;
  running = &other;
  Handling& handling = Handling::current();
  self.handling = std::exchange(handling, other.handling);
  self.notes.before_switch_to(other.notes);
  context::fiber from = std::move(other.fibre).resume();
  self.notes.after_switch_from(previous->notes);
  if (from) previous->fibre = std::move(from);  // empty if that thread has ended
}

/// Whether the await of `actor` is over. Records which words the answer depends on.
bool World::Impl::look(Actor& actor) {
  const Actors bit = 1U << actor.index;
  if (split) {
    if (actor.timed) return true;
    if (actor.listens) return actor.event->value != actor.heard;
    for (const auto& [slot, version] : actor.read) {
      if (words[slot].version != version) return true;
    }
    return false;
  }
  Actor* const self = std::exchange(running, &actor);
  mode = Mode::peek;
  seen.count = 0;
  const bool met = actor.done(actor.done_context);
  mode = Mode::step;
  running = self;
  if (options.waiting == Waiting::notified) {
    word(*actor.event);
    seen.add(actor.event->slot, false);
  }
  for (std::uint32_t i = 0; i < seen.count; ++i) words[seen.touches[i].slot].watchers |= bit;
  outlook.next[actor.index] = seen;
  if (actor.timed) return true;
  if (options.waiting == Waiting::notified) {
    return !actor.listens || actor.event->value != actor.heard;
  }
  return met;
}

void World::Impl::look_again() {
  for (Actors rest = stale & awaiting; rest != 0; rest &= rest - 1) {
    Actor& actor = actors[static_cast<std::size_t>(std::countr_zero(rest))];
    const Actors bit = 1U << actor.index;
    if (look(actor)) {
      awake |= bit;
    } else {
      awake &= ~bit;
    }
  }
  stale = 0;
}

std::uint32_t World::Impl::choose_next() {
  if (stale != 0) look_again();
  Actors enabled = ready | awake;
  if (stopping || enabled == 0) return max_actors;
  if (!reduced && lazy != 0) {
    if ((enabled & ~lazy) != 0) {
      enabled &= ~lazy;
      lazy_steps = 0;
    } else if (++lazy_steps > patience) {
      fail("no progress: " + stuck());
      return max_actors;
    }
  }
  if (++steps > options.max_steps) {
    fail("no end in sight after " + std::to_string(options.max_steps) + " accesses: " + stuck());
    return max_actors;
  }
  const std::uint32_t last = running->index;
  outlook.waiting = awaiting;
  const std::uint32_t picked = strategy->pick(enabled, last, outlook);
  if (std::popcount(enabled) > 1) {
    choices.push_back(picked == usual_pick(enabled, last) ? World::usual
                                                          : static_cast<std::uint8_t>(picked));
  }
  return picked;
}

void World::Impl::reschedule() { switch_to(actors[choose_next()]); }

std::uint32_t World::Impl::choose(std::uint32_t count) {
  if (running == nullptr || draining || count <= 1) return 0;
  const std::uint32_t chosen = strategy->choose(count);
  choices.push_back(chosen == 0 ? World::usual : static_cast<std::uint8_t>(chosen));
  return chosen;
}

void World::Impl::fail(std::string sentence) {
  if (!failure.empty() || draining) return;
  if (logging) note("!! " + sentence);
  failure = std::move(sentence);
  stopping = true;
}

/// Called while the threads of an ended run are unwound. They may continue to access memory, but
/// not for ever.
void World::Impl::check_draining() {
  if (++drained > 100000) throw Unwind{};
}

void World::Impl::point(const Location& location, bool changes) {
  Actor& self = *running;
  if (draining) {
    check_draining();
    return;
  }
  word(location);
  Footprint& next = outlook.next[self.index];
  next.touches[0] = {location.slot, changes};
  next.count = 1;
  reschedule();
}

void World::Impl::stepped(const Footprint& touched) {
  if (draining) return;
  ++all_steps;
  if (strategy->watches()) strategy->stepped(running->index, touched);
}

void World::Impl::go() {
  running = home;
  const std::uint32_t first = choose_next();
  if (first != max_actors) switch_to(actors[first]);
  if (failure.empty() && outlook.alive != 0) fail("deadlock: " + stuck());
  running = home;
  outlook.waiting = awaiting;
  strategy->end(outlook);
  if (outlook.alive != 0) drain();
  running = nullptr;
}

/// Ends the remaining threads: each runs until it would wait, and is unwound there.
void World::Impl::drain() {
  draining = true;
  for (std::uint32_t i = 0; i < max_actors; ++i) {
    Actor& actor = actors[i];
    if (actor.stance == Stance::ended) continue;
    if (!actor.fresh) {
      drained = 0;
      mode = Mode::step;
      switch_to(actor);
      running = home;
    }
    actor.stance = Stance::ended;
  }
  outlook.alive = 0;
}

std::string World::Impl::stuck() const {
  const auto standing = [](const Actor& actor) -> std::string {
    if (actor.stance == Stance::meeting) return " waits for the other threads of its group";
    if (actor.stance != Stance::awaiting) return " runs";
    if (actor.inside && actor.last.what == Trace::arrive) {
      return " waits in barrier " + std::to_string(actor.last.value);
    }
    return " waits";
  };
  const auto list = [&](bool units) {
    std::string text;
    for (const Actor& actor : actors) {
      if (actor.stance == Stance::ended || actor.index == max_actors) continue;
      if (!units && !actor.inside && team_of(actor) != nullptr) continue;
      text += (text.empty() ? "" : ", ") + name_of(actor) + standing(actor);
    }
    return text;
  };
  // A unit without a group matters to the protocol's authors, not to the kernel's.
  const std::string groups = options.verbose ? std::string{} : list(false);
  return groups.empty() ? list(true) : groups;
}

/// Lets other threads run until this one's await may be over.
void World::Impl::stand_in_await(Actor& self) {
  const Actors bit = 1U << self.index;
  self.stance = Stance::awaiting;
  ready &= ~bit;
  awaiting |= bit;
  stale |= bit;
  reschedule();
  if (draining) throw Unwind{};
  awaiting &= ~bit;
  awake &= ~bit;
  ready |= bit;
  self.stance = Stance::ready;
}

bool World::Impl::await(Location& event, bool timed, bool (*done)(void*), void* with) {
  if (draining) {
    if (done(with)) return true;
    throw Unwind{};
  }
  if (split) return await_in_steps(event, timed, done, with);
  Actor& self = *running;
  self.done = done;
  self.done_context = with;
  self.event = &event;
  self.timed = timed;
  self.listens = false;
  for (;;) {
    stand_in_await(self);
    seen.count = 0;
    mode = Mode::poll;
    const bool met = done(with);
    mode = Mode::step;
    if (options.waiting == Waiting::notified) {
      word(event);
      seen.add(event.slot, false);
    }
    ++self.clock.at[self.index];
    if (logging) {
      note(met     ? "sees what it waited for"
           : timed ? "waits no longer"
                   : "looks in vain",
           World::Owner::protocol);
    }
    stepped(seen);
    if (met || timed) return met;
    self.listens = true;
    self.heard = event.value;
  }
}

bool World::Impl::await_in_steps(Location& event, bool timed, bool (*done)(void*), void* with) {
  Actor& self = *running;
  const Actors bit = 1U << self.index;
  for (bool again = false;; again = true) {
    const std::uint64_t heard = event.value;
    if (options.waiting == Waiting::notified) self.notified.join(word(event).released);
    self.read.clear();
    self.recording = true;
    self.latest_only = again;  // a value that stays old for ever would not be realistic
    const bool met = done(with);
    self.recording = false;
    self.latest_only = false;
    if (met) return true;
    if (draining) throw Unwind{};
    if (timed && again) {
      if (logging) note("waits no longer", World::Owner::protocol);
      return false;
    }
    self.event = &event;
    self.timed = timed;
    self.listens = options.waiting == Waiting::notified;
    self.heard = heard;
    if (self.listens) {
      word(event).watchers |= bit;
    } else {
      for (const auto& [slot, version] : self.read) words[slot].watchers |= bit;
    }
    outlook.next[self.index].count = 0;
    stand_in_await(self);
  }
}

/// If waiters sleep, a notification is a step of its own. If they poll, it has no effect.
void World::Impl::notify(Location& event) {
  if (draining || options.waiting == Waiting::polled) return;
  point(event, true);
  if (draining) return;
  Word& its = word(event);
  // The notifier checks for sleepers. This check is in one total order with every access stronger
  // than relaxed.
  its.released.join(running->strong);
  commit(event, its, event.value + 1, Order::relaxed, true);
  Footprint touched;
  touched.add(event.slot, true);
  if (logging && !name_of(event).empty()) {
    note("notifies " + name_of(event), World::Owner::protocol);
  }
  stepped(touched);
}

void World::Impl::meet(std::uint32_t team, std::uint32_t local_id, protocol::Point at, void* slot,
                       detail::Act act, void* with) {
  if (draining) throw Unwind{};
  Meeting& meeting = meetings[team];
  Actor& self = *running;
  meeting.points[local_id] = at;
  meeting.slots[local_id] = slot;
  if (local_id == 0) {
    meeting.act = act;
    meeting.context = with;
  }
  meeting.clock.join(self.clock);
  ++self.clock.at[self.index];
  meeting.arrived |= 1U << local_id;
  const bool all = meeting.arrived == (1U << meeting.size) - 1U;
  if (all) {
    for (std::uint32_t i = 1; i < meeting.size; ++i) {
      if (meeting.points[i] == meeting.points[0]) continue;
      const std::uint32_t group = actors[meeting.first].group;
      fail("threads of " + (group == no_group ? "one group" : "group " + std::to_string(group)) +
           " went different ways: thread 0 stands at " + std::string{in_words(meeting.points[0])} +
           ", thread " + std::to_string(i) + " at " + in_words(meeting.points[i]));
      break;
    }
  }
  const auto park = [&] {
    self.stance = Stance::meeting;
    ready &= ~(1U << self.index);
    reschedule();
    if (draining) throw Unwind{};
  };
  const auto wake = [&](std::uint32_t index, bool step) {
    Actor& other = actors[index];
    other.stance = Stance::ready;
    outlook.next[index].count = 0;
    if (step) {
      word(meeting.ground);
      outlook.next[index].add(meeting.ground.slot, true);
    }
    ready |= 1U << index;
  };
  if (all && strategy->watches()) {
    for (std::uint32_t i = 1; i < meeting.size; ++i) {
      strategy->woke(meeting.first, meeting.first + i);
    }
  }
  if (local_id != 0) {
    if (all && !stopping) wake(meeting.first, false);
    park();
    self.clock.join(meeting.clock);
  } else {
    if (!all || stopping) {
      park();
      stepped(Footprint{});
    }
    self.clock.join(meeting.clock);
    meeting.arrived = 0;
    if (meeting.act != nullptr) {
      meeting.act(meeting.context, {meeting.slots.data(), meeting.size});
      if (draining) throw Unwind{};
    }
    meeting.clock = self.clock;
    ++self.clock.at[self.index];
    for (std::uint32_t i = 1; i < meeting.size; ++i) {
      if (strategy->watches()) strategy->woke(meeting.first + i, meeting.first);
      wake(meeting.first + i, true);
    }
    point(meeting.ground, true);
  }
  Footprint touched;
  touched.add(meeting.ground.slot, true);
  stepped(touched);
}

// The public functions.

World::World(const Options& options) : impl_(std::make_unique<Impl>(options)) {
  if (world != nullptr) {
    throw Error{Errc::bad_state,
                "explore: one exploration at a time on a thread: destroy the other engine first"};
  }
  world = impl_.get();
}
World::~World() { world = nullptr; }

void World::begin() { impl_->begin(); }
void World::spawn(std::uint32_t actor, std::string_view what, void (*body)(void*), void* context) {
  impl_->spawn(actor, what, body, context);
}
void World::enlist(std::uint32_t team, std::uint32_t first, std::uint32_t size) {
  impl_->meetings[team] = {};
  impl_->meetings[team].first = first;
  impl_->meetings[team].size = size;
}
void World::go() { impl_->go(); }
bool World::next() { return impl_->strategy->next(); }
std::uint32_t World::choose(std::uint32_t options) { return impl_->choose(options); }
void World::fail(std::string sentence) { impl_->fail(std::move(sentence)); }
const std::string& World::failure() const { return impl_->failure; }
void World::settle() {
  Clock all;
  for (const Actor& actor : impl_->actors) all.join(actor.clock);
  for (Actor& actor : impl_->actors) actor.clock.join(all);
}
void World::stir() { impl_->stale |= impl_->awaiting; }
void World::expect(const TraceRules& rules, Tracer* tracer) {
  impl_->checker.emplace(rules);
  impl_->tracer = tracer;
}
void World::wanted(std::uint32_t least, std::uint32_t most) {
  impl_->least_wanted = least;
  impl_->most_wanted = most;
}
void World::expect_end(Status status) {
  if (!impl_->checker || !impl_->failure.empty()) return;
  if (const auto wrong = impl_->checker->end(status)) impl_->fail(*wrong);
}
std::uint32_t World::running() const { return impl_->running->index; }
std::uint64_t World::steps() const { return impl_->all_steps; }
bool World::redundant() const { return impl_->strategy->redundant(); }
std::uint64_t World::seed() const { return impl_->strategy->seed(); }
const std::vector<TraceEvent>& World::events() const { return impl_->events; }
std::vector<std::uint8_t> World::choices() const {
  std::vector<std::uint8_t> list = impl_->choices;
  while (!list.empty() && list.back() == usual) list.pop_back();
  return list;
}
void World::follow(const std::vector<std::uint8_t>& choices) {
  impl_->strategy = make_follower(choices);
}

namespace detail {

std::uint64_t load(const Location& location, Order order) {
  if (world == nullptr || world->running == nullptr) return location.value;
  return world->load(location, order);
}
void store(Location& location, std::uint64_t value, Order order) {
  if (world == nullptr || world->running == nullptr) {
    location.value = value;
  } else {
    world->store(location, value, order);
  }
}
std::uint64_t begin_update(Location& location, Order /*order*/) {
  if (world == nullptr || world->running == nullptr) return location.value;
  return world->begin_update(location);
}
void end_update(Location& location, std::uint64_t value, Order order, bool changes) {
  if (world == nullptr || world->running == nullptr) {
    location.value = value;
  } else {
    world->end_update(location, value, order, changes);
  }
}
void fence() {
  if (world != nullptr && world->running != nullptr) world->fence();
}
std::uint32_t choose(std::uint32_t options) {
  return world == nullptr ? 0 : world->choose(options);
}
Location& word_at(const void* memory, std::size_t bytes, SourceLine source) {
  static thread_local Location outside;
  if (world == nullptr || world->running == nullptr) {
    outside = {};
    std::memcpy(&outside.value, memory, bytes);
    return outside;
  }
  return world->word_at(memory, bytes, source);
}
void touch(const void* memory, std::size_t /*bytes*/, bool writes, SourceLine source) {
  if (world != nullptr && world->running != nullptr) world->touch(memory, writes, source);
}
bool await(Location& event, bool timed, bool (*done)(void*), void* context) {
  if (world == nullptr || world->running == nullptr) return done(context);
  return world->await(event, timed, done, context);
}
void notify(Location& event) {
  if (world != nullptr && world->running != nullptr) world->notify(event);
}
void meet(std::uint32_t team, std::uint32_t local_id, protocol::Point point, void* slot, Act act,
          void* context) {
  world->meet(team, local_id, point, slot, act, context);
}
void record(Trace what, std::uint32_t group, std::uint32_t active, std::uint64_t value) {
  if (world == nullptr || world->running == nullptr || world->draining) return;
  world->record({world->steps, what, group, active, value});
}

}  // namespace detail
}  // namespace cohort::explore
