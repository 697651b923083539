// Tasks of tasks_test and shared_engine_test.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

struct EmptyTask {
  auto twin() const { return twin_of("tasks/empty_task"); }
  COHORT_FN void operator()() const {}
};

/// Runs until it is told to stop.
struct BlockingTask {
  std::uint32_t* go;

  auto twin() const { return twin_of("tasks/blocking_task", go); }
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    hold(group, go);
  }
};

/// Each of its groups counts itself, then waits for all others.
struct MeetingTask {
  std::uint32_t* arrived;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("tasks/meeting_task", arrived, wrong); }
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    count(group, arrived);
    group.global_barrier();
    expect(group, wrong, load(group, arrived) == group.num_groups());
  }
};

/// Each of its groups records a number.
struct NotingTask {
  Notes notes;
  std::uint32_t number;  // or the group's id
  bool id;

  auto twin() const { return twin_of("tasks/noting_task", notes.words, number, id); }
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    if (leader(group)) notes.add(group, id ? group.group_id() : number);
  }
};

/// Adds up the numbers of groups of jobs that it sees.
struct LookingTask {
  std::uint32_t* inside;
  std::uint32_t* others;

  auto twin() const { return twin_of("tasks/looking_task", inside, others); }
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    if (leader(group)) add(group, others, load(group, inside));
  }
};

/// A task that occupies a unit, and is counted by the same monitor as the jobs.
struct MonitoredTask {
  std::uint32_t* monitor;  // as in Background
  std::uint32_t* calls;

  auto twin() const { return twin_of("tasks/monitored_task", monitor, calls); }
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    if (!leader(group)) return;
    group.atomic(monitor[1]).fetch_max(group.atomic(monitor[0]).fetch_add(1U) + 1);
    add(group, calls, group.group_id() + 1);
    group.atomic(monitor[0]).fetch_sub(1U);
  }
};

using tasks_kernels =
    KernelList<EmptyTask, BlockingTask, MeetingTask, NotingTask, LookingTask, MonitoredTask>;

}  // namespace cohort::test
