// Prints a schedule: its choices as a text from which it can be replayed, and its timeline.
#include <cctype>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "cohort/error.hpp"
#include "explore/impl.hpp"

namespace cohort::explore {

// The text of a schedule: numbers count usual choices, and letters are the other choices. "17B3C"
// means 17 usual choices, thread (or value) 1, 3 usual choices, thread 2.
std::string World::schedule() const {
  std::string text;
  std::uint32_t usual_ones = 0;
  const auto flush = [&] {
    if (usual_ones != 0) text += std::to_string(usual_ones);
    usual_ones = 0;
  };
  for (const std::uint8_t choice : choices()) {
    if (choice == usual) {
      ++usual_ones;
    } else {
      flush();
      text += static_cast<char>('A' + choice);
    }
  }
  flush();
  return text.empty() ? "0" : text;
}

void World::follow(const std::string& schedule) {
  std::vector<std::uint8_t> list;
  for (std::size_t i = 0; i < schedule.size();) {
    const char letter = schedule[i];
    if (letter >= 'A' && letter < static_cast<char>('A' + max_actors)) {
      list.push_back(static_cast<std::uint8_t>(letter - 'A'));
      ++i;
    } else if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      std::size_t length = 0;
      const unsigned long count = std::stoul(schedule.substr(i), &length);
      if (count > 1000000) throw Error{Errc::bad_options, "replay: '" + schedule + "' is too long"};
      list.insert(list.end(), count, usual);
      i += length;
    } else {
      throw Error{Errc::bad_options,
                  "replay: '" + schedule + "' is no schedule; copy it from a report, e.g. 17B3C"};
    }
  }
  follow(list);
}

void World::name(const detail::Location& location, std::string text,
                 std::string (*format)(std::uint64_t)) {
  if (impl_->logging) impl_->names[&location] = {std::move(text), format};
}
void World::name(const void* memory, std::size_t bytes, std::size_t element, std::string text,
                 Owner owner) {
  const char* const from = static_cast<const char*>(memory);
  impl_->regions.push_back({from, from + bytes, element, std::move(text), owner});
}

namespace {

std::string in_words(const detail::SourceLine& source) {
  if (source.file == nullptr) return {};
  const std::string_view path{source.file};
  return " (" + std::string{path.substr(path.find_last_of('/') + 1)} + ":" +
         std::to_string(source.line) + ")";
}

const char* in_words(Access access) {
  switch (access) {
    case Access::read: return "reads";
    case Access::write: return "writes";
    case Access::atomic_read: return "reads atomically";
    case Access::atomic_write: return "writes atomically";
  }
  return "?";
}

const char* in_words(Trace what) {
  switch (what) {
    case Trace::start: return "starts";
    case Trace::join: return "joins";
    case Trace::offer: return "offers itself";
    case Trace::kill: return "leaves in an offer";
    case Trace::fork: return "forks";
    case Trace::arrive: return "arrives at barrier";
    case Trace::resize: return "resizes from";
    case Trace::pass: return "passes the barrier into interval";
    case Trace::shed: return "leaves in the barrier";
    case Trace::finish: return "returns from the kernel";
    case Trace::fault: return "finds a fault";
  }
  return "?";
}

/// Whether `active` of such an event is M. It is not for an offer, an arrival or a return, at which
/// the group has not read M.
bool knows_active(Trace what) {
  return what != Trace::offer && what != Trace::arrive && what != Trace::finish &&
         what != Trace::fault;
}

std::string in_words(const TraceEvent& event) {
  std::string text = in_words(event.what);
  switch (event.what) {
    case Trace::fork: text += " " + std::to_string(event.value) + " more"; break;
    case Trace::arrive:
    case Trace::pass: text += " " + std::to_string(event.value); break;
    case Trace::resize:
      text += " " + std::to_string(event.value) + " to " + std::to_string(event.active);
      break;
    case Trace::join: text += " in interval " + std::to_string(event.value); break;
    default: break;
  }
  if (knows_active(event.what)) text += " (" + std::to_string(event.active) + " active)";
  return text;
}

}  // namespace

const World::Impl::Region* World::Impl::region_of(const void* memory) const {
  const char* const at = static_cast<const char*>(memory);
  for (const Region& region : regions) {
    if (at >= region.from && at < region.to) return &region;
  }
  return nullptr;
}

std::string World::Impl::name_of(const void* memory) const {
  const Region* const region = region_of(memory);
  if (region == nullptr) return "memory outside all buffers";
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(memory) - region->from);
  return region->text + "[" + std::to_string(offset / region->element) + "]";
}

std::string World::Impl::name_of(const Location& location) const {
  if (location.in_kernel) return name_of(reinterpret_cast<const Cell&>(location).memory);
  const auto found = names.find(&location);
  return found == names.end() ? "word " + std::to_string(location.slot) : found->second.text;
}

const Meeting* World::Impl::team_of(const Actor& actor) const {
  for (const Meeting& team : meetings) {
    if (actor.index - team.first < team.size) return &team;
  }
  return nullptr;
}

