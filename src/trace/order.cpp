// Reconstructs the order of the protocol's steps from the log of a real run.
//
// A group logs an arrival or a resize right before the step, and every other event right after its
// step. So the step of an event logged afterwards lies in a window: between the group's previous
// event and the event's own place in the log. Only kills and forks can be logged out of order in a
// way that matters, and M tells where they belong. Invariant: a legal run has an order in which
// every step is in its window, and one such order is found.
#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <unordered_set>

#include "cohort/trace_check.hpp"

namespace cohort {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

bool begins_stay(Trace what) { return what == Trace::start || what == Trace::join; }
bool ends_stay(Trace what) {
  return what == Trace::kill || what == Trace::shed || what == Trace::finish ||
         what == Trace::fault;
}

/// The log divided into stays: the events of one group, recorded by one worker, from its start or
/// join to its end. A group that removes another one together with itself also logs that group's
/// kill, after its own.
struct Stays {
  std::vector<std::size_t> stay;      // index: event. The stay to which it belongs
  std::vector<std::size_t> previous;  // index: event. The previous event of its stay, or none
  std::vector<std::size_t> next;      // index: event. The next event of its stay
  std::vector<std::size_t> first;     // index: stay. Its first event

  explicit Stays(std::span<const LoggedEvent> log)
      : stay(log.size()), previous(log.size(), none), next(log.size(), none) {
    struct Worker {
      std::size_t last = none;
      bool inside = false;
    };
    std::map<std::uint32_t, Worker> workers;
    std::vector<std::size_t> for_others;  // kills that a group logged for other groups
    for (std::size_t i = 0; i < log.size(); ++i) {
      Worker& worker = workers[log[i].worker];
      const Trace what = log[i].event.what;
      if (what == Trace::kill && worker.last != none && !worker.inside) {
        for_others.push_back(i);
        continue;
      }
      if (worker.last == none || begins_stay(what) || (!worker.inside && what == Trace::fault)) {
        begin(i);
      } else {
        append(stay[worker.last], i);
      }
      worker = {.last = i, .inside = !ends_stay(what)};
    }
    // Index: id. Stays that have not ended.
    std::map<std::uint32_t, std::deque<std::size_t>> endless;
    for (std::size_t each = 0; each < first.size(); ++each) {
      if (!ends_stay(log[last_[each]].event.what))
        endless[log[first[each]].event.group].push_back(each);
    }
    for (const std::size_t kill : for_others) {
      auto& stays = endless[log[kill].event.group];
      if (stays.empty() || first[stays.front()] > kill) {
        begin(kill);  // an event of no group; the checker will report it
      } else {
        append(stays.front(), kill);
        stays.pop_front();
      }
    }
  }

  /// Whether the step of `event`, the next event of its stay, may lie before place `at`.
  [[nodiscard]] bool open(std::size_t event, std::size_t at) const {
    return previous[event] != none && previous[event] < at;
  }

 private:
  void begin(std::size_t event) {
    stay[event] = first.size();
    first.push_back(event);
    last_.push_back(event);
  }
  void append(std::size_t to, std::size_t event) {
    stay[event] = to;
    previous[event] = last_[to];
    next[last_[to]] = event;
    last_[to] = event;
  }

  std::vector<std::size_t> last_;  // index: stay. Its last event
};

/// The value of M before a fork.
std::uint64_t before_fork(const TraceEvent& fork) { return fork.active - fork.value; }

/// For kill order highest first. Forks and resizes are logged in the order of their steps, and
/// between two of them M only falls: the highest group leaves first. So whenever an event contains
/// M, the kills that must have come before it are known, and no search is needed.
class HighestFirst {
 public:
  HighestFirst(std::span<const LoggedEvent> log, const TraceRules& rules, TraceChecker& checker)
      : log_(log),
        checker_(checker),
        stays_(log),
        done_(log.size()),
        holder_(rules.max_groups, none) {
    next_ = stays_.first;
  }

  std::optional<std::string> run() {
    for (std::size_t at = 0; at < log_.size() && !refusal_; ++at) {
      if (done_[at]) continue;
      const TraceEvent& event = log_[at].event;
      switch (event.what) {
        case Trace::kill: take(at, std::uint64_t{event.group} + 1); break;
        case Trace::fork: take(at, before_fork(event)); break;
        case Trace::resize: take(at, event.value); break;
        case Trace::pass:  // the first pass tells the M with which the barrier was released
          if (event.value != checker_.generation()) take(at, event.active);
          break;
        case Trace::finish: forks(at); break;  // no group forks after a return
        default: break;
      }
      see(at);
    }
    return refusal_;
  }

