// Memory: the values that a load may return, the happens-before relation, and races on plain
// memory.
// The model is C++'s without sequential consistency. Each word has a modification order. A load
// returns any value in this order that is not older than one that the thread knows of. Release and
// acquire operations pass knowledge on. Read-modify-writes see the latest value and continue the
// release sequence. A fence turns the relaxed reads before it into acquires, and the relaxed writes
// after it into releases.
#include <cstring>
#include <utility>

#include "explore/impl.hpp"

namespace cohort::explore {
namespace {

constexpr std::size_t history_length = 6;
constexpr std::uint32_t idle_limit = 6;

bool acquires(Order order) { return order == Order::acquire || order == Order::acq_rel; }
bool releases(Order order) { return order == Order::release || order == Order::acq_rel; }

}  // namespace

Word& World::Impl::word(const Location& location) {
  if (location.run == run) return words[location.slot];
  location.run = run;
  location.slot = words_used++;
  if (location.slot == words.size()) words.emplace_back();
  Word& fresh = words[location.slot];
  fresh.version = 0;
  fresh.watchers = 0;
  fresh.released = {};
  if (weak) {
    fresh.history.clear();
    fresh.history.push_back({.value = location.value, .version = 0, .released = {}, .seen = {}});
  }
  return fresh;
}

/// Updates a thread's knowledge after it has read a value that carries `released`.
void World::Impl::learn(Actor& self, const Clock& released, Order order) {
  (acquires(order) ? self.clock : self.unfenced).join(released);
}

void World::Impl::fence() {
  if (draining) return;
  Actor& self = *running;
  self.clock.join(self.unfenced);
  self.fenced = self.strong = self.clock;
  ++self.clock.at[self.index];
  if (logging) note("fence", World::Owner::protocol);
}

std::uint64_t World::Impl::load(const Location& location, Order order) {
  if (mode == Mode::peek) {
    word(location);
    seen.add(location.slot, false);
    return location.value;
  }
  Actor& self = *running;
  if (mode == Mode::poll) {
    Word& its = word(location);
    seen.add(location.slot, false);
    learn(self, its.released, order);
    if (logging) log_access(location, "polls", location.value);
    return location.value;
  }
  point(location, false);
  if (location.in_kernel) touch_atomically(location, false);
  if (draining) return location.value;
  if (self.idle_since != writes) {
    self.idle_since = writes;
    self.idle_loads = 0;
  }
  if (++self.idle_loads > idle_limit) lazy |= 1U << self.index;

  Word& its = words[location.slot];
  std::uint64_t value = location.value;
  std::uint32_t version = its.version;
  if (weak) {
    const Store& store = read_some(its, order);
    value = store.value;
    version = store.version;
  } else {
    learn(self, its.released, order);
  }
  ++self.clock.at[self.index];
  if (self.recording) self.read.emplace_back(location.slot, version);
  if (logging) log_access(location, value == location.value ? "reads" : "reads an old", value);
  stepped(outlook.next[self.index]);
  return value;
}

/// Returns a value that this thread cannot know to be outdated. A choice decides which one.
const Store& World::Impl::read_some(Word& its, Order order) {
  Actor& self = *running;
  const auto known = [&self, order](const Store& store) {
    for (std::uint32_t i = 0; i < max_actors; ++i) {
      if (store.seen[i] == 0) continue;
      if (self.clock.covers(i, store.seen[i])) return true;
      // A sleeping waiter announces its sleep, then checks its condition. If this check is more
      // than a relaxed load, it sees every write stronger than relaxed that came before the last
      // notification.
      if (order != Order::relaxed && self.notified.covers(i, store.seen[i])) return true;
    }
    return false;
  };
  std::uint32_t count = 1;
  for (std::size_t i = its.history.size() - 1; i > 0 && !known(its.history[i]); --i) ++count;
  const std::uint32_t age = self.latest_only ? 0 : choose(count);
  Store& store = its.history[its.history.size() - 1 - age];
  if (store.seen[self.index] == 0) store.seen[self.index] = self.clock.at[self.index];
  learn(self, store.released, order);
  return store;
}

void World::Impl::commit(Location& location, Word& its, std::uint64_t value, Order order,
                         bool update) {
  Actor& self = *running;
  ++its.version;
  ++writes;
  lazy = 0;
  stale |= its.watchers;
  location.value = value;
  if (!update)
    its.released = {};  // a plain store starts a new release sequence; an update continues it
  its.released.join(releases(order) ? self.clock : self.fenced);
  if (order != Order::relaxed) self.strong = self.clock;
  if (weak) {
    if (its.history.size() == history_length) its.history.erase(its.history.begin());
    its.history.push_back(
        {.value = value, .version = its.version, .released = its.released, .seen = {}});
    its.history.back().seen[self.index] = self.clock.at[self.index];
  }
  ++self.clock.at[self.index];
}

void World::Impl::store(Location& location, std::uint64_t value, Order order) {
  point(location, true);
  if (location.in_kernel) touch_atomically(location, true);
  if (draining) {
    location.value = value;
    return;
  }
  if (logging) log_access(location, "sets", value);
  commit(location, words[location.slot], value, order, false);
  stepped(outlook.next[running->index]);
}

std::uint64_t World::Impl::begin_update(Location& location) {
  point(location, true);
  if (location.in_kernel) touch_atomically(location, true);
  if (draining) return location.value;
  Actor& self = *running;
  Word& its = words[location.slot];
  if (weak) {
    Store& latest = its.history.back();
    if (latest.seen[self.index] == 0) latest.seen[self.index] = self.clock.at[self.index];
  }
  return location.value;
}

void World::Impl::end_update(Location& location, std::uint64_t value, Order order, bool changes) {
  if (draining) {
    location.value = value;
    return;
  }
  Actor& self = *running;
  Word& its = words[location.slot];
  Footprint touched;
  touched.add(location.slot, changes);
  if (changes) {
    learn(self, its.released, order);
    if (logging) log_access(location, "changes", value);
    commit(location, its, value, order, true);
  } else {
    learn(self, its.released, Order::relaxed);
    if (logging) log_access(location, "fails to swap", location.value);
    ++self.clock.at[self.index];
  }
  stepped(touched);
}

Cell& World::Impl::cell(const void* memory) {
  const auto hash = [this](const void* key) {
    return (reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15U >> 20U) &
           (table.size() - 1);
  };
  if (2 * (std::size_t{cells_used} + 1) > table.size()) {
    std::vector<std::uint32_t> larger(table.size() * 2, 0);
    std::swap(table, larger);
    for (const std::uint32_t entry : larger) {
      if (entry == 0) continue;
      std::size_t at = hash(cells[entry - 1].memory);
      while (table[at] != 0) at = (at + 1) & (table.size() - 1);
      table[at] = entry;
    }
  }
  std::size_t at = hash(memory);
  while (table[at] != 0) {
    if (cells[table[at] - 1].memory == memory) return cells[table[at] - 1];
    at = (at + 1) & (table.size() - 1);
  }
  if (cells_used == cells.size()) cells.emplace_back();
  Cell& fresh = cells[cells_used];
  fresh = Cell{};
  fresh.memory = memory;
  fresh.word.in_kernel = true;
  table[at] = ++cells_used;
  return fresh;
}

Location& World::Impl::word_at(const void* memory, std::size_t bytes, detail::SourceLine source) {
  running->source = source;
  Cell& its = cell(memory);
  its.bytes = bytes;
  if (its.word.run != run) std::memcpy(&its.word.value, memory, bytes);
  return its.word;
}

void World::Impl::touch(const void* memory, bool writes_it, detail::SourceLine source) {
  if (draining || stopping) return;
  const Access mine = writes_it ? Access::write : Access::read;
  if (logging) log_touch(memory, mine, source);
  Cell& its = cell(memory);
  const Actor& self = *running;
  const auto unordered = [&self](const std::array<std::uint32_t, max_actors>& when) {
    for (std::uint32_t i = 0; i < max_actors; ++i) {
      if (i != self.index && when[i] != 0 && !self.clock.covers(i, when[i])) return i;
    }
    return max_actors;
  };
  if (its.writer < max_actors && its.writer != self.index &&
      !self.clock.covers(its.writer, its.written)) {
    race(memory, mine, its.writer, Access::write);
    return;
  }
  if (const std::uint32_t other = unordered(its.swapped); other < max_actors) {
    race(memory, mine, other, Access::atomic_write);
    return;
  }
  const std::uint32_t now = self.clock.at[self.index];
  if (!writes_it) {
    its.read[self.index] = now;
    return;
  }
  if (const std::uint32_t other = unordered(its.read); other < max_actors) {
    race(memory, mine, other, Access::read);
    return;
  }
  if (const std::uint32_t other = unordered(its.loaded); other < max_actors) {
    race(memory, mine, other, Access::atomic_read);
    return;
  }
  its.writer = self.index;
  its.written = now;
  its.read = {};
}

void World::Impl::touch_atomically(const Location& location, bool writes_it) {
  Cell& its = const_cast<Cell&>(reinterpret_cast<const Cell&>(location));  // NOLINT: see Cell::word
  // A plain write changes only the memory itself, so the word has to be read from there.
  std::uint64_t now = 0;
  std::memcpy(&now, its.memory, its.bytes);
  if (now != its.word.value) {
    its.word.value = now;
    if (weak && its.word.run == run) {
      Word& word_of_it = words[its.word.slot];
      word_of_it.history.assign(
          1, {.value = now, .version = word_of_it.version, .released = {}, .seen = {}});
    }
  }
  if (draining || stopping) return;
  const Actor& self = *running;
  const Access mine = writes_it ? Access::atomic_write : Access::atomic_read;
  if (logging) accessed[{its.memory, self.index, mine}] = self.source;
  if (its.writer < max_actors && its.writer != self.index &&
      !self.clock.covers(its.writer, its.written)) {
    race(its.memory, mine, its.writer, Access::write);
    return;
  }
  if (!writes_it) {
    its.loaded[self.index] = self.clock.at[self.index];
    return;
  }
  for (std::uint32_t i = 0; i < max_actors; ++i) {
    if (i != self.index && its.read[i] != 0 && !self.clock.covers(i, its.read[i])) {
      race(its.memory, mine, i, Access::read);
      return;
    }
  }
  its.swapped[self.index] = self.clock.at[self.index];
}

}  // namespace cohort::explore