std::string World::Impl::name_of(const Actor& actor) const {
  if (actor.group == no_group || options.verbose) {
    return actor.what.empty() ? "thread " + std::to_string(actor.index) : actor.what;
  }
  std::string text = "group " + std::to_string(actor.group);
  const Meeting* const team = team_of(actor);
  if (team != nullptr && team->size > 1) {
    text += " thread " + std::to_string(actor.index - team->first);
  }
  return text;
}

std::string World::Impl::value_of(const Location& location, std::uint64_t value) const {
  const auto found = names.find(&location);
  const bool formats = found != names.end() && found->second.format != nullptr;
  return formats ? found->second.format(value) : std::to_string(value);
}

void World::Impl::log_access(const Location& location, std::string_view what, std::uint64_t value) {
  const auto found = names.find(&location);
  if (found != names.end() && found->second.text.empty()) return;
  std::string text = std::string{what} + " " + name_of(location) + ": " + value_of(location, value);
  if (!location.in_kernel) return note(std::move(text), World::Owner::protocol);
  note(std::move(text) + in_words(running->source));
}

void World::Impl::log_touch(const void* memory, Access access, detail::SourceLine source) {
  accessed[{memory, running->index, access}] = source;
  const Region* const region = region_of(memory);
  note(std::string{in_words(access)} + " " + name_of(memory) + in_words(source),
       region == nullptr ? World::Owner::kernel : region->owner);
}

void World::Impl::race(const void* memory, Access mine, std::uint32_t other, Access its) {
  const auto part = [&](const Actor& actor, Access access) {
    const auto found = accessed.find({memory, actor.index, access});
    return name_of(actor) + " " + in_words(access) +
           (found == accessed.end() ? std::string{} : in_words(found->second));
  };
  fail("race on " + name_of(memory) + ": " + part(*running, mine) + ", " +
       part(actors[other], its) + ", and nothing orders the two");
}

void World::Impl::note(std::string text, World::Owner owner) {
  if (draining || (owner == World::Owner::protocol && !options.verbose)) return;
  lines.push_back({running == nullptr ? std::string{} : name_of(*running), std::move(text)});
}

void World::log(bool on) { impl_->logging = on; }
bool World::logging() const { return impl_->logging; }
void World::note(std::string text) {
  if (impl_->logging) impl_->note(std::move(text));
}

std::string World::timeline() const {
  std::ostringstream out;
  // Maximum number of lines; the last ones are shown, because the end matters most.
  constexpr std::size_t most = 400;
  const auto& lines = impl_->lines;
  const std::size_t skipped = lines.size() > most ? lines.size() - most : 0;
  if (skipped != 0) out << "  ... " << skipped << " lines before\n";
  for (std::size_t i = skipped; i < lines.size(); ++i) {
    const bool same = i > skipped && lines[i].actor == lines[i - 1].actor;
    out << "  " << std::left << std::setw(18) << (same ? std::string{} : lines[i].actor)
        << lines[i].text << '\n';
  }
  return out.str();
}

std::string Result::text() const {
  std::ostringstream out;
  if (ok) {
    out << schedules << " schedules, " << (complete ? "all there are, " : "") << "nothing wrong";
    return out.str();
  }
  out << failure << "\n  found in schedule " << schedules;
  if (seed != 0) out << ", seed " << seed;
  out << "; replay it with \"" << replay << "\"\n" << timeline;
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Result& result) { return out << result.text(); }

void World::Impl::record(const TraceEvent& event) {
  events.push_back(event);
  if (tracer != nullptr) tracer->record(event);
  Actor& self = *running;
  const auto enters = [](Trace what) { return what == Trace::start || what == Trace::join; };
  const auto leaves = [](Trace what) {
    return what == Trace::kill || what == Trace::shed || what == Trace::finish ||
           what == Trace::fault;
  };
  if (const Meeting* const team = team_of(self); team != nullptr) {
    for (std::uint32_t i = 0; i < team->size; ++i) {
      Actor& each = actors[team->first + i];
      if (enters(event.what)) each.group = event.group;
      if (event.group == each.group) each.inside = !leaves(event.what);
    }
  }
  if (event.group == self.group) self.last = event;
  if (logging) {
    // A group may record an event of another group.
    const bool names_group = options.verbose || event.group != self.group;
    const std::string group = names_group ? "group " + std::to_string(event.group) + " " : "";
    note((options.verbose ? "** " : "") + group + in_words(event));
  }
  const bool shrinks =
      event.what == Trace::kill || (event.what == Trace::resize && event.active < event.value);
  const bool grows =
      event.what == Trace::fork || (event.what == Trace::resize && event.active > event.value);
  if (shrinks && event.active < least_wanted) {
    fail("M became " + std::to_string(event.active) +
         ", but the scheduler has never wanted fewer than " + std::to_string(least_wanted) +
         " groups");
  }
  if (grows && event.active > most_wanted) {
    fail("M became " + std::to_string(event.active) +
         ", but the scheduler has never wanted more than " + std::to_string(most_wanted) +
         " groups");
  }
  if (!checker) return;
  if (const auto wrong = checker->see(event)) fail(*wrong);
}

}  // namespace cohort::explore
