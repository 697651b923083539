// The scheduler group of the OpenCL engine under the explorer, next to workers and a host that only
// makes claims. A test compares the group's decisions with the policy that all engines share.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "opencl/explored.hpp"
#include "scheduler/policy.hpp"

namespace cohort::test {
namespace {

using explore::Options;
using explore::Result;
using explore::Search;

constexpr std::uint32_t contexts = 2;
constexpr std::uint32_t workers = 2;

/// One schedule: a job of two groups that stays until it is stopped, and a task of one.
class Shop {
 public:
  explicit Shop(explore::World& world) : world_(world) {
    pool_.desk_count = 1 + workers;
    pool_.desks = desks_.data();
    pool_.contexts = contexts_.data();
    pool_.context_count = contexts;
    pool_.limit.reset(workers);
    for (std::size_t i = 0; i < desks_.size(); ++i) desks_[i].state = &states_[i];
    for (Run& run : runs_) {
      cl::cohort_job& job = run.job;
      job.boxes = run.boxes.data();
      job.deposit = run.states.data();
      job.kept = run.states.data() + 2;
      job.box_states = run.states.data() + 3;
      job.state_size = job.state_stride = 1;
      job.max_groups = workers;
      job.offer_polls = 0;
      job.deposit_gen.reset(~0U);
    }
    runs_[1].job.traits = cl::cohort_fixed;
  }

  std::string run() {
    now_ = this;
    cl::cohort_doze = [](cl::uint polls) { now_->doze(polls); };
    const auto host = [](void* self) { static_cast<Shop*>(self)->host(); };
    const auto group = [](void* self) { static_cast<Shop*>(self)->group(); };
    world_.spawn(0, "host", host, this);
    for (std::uint32_t i = 0; i < desks_.size(); ++i)
      world_.spawn(1 + i, "group " + std::to_string(i), group, this);
    world_.go();
    if (world_.failure().empty()) judge();
    return world_.failure();
  }

 private:
  struct Run {
    cl::cohort_job job{};
    std::array<cl::cohort_box, workers> boxes{};
    std::array<cl::uchar, 3 + workers> states{};
  };

  /// Like Workgroups::order() and publish() in src/opencl/workgroups.cpp.
  void order(std::uint32_t which, std::uint32_t start, std::uint32_t most, bool rigid) {
    cl::cohort_job& job = runs_[which].job;
    job.quorum = start;
    job.roster.store(protocol::Roster::gather, Order::relaxed);
    job.share.store(start, Order::relaxed);
    cl::cohort_context& context = contexts_[which];
    context.job = &job;
    context.weight = 1;
    context.rigid = rigid ? 1 : 0;
    context.most.store(most, Order::release);
    context.start.store(start, Order::release);
  }
  void until(std::uint32_t which, std::uint32_t members) {
    explore::Platform::await(
        cl::somewhere(), [&] { return contexts_[which].members.load(Order::acquire) == members; });
  }
  void until_over(std::uint32_t which) {
    explore::Platform::await(cl::somewhere(),
                             [&] { return contexts_[which].over.load(Order::acquire) != 0; });
  }

  void host() {
    order(0, workers, workers, false);
    until(0, workers);
    order(1, 1, 1, true);
    until_over(1);      // so the job has given up a worker, without an order from the host
    until(0, workers);  // and the job has it back
    contexts_[0].most.store(1, Order::release);
    until(0, 1);
    stop_.store(1, Order::release);
    until_over(0);
    desks_[0].order.store(cl::uint{COHORT_GO_HOME}, Order::release);
  }

  /// A work-group, like the one in src/opencl/pool.cl.
  void group() {
    cl::uint unit = 0;
    cl::cohort_desk* const desk = cl::cohort_sign_on(&pool_, &unit);
    if (desk == nullptr) {
      world_.fail("a group finds no desk");
    } else if (unit == 0) {
      cl::cohort_schedule(&pool_);
    } else {
      work(*desk, unit);
    }
  }
  void work(cl::cohort_desk& desk, cl::uint unit) {
    for (cl::uint last = 0;;) {
      cl::uint order = 0;
      explore::Platform::await(cl::somewhere(), [&] {
        order = desk.order.load(Order::acquire);
        return order != last;
      });
      last = order;
      if (order == COHORT_GO_HOME) return;
      cl::cohort_member member{};
      const bool inside = cl::cohort_go_in(&member, &desk, unit, order);
      if (inside && cl::cohort_come_in(&member)) enter(member);
      cl::cohort_come_out(&member, &desk, inside, order);
    }
  }
  void enter(cl::cohort_member& member) {
    if (member.job == &runs_[1].job) {
      ++served_;
      return;
    }
    while (!cl::cohort_offer(&member, member.state, 0) && stop_.load(Order::acquire) == 0) {
      const cl::cohort_job& job = *member.job;
      // Waits until there is something to offer or to fork, or until the job has to end.
      explore::Platform::await(cl::somewhere(), [&] {
        const cl::uint share = job.share.load(Order::acquire);
        const cl::cohort_roster roster = job.roster.load(Order::acquire);
        const bool room = cl::cohort_active_of(roster) < share;
        return stop_.load(Order::acquire) != 0 || member.id >= share ||
               (room && job.waiting.load(Order::acquire) != 0);
      });
    }
  }

