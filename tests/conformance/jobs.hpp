// Kernels that tests of several kinds launch, and M as their host sees it.
#pragma once

#include "conformance/support.hpp"

namespace cohort::test {

/// Returns at once.
struct Brief {
  template <class Group>
  void run(Group& /*group*/, Nothing /*state*/) const {}
};

/// Runs until told to stop, cancelled or taken away; at every turn it offers itself.
struct Offering {
  struct State {
    std::uint32_t turn = 0;
  };
  const std::atomic<bool>* stop;
  std::atomic<std::uint32_t>* present;  // groups inside now

  template <class Group>
  void run(Group& group, State state) const {
    if (leader(group)) present->fetch_add(1);
    while (!told(group, *stop)) {
      ++state.turn;
      if (leave(group, state)) return;
      std::this_thread::yield();
    }
    if (leader(group)) present->fetch_sub(1);
  }

 private:
  template <class Group>
  bool leave(Group& group, const State& state) const {
    if (leader(group)) present->fetch_sub(1);
    if (group.offer(state)) return true;
    if (leader(group)) present->fetch_add(1);
    return false;
  }
};

/// Spends its time in setup: all groups but group 0 in a barrier there.
struct LongSetup {
  const std::atomic<bool>* go;
  std::atomic<std::uint32_t>* in_setup;
  const std::atomic<bool>* stop;

  template <class Group>
  void setup(Group& group) const {
    if (leader(group)) in_setup->fetch_add(1);
    if (group.group_id() == 0) hold_until([&] { return go->load(); });
    group.global_barrier();
  }
  template <class Group>
  void run(Group& group, Nothing state) const {
    while (!told(group, *stop)) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

/// M as the report tells it.
inline std::uint32_t groups_now(const Job& job) {
  const Report report = job.report();
  return report.sizes.empty() ? 0 : report.sizes.back().groups;
}

}  // namespace cohort::test
