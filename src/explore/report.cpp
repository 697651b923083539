// What is said about a schedule: its choices as a word to replay it by, and its timeline.
#include <cctype>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "cohort/error.hpp"
#include "explore/impl.hpp"

namespace cohort::explore {

// A schedule is written as counts of usual choices and letters for the others: "17B3C" is 17 usual
// ones, thread (or value) 1, 3 usual ones, thread 2.
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
void World::name(const void* memory, std::size_t bytes, std::size_t element, std::string text) {
  const char* const from = static_cast<const char*>(memory);
  impl_->regions.push_back({from, from + bytes, element, std::move(text)});
}

std::string World::Impl::name_of(const void* memory) const {
  const char* const at = static_cast<const char*>(memory);
  for (const Region& region : regions) {
    if (at < region.from || at >= region.to) continue;
    return region.text + "[" +
           std::to_string(static_cast<std::size_t>(at - region.from) / region.element) + "]";
  }
  return "memory";
}

std::string World::Impl::name_of(const Location& location) const {
  if (location.in_kernel) return name_of(reinterpret_cast<const Cell&>(location).memory);
  const auto found = names.find(&location);
  return found == names.end() ? "word " + std::to_string(location.slot) : found->second.text;
}

void World::Impl::log_access(const Location& location, std::string_view what, std::uint64_t value) {
  const auto found = names.find(&location);
  if (found != names.end() && found->second.text.empty()) return;
  const bool formats = found != names.end() && found->second.format != nullptr;
  note(std::string{what} + " " + name_of(location) + ": " +
       (formats ? found->second.format(value) : std::to_string(value)));
}

void World::Impl::note(const std::string& text) {
  if (draining) return;
  lines.push_back({running == nullptr ? max_actors : running->index, text});
}

void World::log(bool on) { impl_->logging = on; }
bool World::logging() const { return impl_->logging; }
void World::note(const std::string& text) {
  if (impl_->logging) impl_->note(text);
}

std::string World::timeline() const {
  std::ostringstream out;
  std::uint32_t last = max_actors + 1;
  std::size_t skipped = 0;
  constexpr std::size_t most = 400;  // the end is what matters
  const auto& lines = impl_->lines;
  if (lines.size() > most) skipped = lines.size() - most;
  if (skipped != 0) out << "  ... " << skipped << " lines before\n";
  for (std::size_t i = skipped; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const std::string who = line.actor != last && line.actor < max_actors
                                ? impl_->actors[line.actor].what
                                : std::string{};
    out << "  " << std::left << std::setw(18) << who << line.text << '\n';
    last = line.actor;
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

namespace {

const char* in_words(Trace what) {
  switch (what) {
    case Trace::start: return "starts";
    case Trace::join: return "joins";
    case Trace::offer: return "offers itself";
    case Trace::kill: return "is taken away";
    case Trace::fork: return "forks";
    case Trace::arrive: return "arrives at barrier";
    case Trace::resize: return "resizes from";
    case Trace::pass: return "passes the barrier into interval";
    case Trace::shed: return "is shed by the barrier";
    case Trace::finish: return "returns from the kernel";
    case Trace::fault: return "finds a fault";
  }
  return "?";
}

}  // namespace

void World::Impl::record(const TraceEvent& event) {
  events.push_back(event);
  if (tracer != nullptr) tracer->record(event);
  if (logging) {
    std::string text = "** group " + std::to_string(event.group) + " " + in_words(event.what);
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
    note(text + " (M " + std::to_string(event.active) + ")");
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
