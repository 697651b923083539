// Shared by the kernels of the conformance suite. The kernels run on every engine, so they are
// trivially copyable, keep all data in 32-bit words of the site's memory, and record mistakes
// there. Invariant: no GoogleTest and no host object here, because nvcc compiles this file.
#pragma once

#ifndef __CUDA_ARCH__
#include <thread>
#endif

#include <string>
#include <tuple>
#include <utility>

#include "cohort/kernel.hpp"

namespace cohort::explore {
class Threads;
}

namespace cohort::test {

/// The list of the kernels of a file. Each engine is compiled for this list.
template <class... Kernels>
struct KernelList {};

template <class Kernel>
consteval Traits traits_with(ResizingBarrier barrier) {
  Traits traits = cohort::detail::declared_traits<Kernel>();
  traits.barrier = barrier;
  return traits;
}
/// The kernel with a given resizing barrier. With the default barrier it is the kernel itself.
template <class Kernel, ResizingBarrier barrier>
using Meeting = std::conditional_t<barrier == ResizingBarrier::one_pass, Kernel,
                                   With<Kernel, traits_with<Kernel>(barrier)>>;

/// For a KernelList: the kernel with each of the resizing barriers.
template <class Kernel>
struct EachBarrier {};

/// Names the OpenCL C version of the kernel in kernels/<file>.cl as "<file>/<kernel>", and lists
/// its arguments. If the dialect cannot express a kernel, its `no_twin` says why.
template <class... Arguments>
std::pair<std::string, std::tuple<Arguments...>> twin_of(const char* name, Arguments... arguments) {
  return {name, {arguments...}};
}

/// True for the one thread of a group that records on its behalf.
template <class Group>
COHORT_FN bool leader(const Group& group) {
  return group.local_id() == 0;
}
template <class Group>
COHORT_FN std::uint32_t load(const Group& group, std::uint32_t* word) {
  return group.atomic(*word).load();
}
template <class Group>
COHORT_FN void add(const Group& group, std::uint32_t* word, std::uint32_t number = 1) {
  group.atomic(*word).fetch_add(number);
}
/// Counts once per group.
template <class Group>
COHORT_FN void count(const Group& group, std::uint32_t* word) {
  if (leader(group)) add(group, word);
}
template <class Group>
COHORT_FN void expect(const Group& group, std::uint32_t* wrong, bool right) {
  if (!right) add(group, wrong);
}
/// Reads a flag once for the whole group, because its threads must not see different values.
template <class Group>
COHORT_FN bool told(const Group& group, std::uint32_t* flag) {
  return group.broadcast(load(group, flag)) != 0;
}

/// Lets other groups run. In the explorer, any load of a word does so.
template <class Group>
COHORT_FN void pause(const Group& /*group*/) {
#ifdef __CUDA_ARCH__
  __nanosleep(100);
#else
  if constexpr (!std::is_same_v<typename Group::Threads, explore::Threads>)
    std::this_thread::yield();
#endif
}
/// Waits for a condition that is not part of the behaviour under test.
template <class Group, class Done>
COHORT_FN void hold_until(const Group& group, Done done) {
  while (!done()) pause(group);
}
/// Waits until the host or another group sets the flag.
template <class Group>
COHORT_FN void hold(const Group& group, std::uint32_t* flag) {
  hold_until(group, [&] { return load(group, flag) != 0; });
}

/// Numbers that groups record. The host reads them once the groups are out.
struct Notes {
  static constexpr std::uint32_t room = 1023;
  std::uint32_t* words;  // the count, then the numbers

  template <class Group>
  COHORT_FN void add(const Group& group, std::uint32_t number) const {
    const std::uint32_t at = group.atomic(words[0]).fetch_add(1U);
    if (at < room) group.view(words)[1 + at] = number;
  }
  template <class Group>
  COHORT_FN std::uint32_t size(const Group& group) const {
    return load(group, words);
  }
};

/// For each id, how many groups have left with it. A twin counts its group before an offer, and
/// takes this back if the group stays.
struct Leavers {
  static constexpr std::uint32_t most_ids = 64;
  std::uint32_t* words;

  template <class Group>
  COHORT_FN void add(const Group& group, std::uint32_t id) const {
    test::add(group, words + id);
  }
};

/// Records which ids are in use. Plain data is attached to each id, so that a thread sanitizer and
/// the explorer see whether successive holders are ordered.
struct Ids {
  static constexpr std::uint32_t most_ids = 64;
  enum : std::uint32_t { clashes, inside, most_inside, holders, size = holders + 2 * most_ids };
  std::uint32_t* words;

  /// A group begins to use its id.
  template <class Group>
  COHORT_FN void enter(const Group& group, std::uint32_t id) const {
    if (!leader(group)) return;
    if (id >= most_ids || group.atomic(words[holders + id]).fetch_add(1U) != 0) {
      test::add(group, words + clashes);
      return;
    }
    ++group.view(words)[holders + most_ids + id];
    group.atomic(words[most_inside]).fetch_max(group.atomic(words[inside]).fetch_add(1U) + 1);
  }
  /// The group stops using its id. Call before a primitive that may remove the group.
  template <class Group>
  COHORT_FN void exit(const Group& group, std::uint32_t id) const {
    if (!leader(group) || id >= most_ids) return;
    group.atomic(words[inside]).fetch_sub(1U);
    group.atomic(words[holders + id]).fetch_sub(1U);
  }
};

}  // namespace cohort::test
