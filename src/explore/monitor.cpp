#include "explore/monitor.hpp"

namespace cohort::explore {

void Monitor::begin(const Rules& rules) {
  rules_ = rules;
  holders_.assign(rules.max_groups, {});
}

std::string Monitor::check(const TraceEvent& event) {
  if (rules_.max_groups == 0) return {};
  const std::string group = "group " + std::to_string(event.group);
  if (event.what == Trace::fault) {
    if (event.group < holders_.size()) holders_[event.group] = {};
    return {};
  }
  if (event.group >= rules_.max_groups) {
    return "a group has the id " + std::to_string(event.group) + ", and there are at most " +
           std::to_string(rules_.max_groups);
  }
  Holder& holder = holders_[event.group];
  switch (event.what) {
    case Trace::start:
    case Trace::join:
      if (holder.in) return "two groups have the id " + std::to_string(event.group);
      if (rules_.dense && event.what == Trace::start && event.group >= event.active) {
        return group + " starts, but M is " + std::to_string(event.active);
      }
      holder = {.in = true,
                .arrived = false,
                .interval = event.what == Trace::join ? event.value : 0};
      break;
    case Trace::kill:
      if (!holder.in) return group + " is taken away, but was not there";
      if (rules_.dense && event.group != event.active) {
        return group + " is taken away, which leaves " + std::to_string(event.active) +
               " groups with a gap in their ids";
      }
      holder = {};
      break;
    case Trace::shed:
      if (!holder.in) return group + " is shed, but was not there";
      holder = {};
      break;
    case Trace::finish:
      if (!holder.in) return group + " returns, but was not there";
      holder = {};
      break;
    case Trace::fork:
      if (event.active > rules_.max_groups) {
        return group + " forks up to " + std::to_string(event.active) + " groups of at most " +
               std::to_string(rules_.max_groups);
      }
      break;
    case Trace::resize:
      if (event.active > rules_.max_groups) {
        return "a barrier lets " + std::to_string(event.active) + " groups go on, of at most " +
               std::to_string(rules_.max_groups);
      }
      break;
    case Trace::arrive: holder.arrived = true; break;
    case Trace::pass:
      holder.arrived = false;
      holder.interval = event.value;
      for (std::size_t id = 0; rules_.one_pass && id < holders_.size(); ++id) {
        const Holder& other = holders_[id];
        if (other.in && other.interval < event.value && !other.arrived) {
          return group + " passes the barrier into interval " + std::to_string(event.value) +
                 ", but group " + std::to_string(id) + " has not arrived at it";
        }
      }
      break;
    case Trace::offer:
    case Trace::fault: break;
  }
  return {};
}

}  // namespace cohort::explore
