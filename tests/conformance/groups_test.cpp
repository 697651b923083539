// What a group knows about itself, and what only the first groups of a job do: setup.
#include "conformance/support.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::ElementsAreArray;

// ---- what a group knows

template <class Engine>
class Group : public testing::Test {};
TYPED_TEST_SUITE(Group, Engines, EngineNames);

/// Each thread checks its numbers and marks its items.
struct Numbered {
  std::uint32_t groups;
  std::uint32_t threads;
  std::uint32_t* marks;  // plain: no two threads may have the same item
  std::uint32_t items;
  std::uint32_t* global_ids;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void run(Group& group, Nothing /*state*/) const {
    const auto expect = [&](bool right) { wrong->fetch_add(right ? 0 : 1); };
    expect(group.num_groups() == groups);
    expect(group.max_groups() == groups);
    expect(group.group_id() < groups);
    expect(group.local_size() == threads);
    expect(group.local_id() < threads);
    expect(group.global_id() == std::size_t{group.group_id()} * threads + group.local_id());
    expect(group.global_size() == std::size_t{groups} * threads);
    expect(!group.joined());
    ++global_ids[group.global_id()];
    for (const std::size_t i : group.stride(items)) ++marks[i];
    std::uint32_t mine = 0;
    for (const std::size_t i : group.local_stride(items))
      mine += i % threads == group.local_id() ? 1 : 0;
    expect(mine == (items + threads - 1 - group.local_id()) / threads);
  }
};

TYPED_TEST(Group, IdsSizesAndStridesCoverEverythingOnce) {
  TypeParam engine{{.capacity = capacity}};
  for (const bool resizable : {true, false}) {
    for_each_shape([&](Shape shape) {
      for (const std::uint32_t items : {0U, 1U, 7U, 1000U}) {
        std::vector<std::uint32_t> marks(items);
        std::vector<std::uint32_t> global_ids(std::size_t{shape.groups} * shape.local_size);
        std::atomic<std::uint32_t> wrong{0};
        const ScopedJob job = engine.launch(
            Numbered{shape.groups, shape.local_size, marks.data(), items, global_ids.data(),
                     &wrong},
            {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
        EXPECT_EQ(job.wait().status, Status::finished);
        EXPECT_EQ(wrong, 0U);
        EXPECT_THAT(marks, Each(1U));
        EXPECT_THAT(global_ids, Each(1U));
      }
    });
  }
}

// ---- setup

template <class Engine>
class Setup : public testing::Test {};
TYPED_TEST_SUITE(Setup, Engines, EngineNames);

/// The first groups fill a table together; everybody who runs must find it complete.
struct Prepared {
  std::uint32_t* table;  // plain, one entry per first group
  std::uint32_t first_groups;
  const std::atomic<bool>* stop;
  Notes* set_up;
  Notes* ran;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void setup(Group& group) const {
    if (group.num_groups() != first_groups || group.joined()) wrong->fetch_add(1);
    if (leader(group)) {
      set_up->add(group.group_id());
      table[group.group_id()] = 1;
    }
    group.global_barrier();
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < first_groups; ++i) sum += table[i];
    if (sum != first_groups) wrong->fetch_add(1);
    group.global_barrier();
    if (leader(group)) table[group.group_id()] = 2;
  }

  template <class Group>
  void run(Group& group, Nothing state) const {
    for (std::uint32_t i = 0; i < first_groups; ++i) {
      if (table[i] != 2) wrong->fetch_add(1);
    }
    if (leader(group)) ran->add(group.group_id());
    while (!told(group, *stop)) {
      if (group.offer(state)) return;
      std::this_thread::yield();
    }
  }
};

struct PreparedInAnyOrder : Prepared {
  static constexpr Traits traits{.kill_order = KillOrder::any};
};

TYPED_TEST(Setup, RunsOnceInTheFirstGroupsBeforeAnybodyRuns) {
  TypeParam engine{{.capacity = capacity}};
  const auto run = [&]<class Kernel>() {
    for_each_shape([&](Shape shape) {
      const std::uint32_t first = (shape.groups + 1) / 2;
      std::vector<std::uint32_t> table(first);
      std::atomic<bool> stop{false};
      std::atomic<std::uint32_t> wrong{0};
      Notes set_up;
      Notes ran;
      const ScopedJob job = engine.launch(
          Kernel{{table.data(), first, &stop, &set_up, &ran, &wrong}},
          {.max_groups = shape.groups, .start_groups = first, .local_size = shape.local_size});
      EXPECT_TRUE(eventually([&] { return ran.size() == shape.groups; }));
      stop = true;
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_EQ(wrong, 0U);
      EXPECT_THAT(set_up.sorted(), ElementsAreArray(numbers(0, first)));
      EXPECT_THAT(ran.sorted(), ElementsAreArray(numbers(0, shape.groups)));
    });
  };
  run.template operator()<With<Prepared, Traits{}>>();
  run.template operator()<PreparedInAnyOrder>();
}

TYPED_TEST(Setup, IsOverBeforeAnybodyIsTakenAway) {
  TypeParam engine{{.capacity = capacity}};
  const auto run = [&]<class Kernel>() {
    for_each_shape([&](Shape shape) {
      for (std::uint32_t i = 0; i < scaled(5); ++i) {
        std::vector<std::uint32_t> table(shape.groups);
        std::atomic<bool> stop{false};
        std::atomic<std::uint32_t> wrong{0};
        Notes set_up;
        Notes ran;
        const ScopedJob job =
            engine.launch(Kernel{{table.data(), shape.groups, &stop, &set_up, &ran, &wrong}},
                          {.max_groups = shape.groups, .local_size = shape.local_size});
        job.set_target(1);  // so that groups leave at their first offer
        EXPECT_TRUE(eventually([&] { return job.report().leaves >= shape.groups - 1; }));
        stop = true;
        EXPECT_EQ(job.wait().status, Status::finished);
        EXPECT_EQ(wrong, 0U);
        EXPECT_THAT(set_up.sorted(), ElementsAreArray(numbers(0, shape.groups)));
      }
    });
  };
  run.template operator()<With<Prepared, Traits{}>>();
  run.template operator()<PreparedInAnyOrder>();
}

struct PreparedSteps {
  std::uint32_t* table;
  std::atomic<std::uint32_t>* wrong;

  template <class Group>
  void setup(Group& group) const {
    for (const std::size_t i : group.stride(100)) table[i] = 1;
  }
  template <class Group>
  Next step(Group& /*group*/, Nothing& /*state*/) const {
    for (std::uint32_t i = 0; i < 100; ++i) {
      if (table[i] != 1) wrong->fetch_add(1);
    }
    return Next::halt;
  }
};

TYPED_TEST(Setup, ServesStepKernelsAndStaticLaunches) {
  TypeParam engine{{.capacity = capacity}};
  for (const bool resizable : {true, false}) {
    for_each_shape([&](Shape shape) {
      std::vector<std::uint32_t> table(100);
      std::atomic<std::uint32_t> wrong{0};
      const ScopedJob job = engine.launch(
          PreparedSteps{table.data(), &wrong},
          {.max_groups = shape.groups, .local_size = shape.local_size, .resizable = resizable});
      EXPECT_EQ(job.wait().status, Status::finished);
      EXPECT_EQ(wrong, 0U);
    });
  }
}

}  // namespace
}  // namespace cohort::test
