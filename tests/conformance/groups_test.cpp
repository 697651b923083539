// What a group knows about itself, and setup, which only the first groups of a job run.
#include "conformance/kernels/groups.hpp"

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

using testing::Each;
using testing::ElementsAreArray;

COHORT_SITE_SUITE(Group);

COHORT_SHAPE_TEST(Group, IdsSizesAndStridesCoverEverythingOnce) {
  for (const bool resizable : {true, false}) {
    for (const std::uint32_t items : {0U, 1U, 7U, 1000U}) {
      const Words marks{site, items};
      const Words global_ids{site, std::size_t{shape.groups} * shape.local_size};
      const Mistakes wrong{site};
      site.run(Numbered{shape.groups, shape.local_size, marks.data(), items, global_ids.data(),
                        wrong.data()},
               shape.options({.resizable = resizable}));
      EXPECT_THAT(marks.read(), Each(1U));
      EXPECT_THAT(global_ids.read(), Each(1U));
    }
  }
}

COHORT_SITE_SUITE(Setup);

/// The words of Prepared.
struct PreparedWords {
  PreparedWords(Site& site, std::uint32_t first_groups)
      : first(first_groups), table(site, first), stop(site), wrong(site), set_up(site), ran(site) {}
  template <class Kernel>
  [[nodiscard]] Kernel kernel() const {
    return as<Kernel>(
        Prepared{table.data(), first, stop.data(), set_up.notes(), ran.notes(), wrong.data()});
  }
  std::uint32_t first;
  Words table;
  Word stop;
  Mistakes wrong;
  NoteBook set_up, ran;
};

template <class Kernel>
void set_up_and_grow(Site& site, Shape shape) {
  const PreparedWords words{site, (shape.groups + 1) / 2};
  site.run(words.kernel<Kernel>(), shape.options({.start_groups = words.first}),
           [&](const Job& /*job*/) {
             site.until([&] { return words.ran.size() == shape.groups; });
             words.stop = 1;
           });
  EXPECT_THAT(words.set_up.sorted(), ElementsAreArray(numbers(0, words.first)));
  EXPECT_THAT(words.ran.sorted(), ElementsAreArray(numbers(0, shape.groups)));
}

COHORT_SHAPE_TEST(Setup, RunsOnceInTheFirstGroupsBeforeAnybodyRuns) {
  set_up_and_grow<Prepared>(site, shape);
}

COHORT_SHAPE_TEST(Setup, RunsOnceInTheFirstGroupsBeforeAnybodyRunsInAnyOrderToo) {
  set_up_and_grow<PreparedInAnyOrder>(site, shape);
}

template <class Kernel>
void set_up_and_shrink(Site& site, Shape shape) {
  for (std::uint32_t i = 0; i < (site.explored() ? 1 : scaled(5)); ++i) {
    const PreparedWords words{site, shape.groups};
    site.run(words.kernel<Kernel>(), shape.options(), [&](const Job& job) {
      // Otherwise the job, which still waits, would start with the new target.
      site.until_started(job);
      ASSERT_EQ(job.report().start_groups, shape.groups);
      job.set_target(1);  // so that surplus groups leave at their first offer
      site.until([&] { return job.report().leaves >= shape.groups - 1; });
      words.stop = 1;
    });
    EXPECT_THAT(words.set_up.sorted(), ElementsAreArray(numbers(0, shape.groups)));
  }
}

COHORT_SHAPE_TEST(Setup, IsOverBeforeAnybodyIsTakenAway) {
  set_up_and_shrink<Prepared>(site, shape);
}

COHORT_SHAPE_TEST(Setup, IsOverBeforeAnybodyIsTakenAwayInAnyOrderToo) {
  set_up_and_shrink<PreparedInAnyOrder>(site, shape);
}

COHORT_SHAPE_TEST(Setup, ServesStepKernelsAndStaticLaunches) {
  for (const bool resizable : {true, false}) {
    const Words table{site, PreparedSteps::items};
    const Mistakes wrong{site};
    site.run(PreparedSteps{table.data(), wrong.data()}, shape.options({.resizable = resizable}));
  }
}

}  // namespace
}  // namespace cohort::test