 private:
  void see(std::size_t event) {
    if (refusal_) return;
    done_[event] = true;
    next_[stays_.stay[event]] = stays_.next[event];
    const auto [nanoseconds, what, group, active, value, unit] = log_[event].event;
    refusal_ = checker_.see(log_[event].event);
    if (group >= holder_.size()) return;
    if (begins_stay(what)) {
      holder_[group] = stays_.stay[event];
      top_ = std::max<std::uint64_t>(top_, group + 1);
    } else if (ends_stay(what) && holder_[group] == stays_.stay[event]) {
      holder_[group] = none;
      while (top_ > 0 && holder_[top_ - 1] == none) --top_;
    }
  }

  /// Applies the kills, among the events before place `at`, of groups with ids of at least `bound`,
  /// highest first. A group that a barrier has removed may be above them: M no longer counts it.
  void take(std::size_t at, std::uint64_t bound) {
    for (std::uint64_t id = top_; id-- > bound && !refusal_;) {
      const std::size_t event = holder_[id] == none ? none : next_[holder_[id]];
      const bool killed = event != none && event != at && log_[event].event.what == Trace::kill &&
                          stays_.open(event, at);
      if (killed) {
        see(event);
      } else if (id < checker_.active()) {
        return;
      }
    }
  }

  /// Applies the forks that may have come before place `at`.
  void forks(std::size_t at) {
    std::vector<std::size_t> open;
    for (std::uint64_t id = 0; id < top_; ++id) {
      if (holder_[id] == none) continue;
      const std::size_t event = next_[holder_[id]];
      if (event == none || event < at || log_[event].event.what != Trace::fork) continue;
      if (stays_.open(event, at)) open.push_back(event);
    }
    std::sort(open.begin(), open.end());
    for (const std::size_t event : open) {
      take(at, before_fork(log_[event].event));
      see(event);
    }
  }

  std::span<const LoggedEvent> log_;
  TraceChecker& checker_;
  Stays stays_;
  std::vector<bool> done_;           // index: event. Whether it has been applied
  std::vector<std::size_t> next_;    // index: stay. Its next event that the checker has not seen
  std::vector<std::size_t> holder_;  // index: id. The stay that has it
  std::uint64_t top_ = 0;            // 1 + the highest id that a group has
  std::optional<std::string> refusal_;
};

/// For kill order any and one run of the job: finds an order of kills and forks in which each of
/// them finds the M that its event contains. Several orders may be possible, so this is a search,
/// but a narrow one. Forks are logged in the order of their steps. Of two kills that leave the same
/// M, the one whose window ends first may always go first.
class AnyOrder {
 public:
  struct Step {
    std::size_t event;
    std::size_t deadline;  // the step has to come before the event at this place
  };

  AnyOrder(std::span<const LoggedEvent> log, const Stays& stays, std::size_t begin, std::size_t end)
      : log_(log), active_(log[begin].event.active) {
    std::size_t finish = none;
    for (std::size_t i = begin; i < end && finish == none; ++i) {
      if (log[i].event.what == Trace::finish) finish = i;
    }
    for (std::size_t i = begin; i < end; ++i) {
      const Trace what = log[i].event.what;
      if (what != Trace::kill && what != Trace::fork) continue;
      const std::size_t opens = stays.previous[i] == none ? begin : stays.previous[i];
      const bool before_finish = what == Trace::fork && finish != none && opens < finish;
      ops_.push_back({.event = i,
                      .opens = opens,
                      .deadline = before_finish ? std::min(i, finish) : i,
                      .mix = mix(i)});
    }
    std::sort(ops_.begin(), ops_.end(), [](const Op& a, const Op& b) {
      return std::pair{a.deadline, a.event} < std::pair{b.deadline, b.event};
    });
    by_opening_.resize(ops_.size());
    for (std::size_t i = 0; i < ops_.size(); ++i) by_opening_[i] = i;
    std::sort(by_opening_.begin(), by_opening_.end(),
              [this](std::size_t a, std::size_t b) { return ops_[a].opens < ops_[b].opens; });
    link();
  }

  /// Returns the order, or as much of it as exists: the next step then does not fit.
  std::vector<Step> find() {
    std::vector<Step> longest;
    struct Choice {
      std::size_t chosen;
      std::size_t other;
    };
    std::vector<Choice> path;
    std::size_t first = 0;  // among the ops not yet done, the one with the earliest deadline
    while (path.size() < ops_.size()) {
      while (done(first)) ++first;
      auto [one, other] = failed_.count(key_) != 0 ? std::pair{none, none} : options(first);
      while (one == none) {  // go back to the last alternative
        if (path.size() > longest.size()) {
          longest.clear();
          for (const Choice& each : path) longest.push_back(step(each.chosen));
        }
        failed_.insert(key_);
        if (path.empty()) return longest;
        const Choice last = path.back();
        path.pop_back();
        undo(last.chosen);
        first = std::min(first, last.chosen);
        one = last.other;
        other = none;
      }
      apply(one);
      path.push_back({one, other});
    }
    longest.clear();
    for (const Choice& each : path) longest.push_back(step(each.chosen));
    return longest;
  }

