// Kernels of groups_test: what a group knows about itself, and setup.
#pragma once

#include "conformance/kernels/words.hpp"

namespace cohort::test {

/// Each thread checks its numbers and marks its items.
struct Numbered {
  std::uint32_t groups;
  std::uint32_t threads;
  std::uint32_t* marks;  // plain, because no two threads may have the same item
  std::uint32_t items;
  std::uint32_t* global_ids;
  std::uint32_t* wrong;

  auto twin() const {
    return twin_of("groups/numbered", groups, threads, marks, items, global_ids, wrong);
  }
  template <class Group>
  COHORT_FN void run(Group& group, Nothing /*state*/) const {
    expect(group, wrong, group.num_groups() == groups);
    expect(group, wrong, group.max_groups() == groups);
    expect(group, wrong, group.group_id() < groups);
    expect(group, wrong, group.local_size() == threads);
    expect(group, wrong, group.local_id() < threads);
    expect(group, wrong,
           group.global_id() == std::size_t{group.group_id()} * threads + group.local_id());
    expect(group, wrong, group.global_size() == std::size_t{groups} * threads);
    expect(group, wrong, !group.joined());
    ++group.view(global_ids)[group.global_id()];
    for (const std::size_t i : group.stride(items)) ++group.view(marks)[i];
    std::uint32_t mine = 0;
    for (const std::size_t i : group.local_stride(items))
      mine += i % threads == group.local_id() ? 1 : 0;
    expect(group, wrong, mine == (items + threads - 1 - group.local_id()) / threads);
  }
};

/// The first groups fill a table together. Every group that runs must find the table complete.
struct Prepared {
  std::uint32_t* table;  // plain, one entry per first group
  std::uint32_t first_groups;
  std::uint32_t* stop;
  Notes set_up;
  Notes ran;
  std::uint32_t* wrong;

  auto twin() const {
    return twin_of("groups/prepared", table, first_groups, stop, set_up.words, ran.words, wrong);
  }
  template <class Group>
  COHORT_FN void setup(Group& group) const {
    expect(group, wrong, group.num_groups() == first_groups && !group.joined());
    if (leader(group)) {
      set_up.add(group, group.group_id());
      group.view(table)[group.group_id()] = 1;
    }
    group.global_barrier();
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < first_groups; ++i) sum += group.view(table)[i];
    expect(group, wrong, sum == first_groups);
    group.global_barrier();
    if (leader(group)) group.view(table)[group.group_id()] = 2;
  }

  template <class Group>
  COHORT_FN void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < first_groups; ++i)
      expect(group, wrong, group.view(table)[i] == 2);
    if (leader(group)) ran.add(group, group.group_id());
    while (!told(group, stop)) {
      if (group.offer(state)) return;
      pause(group);
    }
  }
};
struct PreparedInAnyOrder : Prepared {
  static constexpr Traits traits{.kill_order = KillOrder::any};
  static constexpr const char* no_twin =
      "the dialect has no setup, and in kill order any no barriers outside of one";
};

struct PreparedSteps {
  static constexpr std::uint32_t items = 100;
  std::uint32_t* table;
  std::uint32_t* wrong;

  auto twin() const { return twin_of("groups/prepared_steps", table, wrong); }
  template <class Group>
  COHORT_FN void setup(Group& group) const {
    for (const std::size_t i : group.stride(items)) group.view(table)[i] = 1;
  }
  template <class Group>
  COHORT_FN Next step(Group& group, Nothing& /*state*/) const {
    for (std::uint32_t i = 0; i < items; ++i) expect(group, wrong, group.view(table)[i] == 1);
    return Next::halt;
  }
};

using groups_kernels = KernelList<Numbered, Prepared, PreparedInAnyOrder, PreparedSteps>;

}  // namespace cohort::test
