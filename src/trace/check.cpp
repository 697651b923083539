// Checks a trace by the rules of appendix A of the paper, one event at a time.
#include "cohort/trace_check.hpp"

namespace cohort {
namespace {

constexpr std::uint32_t gen_mask = (1U << 30U) - 1U;  // as many bits as the roster's counter has

constexpr std::uint32_t next_gen(std::uint32_t gen) { return (gen + 1) & gen_mask; }

const char* verb(Trace what) {
  switch (what) {
    case Trace::start: return "starts";
    case Trace::join: return "joins";
    case Trace::offer: return "offers itself";
    case Trace::kill: return "leaves in offer_kill";
    case Trace::fork: return "forks";
    case Trace::arrive: return "arrives at a barrier";
    case Trace::resize: return "resizes";
    case Trace::pass: return "passes a barrier";
    case Trace::shed: return "leaves in a resizing barrier";
    case Trace::finish: return "returns";
    case Trace::fault: return "is ended by a fault";
  }
  return "does something unknown";
}

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

TraceChecker::TraceChecker(const TraceRules& rules) : rules_(rules), holders_(rules.max_groups) {}

void TraceChecker::reset() {
  events_ = 0;
  runs_ = 0;
  begin_run();
}

void TraceChecker::begin_run() {
  for (Holder& holder : holders_) holder = {};
  started_ = active_ = settled_ = gen_ = arrived_ = forked_ = 0;
  inside_ = leaving_ = finished_ = unnamed_ = 0;
  faulted_ = emptied_ = kept_ = false;
}

std::string TraceChecker::refuse(const TraceEvent& event, const std::string& why) const {
  return "event " + number(events_) + ", group " + number(event.group) + " " + verb(event.what) +
         ": " + why;
}

std::string TraceChecker::out_of_place(const TraceEvent& event) const {
  const Holder& holder = holders_[event.group];
  if (holder.due == Due::start) return refuse(event, "it has not started yet");
  if (holder.due == Due::join) return refuse(event, "it has not joined yet");
  switch (holder.phase) {
    case Phase::absent: return refuse(event, "no such group is active: it has left or never was");
    case Phase::running: return refuse(event, "it is in the kernel, not in a barrier");
    case Phase::waiting: return refuse(event, "it waits in barrier " + number(holder.gen));
    case Phase::leaving:
    case Phase::parting: return refuse(event, "a resizing barrier has sent it away");
    case Phase::finished: return refuse(event, "it has returned");
    case Phase::abandoned: return refuse(event, "a fault has ended it");
  }
  return refuse(event, "it is nowhere");
}

std::string TraceChecker::too_early(const TraceEvent& event) const {
  std::string missing;
  for (std::uint32_t id = 0; id < holders_.size(); ++id) {
    const Holder& holder = holders_[id];
    const bool there = holder.phase == Phase::waiting && holder.gen == gen_;
    const bool counts = holder.phase != Phase::absent && holder.phase != Phase::leaving &&
                        holder.phase != Phase::parting;
    if (counts && !there) missing = missing.empty() ? ", for one group " + number(id) : missing;
  }
  return refuse(event, number(arrived_) + " of " + number(active_) +
                           " active groups have arrived at barrier " + number(gen_) +
                           "; others have not" + missing);
}

TraceChecker::Refusal TraceChecker::see(const TraceEvent& event) {
  ++events_;
  if (event.group >= rules_.max_groups) {
    return event.group == ~0U ? refuse(event, "it has left")
                              : refuse(event, "ids are below N = " + number(rules_.max_groups));
  }
  switch (event.what) {
    case Trace::start: return start(event);
    case Trace::join: return join(event);
    case Trace::offer:
      if (!is(event, Phase::running)) return out_of_place(event);
      return {};
    case Trace::kill: return kill(event);
    case Trace::fork: return fork(event);
    case Trace::arrive: return arrive(event);
    case Trace::resize: return resize(event);
    case Trace::pass: return pass(event);
    case Trace::shed: return shed(event);
    case Trace::finish: return finish(event);
    case Trace::fault: return fault(event);
  }
  return refuse(event, "there is no such event");
}

void TraceChecker::admit(std::uint32_t id, Phase phase, Due due) {
  holders_[id] = {.phase = phase, .due = due, .gen = gen_};
  ++inside_;
}

TraceChecker::Refusal TraceChecker::start(const TraceEvent& event) {
  if (emptied_ && kept_) begin_run();
  if (started_ == 0 && !emptied_) {
    if (event.value < 1 || event.value > rules_.max_groups) {
      return refuse(event, number(event.value) + " groups start; N = " + number(rules_.max_groups));
    }
    const auto groups = static_cast<std::uint32_t>(event.value);
    if (runs_ == 0 && rules_.start_groups && groups != *rules_.start_groups) {
      return refuse(event, number(groups) + " groups start, not " + number(*rules_.start_groups));
    }
    ++runs_;
    started_ = active_ = settled_ = groups;
    for (std::uint32_t id = 0; id < groups; ++id) {
      // A fault may have ended a group while it waited for the others.
      if (holders_[id].phase == Phase::absent) admit(id, Phase::running, Due::start);
    }
  }
  Holder& holder = holders_[event.group];
  if (holder.due != Due::start) {
    return refuse(event, emptied_ ? "the job has ended" : "it is not one of the first groups");
  }
  if (event.value != started_ || event.active != started_) {
    return refuse(event, "it saw " + number(event.active) + " groups at the start; others saw " +
                             number(started_));
  }
  holder.due = Due::nothing;
  return {};
}

TraceChecker::Refusal TraceChecker::join(const TraceEvent& event) {
  Holder& holder = holders_[event.group];
  if (rules_.kill_order == KillOrder::any && unnamed_ > 0) {
    if (holder.phase != Phase::absent) return refuse(event, "another group has this id");
    --unnamed_;
    admit(event.group, Phase::running, Due::join);
  }
  if (holder.due != Due::join) return refuse(event, "no group has forked it");
  if (event.value != holder.gen) {
    return refuse(
        event, "in generation " + number(event.value) + "; it was forked in " + number(holder.gen));
  }
  const std::uint32_t least = rules_.kill_order == KillOrder::any ? 1 : event.group + 1;
  // A barrier may already have removed a group that it forked: then M is not above its id.
  if (holder.phase != Phase::leaving && (event.active < least || event.active > rules_.max_groups))
    return refuse(event, "it saw M = " + number(event.active) + ", which cannot be with its id");
  holder.due = Due::nothing;
  return {};
}

TraceChecker::Refusal TraceChecker::empty(const TraceEvent& event) {
  if (event.value == 0 && rules_.survivors != Survivors::may_all_leave) {
    return refuse(event,
                  "the last group may leave only when the job's state is kept for a suspend");
  }
  kept_ = event.value != 0;
  return {};
}

TraceChecker::Refusal TraceChecker::kill(const TraceEvent& event) {
  if (event.active != 0 && event.value != 0) {
    return refuse(event, "only the last group leaves the job's state behind");
  }
  if (is(event, Phase::parting)) {
    for (std::uint32_t id = event.group + 1; id < holders_.size(); ++id) {
      if (holders_[id].phase == Phase::leaving || holders_[id].phase == Phase::parting) {
        return refuse(event, "group " + number(id) + " has to leave before it");
      }
    }
    if (event.active != event.group) {
      return refuse(event, "it left M = " + number(event.active) + " behind, not its id");
    }
    --leaving_;
    if (event.group == 0) {
      if (auto refusal = empty(event)) return refusal;
    }
  } else {
    if (!is(event, Phase::running)) return out_of_place(event);
    if (rules_.kill_order == KillOrder::highest_first && event.group != active_ - 1) {
      return refuse(event, "only the highest group, " + number(active_ - 1) + ", may");
    }
    if (event.active != active_ - 1) {
      return refuse(event,
                    "it left M = " + number(event.active) + " behind; M was " + number(active_));
    }
    if (active_ == 1) {
      if (auto refusal = empty(event)) return refusal;
    }
    --active_;
  }
  holders_[event.group] = {};
  --inside_;
  emptied_ = active_ == 0 && inside_ == 0;
  return {};
}

TraceChecker::Refusal TraceChecker::fork(const TraceEvent& event) {
  const bool in_barrier = is(event, Phase::waiting) && holders_[event.group].gen == gen_;
  if (!in_barrier && !is(event, Phase::running)) return out_of_place(event);
  if (in_barrier && !all_arrived()) return too_early(event);
  if (event.value < 1 || event.value > rules_.max_groups - active_) {
    return refuse(event, number(event.value) + " groups in addition to M = " + number(active_) +
                             "; N = " + number(rules_.max_groups));
  }
  const auto joiners = static_cast<std::uint32_t>(event.value);
  if (event.active != active_ + joiners) {
    return refuse(event, number(joiners) + " groups make M = " + number(event.active) + "; M was " +
                             number(active_));
  }
  if (finished_ > 0) return refuse(event, "a group has returned: no group may join any more");
  if (leaving_ > 0) return refuse(event, "groups that a barrier has sent away are still there");
  if (rules_.kill_order == KillOrder::any) {
    unnamed_ += joiners;
  } else {
    for (std::uint32_t id = active_; id < active_ + joiners; ++id) {
      admit(id, in_barrier ? Phase::waiting : Phase::running, Due::join);
    }
  }
  active_ += joiners;
  if (in_barrier) {
    arrived_ += joiners;
    forked_ += joiners;
  }
  return {};
}

TraceChecker::Refusal TraceChecker::arrive(const TraceEvent& event) {
  if (!is(event, Phase::running)) return out_of_place(event);
  Holder& holder = holders_[event.group];
  if (event.value != holder.gen || holder.gen != gen_) {
    return refuse(event, "at barrier " + number(event.value) + "; it has passed " +
                             number(holder.gen) + ", and the others stand at " + number(gen_));
  }
  holder.phase = Phase::waiting;
  ++arrived_;
  return {};
}

void TraceChecker::release() {
  gen_ = next_gen(gen_);
  settled_ = active_;
  arrived_ = 0;
  forked_ = 0;
}

TraceChecker::Refusal TraceChecker::resize(const TraceEvent& event) {
  if (!is(event, Phase::waiting)) return out_of_place(event);
  if (holders_[event.group].gen != gen_) return refuse(event, "its barrier has been released");
  if (!all_arrived()) return too_early(event);
  if (event.value != active_) {
    return refuse(event, "from M = " + number(event.value) + "; M was " + number(active_));
  }
  const std::uint32_t joiners = event.active > active_ ? event.active - active_ : 0;
  const Resizing resizing{
      .before = active_ - forked_, .after = event.active, .forked = forked_ + joiners};
  // M = 0 is outside the model. Whether it is legal is decided when group 0 leaves.
  if (event.active != 0 && !modelled_allows(resizing, rules_.max_groups)) {
    return refuse(event, "to M = " + number(event.active) +
                             "; it may be 1 to N = " + number(rules_.max_groups));
  }
  if (joiners > 0 && leaving_ > 0) {
    return refuse(event, "groups that a barrier has sent away are still there");
  }
  for (std::uint32_t id = event.active; id < active_; ++id) holders_[id].phase = Phase::leaving;
  if (event.active < active_) leaving_ += active_ - event.active;
  const std::uint32_t before = active_;
  active_ = event.active;
  release();
  for (std::uint32_t id = before; id < active_; ++id) admit(id, Phase::running, Due::join);
  return {};
}

TraceChecker::Refusal TraceChecker::pass(const TraceEvent& event) {
  const bool leaves = is(event, Phase::leaving);
  if (!leaves && !is(event, Phase::waiting)) return out_of_place(event);
  Holder& holder = holders_[event.group];
  if (event.value != next_gen(holder.gen)) {
    return refuse(event, "it comes out in generation " + number(event.value) + " of barrier " +
                             number(holder.gen));
  }
  if (holder.gen == gen_) {
    if (!all_arrived()) return too_early(event);
    release();
  }
  if (event.active != settled_) {
    return refuse(event, "with M = " + number(event.active) + "; the barrier was released with " +
                             number(settled_));
  }
  holder.gen = next_gen(holder.gen);
  holder.phase = leaves ? Phase::parting : Phase::running;
  return {};
}

TraceChecker::Refusal TraceChecker::shed(const TraceEvent& event) {
  if (is(event, Phase::waiting) || is(event, Phase::running)) {
    return refuse(event, "M is " + number(active_) + ": only groups from there on may");
  }
  if (!is(event, Phase::leaving)) return out_of_place(event);
  if (event.active > event.group) {
    return refuse(event, "it saw M = " + number(event.active) + ", which keeps it");
  }
  if (event.group == 0) {
    if (auto refusal = empty(event)) return refusal;
  }
  holders_[event.group] = {};
  --leaving_;
  --inside_;
  emptied_ = active_ == 0 && inside_ == 0;
  return {};
}

TraceChecker::Refusal TraceChecker::finish(const TraceEvent& event) {
  if (!is(event, Phase::running)) return out_of_place(event);
  holders_[event.group].phase = Phase::finished;
  ++finished_;
  --inside_;
  return {};
}

TraceChecker::Refusal TraceChecker::fault(const TraceEvent& event) {
  if (emptied_ && kept_) begin_run();
  Holder& holder = holders_[event.group];
  switch (holder.phase) {
    case Phase::finished:
    case Phase::abandoned: return out_of_place(event);
    case Phase::absent:
      if (unnamed_ > 0) {
        --unnamed_;
      } else if (started_ != 0 || emptied_) {
        return out_of_place(event);
      }  // otherwise the job ended before the first groups could record their start
      break;
    case Phase::leaving:
    case Phase::parting: --leaving_; [[fallthrough]];
    case Phase::running:
    case Phase::waiting: --inside_; break;
  }
  // An arrival stays in the count: the barrier may have been released before the fault.
  holder.phase = Phase::abandoned;
  holder.due = Due::nothing;
  faulted_ = true;
  return {};
}

std::optional<std::string> TraceChecker::end() const {
  if (unnamed_ > 0) return "at the end, " + number(unnamed_) + " forked groups have never joined";
  if (inside_ == 0) return {};
  for (std::uint32_t id = 0; id < holders_.size(); ++id) {
    const std::string group = "at the end, group " + number(id);
    if (holders_[id].due == Due::start) return group + " has never started";
    if (holders_[id].due == Due::join) return group + " has never joined";
    switch (holders_[id].phase) {
      case Phase::running: return group + " is still in the kernel";
      case Phase::waiting: return group + " still waits in barrier " + number(holders_[id].gen);
      case Phase::leaving:
      case Phase::parting: return group + ", sent away by a barrier, has not left";
      default: break;
    }
  }
  return "at the end, a group is lost";
}

std::optional<std::string> TraceChecker::end(Status status) const {
  if (auto refusal = end()) return refusal;
  const bool untouched = runs_ == 0 && !faulted_;
  switch (status) {
    case Status::finished:
      if (faulted_) return "the job has finished, but a fault has ended a group";
      if (finished_ == 0) return "the job has finished, but no group has returned";
      break;
    case Status::left:
      if (!emptied_ || kept_) return "the job was left, but not all its groups have left";
      break;
    case Status::suspended:
      if (!untouched && (!emptied_ || !kept_)) {
        return "the job is suspended, but its groups did not leave with its state kept";
      }
      break;
    case Status::pending:
    case Status::running:
    case Status::cancelled:
    case Status::failed: break;
  }
  return {};
}

}  // namespace cohort