 private:
  struct Op {
    std::size_t event;
    std::size_t opens;     // the op's step comes after this event
    std::size_t deadline;  // the op's step comes before this event
    std::uint64_t mix;     // a random number; their XOR identifies the set of ops that are done
    std::size_t before = none;
    std::size_t after = none;
    bool done = false;
  };

  [[nodiscard]] const TraceEvent& event(std::size_t op) const { return log_[ops_[op].event].event; }
  [[nodiscard]] bool done(std::size_t op) const { return ops_[op].done; }
  [[nodiscard]] Step step(std::size_t op) const { return {ops_[op].event, ops_[op].deadline}; }

  static std::uint64_t mix(std::uint64_t x) {
    x = (x + 1) * 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }

  /// Links the ops that are not done, in the order in which their windows open. An op that is taken
  /// out can be put back in its place.
  void link() {
    std::size_t last = none;
    for (const std::size_t op : by_opening_) {
      ops_[op].before = last;
      (last == none ? head_ : ops_[last].after) = op;
      last = op;
    }
  }

  /// The ops that can come next, one kill and one fork, with the more urgent one first.
  [[nodiscard]] std::pair<std::size_t, std::size_t> options(std::size_t first) const {
    std::size_t kill = none;
    std::size_t fork = none;
    for (std::size_t op = head_; op != none && ops_[op].opens < ops_[first].deadline;
         op = ops_[op].after) {
      if (event(op).what == Trace::kill) {
        if (event(op).active + std::uint64_t{1} == active_) kill = std::min(kill, op);
      } else {
        if (fork == none || ops_[op].event < ops_[fork].event) fork = op;
      }
    }
    if (fork != none && before_fork(event(fork)) != active_) fork = none;
    return {std::min(kill, fork), kill == none || fork == none ? none : std::max(kill, fork)};
  }

  void apply(std::size_t op) {
    Op& it = ops_[op];
    it.done = true;
    (it.before == none ? head_ : ops_[it.before].after) = it.after;
    if (it.after != none) ops_[it.after].before = it.before;
    key_ ^= it.mix;
    active_ = event(op).active;
  }

  void undo(std::size_t op) {
    Op& it = ops_[op];
    it.done = false;
    (it.before == none ? head_ : ops_[it.before].after) = op;
    if (it.after != none) ops_[it.after].before = op;
    key_ ^= it.mix;
    active_ = event(op).what == Trace::kill ? event(op).active + std::uint64_t{1}
                                            : before_fork(event(op));
  }

  std::span<const LoggedEvent> log_;
  std::vector<Op> ops_;  // in order of their deadlines
  std::vector<std::size_t> by_opening_;
  std::size_t head_ = none;
  std::uint64_t active_;   // the current M
  std::uint64_t key_ = 0;  // identifies the set of ops that are done
  std::unordered_set<std::uint64_t> failed_;
};

std::optional<std::string> check_any_order(std::span<const LoggedEvent> log,
                                           TraceChecker& checker) {
  const Stays stays{log};
  // The first events of the job's runs. A run starts only when everything of the previous run has
  // been logged.
  std::vector<std::size_t> runs;
  std::uint64_t inside = 0;
  bool over = true;
  bool emptied = false;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const Trace what = log[i].event.what;
    if (what == Trace::start && over) {
      runs.push_back(i);
      over = emptied = false;
    }
    inside += begins_stay(what) ? 1 : 0;
    if (ends_stay(what) && inside > 0) --inside;
    emptied = emptied || (what == Trace::kill && log[i].event.active == 0);
    over = over || (emptied && inside == 0);
  }
  std::vector<AnyOrder::Step> steps;
  std::vector<bool> placed(log.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::size_t end = run + 1 < runs.size() ? runs[run + 1] : log.size();
    for (const AnyOrder::Step& step : AnyOrder{log, stays, runs[run], end}.find()) {
      steps.push_back(step);
      placed[step.event] = true;
    }
  }
  // A step that precedes an urgent step is just as urgent.
  for (std::size_t i = steps.size(); i-- > 1;) {
    steps[i - 1].deadline = std::min(steps[i - 1].deadline, steps[i].deadline);
  }
  auto step = steps.begin();
  for (std::size_t at = 0; at < log.size(); ++at) {
    for (; step != steps.end() && step->deadline <= at; ++step) {
      if (auto refusal = checker.see(log[step->event].event)) return refusal;
    }
    if (placed[at]) continue;
    if (auto refusal = checker.see(log[at].event)) return refusal;
  }
  return {};
}

}  // namespace

std::optional<std::string> check_trace(std::span<const LoggedEvent> log, const TraceRules& rules,
                                       std::optional<Status> status) {
  TraceChecker checker{rules};
  auto refusal = rules.kill_order == KillOrder::any ? check_any_order(log, checker)
                                                    : HighestFirst{log, rules, checker}.run();
  if (refusal) return refusal;
  return status ? checker.end(*status) : checker.end();
}

}  // namespace cohort