  /// A number that changes with every word on which the scheduler group's decision depends.
  std::uint64_t seen() {
    std::uint64_t sum = pool_.gate.load(Order::acquire);
    const auto add = [&sum](std::uint64_t word) { sum = sum * 1'000'003 + word; };
    for (const cl::cohort_desk& desk : desks_) add(desk.answer.load(Order::acquire));
    add(desks_[0].order.load(Order::acquire));
    for (const cl::cohort_context& context : contexts_) {
      add(context.start.load(Order::acquire));
      add(context.most.load(Order::acquire));
    }
    for (const Run& run : runs_) {
      add(run.job.roster.load(Order::acquire));
      add(run.job.waiting.load(Order::acquire));
    }
    return sum;
  }
  /// It waits after one pass over unchanged words that has found nothing to do.
  void doze(cl::uint polls) {
    const std::uint64_t before = std::exchange(last_seen_, seen());
    if (polls < 2 || before != last_seen_) return;
    explore::Platform::await(cl::somewhere(), [&] { return seen() != before; });
  }

  void judge() {
    if (served_ != 1) world_.fail("the task has not run once");
    for (const cl::cohort_context& context : contexts_) {
      if (context.inside.peek() != 0 || context.members.peek() != 0)
        world_.fail("the scheduler counts groups that have gone");
    }
    if (!protocol::Roster{runs_[0].job.roster.peek()}.finished())
      world_.fail("the job has not finished");
    if (contexts_[0].leaves.peek() != 2 || contexts_[0].joins.peek() != 1)
      world_.fail("a group has left or joined unasked");
  }

  static inline Shop* now_ = nullptr;

  explore::World& world_;
  cl::cohort_pool pool_{};
  std::array<cl::cohort_desk, 1 + workers> desks_{};
  std::array<cl::cohort_context, contexts> contexts_{};
  std::array<cl::uchar, 1 + workers> states_{};
  std::array<Run, contexts> runs_{};
  cl::atomic_uint stop_{0};
  std::uint32_t served_ = 0;
  std::uint64_t last_seen_ = 0;
};

TEST(OpenClScheduler, GathersForATaskAndGivesItsUnitsBackByItself) {
  for (const Search search : {Search::random, Search::pct}) {
    const Options options{.search = search, .schedules = 2000, .weak_memory = true};
    const Result result = explore::detail::explore(
        options, [](explore::Engine& engine) { return Shop{engine.world()}.run(); });
    EXPECT_TRUE(result.ok) << result;
  }
}

TEST(OpenClScheduler, SharesOutAsThePolicyDoes) {
  std::mt19937 random{1};  // NOLINT(cert-msc51-cpp): the same on every machine
  const auto below = [&random](std::uint32_t bound) {
    return static_cast<std::uint32_t>(random() % bound);
  };
  for (int trial = 0; trial < 2000; ++trial) {
    std::array<cl::cohort_context, 6> all{};
    cl::cohort_pool pool{};
    pool.contexts = all.data();
    pool.context_count = all.size();
    std::vector<scheduler::Claim> claims;
    for (cl::cohort_context& each : all) {
      each.present = below(4) != 0 ? 1 : 0;
      if (each.present == 0) continue;
      each.rigid = below(3) == 0 ? 1 : 0;
      each.weight = 1 + below(4);
      each.claimed = below(9) + each.rigid;
      claims.push_back({.max_groups = each.claimed,
                        .weight = each.weight,
                        .rigid = each.rigid != 0,
                        .running = true});
    }
    const std::uint32_t units = 1 + below(24);
    cl::cohort_share_out(&pool, units);
    const std::vector<std::uint32_t> expected = scheduler::share_out(units, claims);
    std::vector<std::uint32_t> shares;
    for (const cl::cohort_context& each : all) {
      if (each.present != 0) shares.push_back(each.share);
    }
    EXPECT_EQ(shares, expected) << "trial " << trial << ", " << units << " units";
  }
}

}  // namespace
}  // namespace cohort::test
