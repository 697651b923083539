// Tasks of tasks_test and shared_engine_test.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

struct EmptyTask {
  static constexpr const char* name = "brief";
  template <class Visit>
  void arguments(Visit& /*visit*/) const {}

  COHORT_FN void operator()() const {}
};

/// Runs until it is told to go.
struct BlockingTask {
  std::uint32_t* go;

  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    hold(group, go);
  }
};

/// Its groups note themselves, and are all there at the same time.
struct MeetingTask {
  static constexpr const char* name = "meeting_task";
  std::uint32_t* arrived;
  std::uint32_t* wrong;

  template <class Visit>
  void arguments(Visit& visit) const {
    visit("arrived", arrived);
    visit("wrong", wrong);
  }
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    count(group, arrived);
    group.global_barrier();
    expect(group, wrong, load(group, arrived) == group.num_groups());
  }
};

/// Notes a number in each of its groups.
struct NotingTask {
  Notes notes;
  std::uint32_t number;  // or its id
  bool id;

  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    if (leader(group)) notes.add(group, id ? group.group_id() : number);
  }
};

/// Adds up how many groups of jobs it sees.
struct LookingTask {
  std::uint32_t* inside;
  std::uint32_t* others;

  template <class Group>
  COHORT_FN void operator()(Group& group) const {
    if (leader(group)) add(group, others, load(group, inside));
  }
};

/// A unit of its own, under the jobs' monitor.
struct MonitoredTask {
  std::uint32_t* monitor;  // as in Background
  std::uint32_t* calls;

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
