#include "cpu/lender.hpp"

#include <sched.h>

#include <algorithm>
#include <condition_variable>

#include "cohort/cpu.hpp"
#include "cohort/task.hpp"

namespace cohort::cpu {
namespace {

std::array<std::uint64_t, tenant::cpu_words> cpus_of_this_thread() {
  std::array<std::uint64_t, tenant::cpu_words> bits{};
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // The machine has more CPUs than the mask.
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return bits;
  for (std::size_t cpu = 0; cpu < 64 * bits.size() && cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) bits[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  return bits;
}

}  // namespace

/// A unit on loan. It may outlive the lender: it exists as long as its worker is parked here.
class WorkerLender::Unit {
 public:
  Unit(std::shared_ptr<tenant::Loans> loans, std::uint32_t slot)
      : loans_(std::move(loans)), slot_(slot) {}

  /// Parks the worker, which has left its job. Returns when the unit is taken back.
  void park() {
    std::unique_lock lock{loans_->mutex};
    if (released_) return;
    cpus = cpus_of_this_thread();
    parked = true;
    if (loans_->came) loans_->came(slot_);
    back_.wait(lock, [this] { return released_; });
  }
  /// Call it with the mutex held.
  void release() {
    released_ = true;
    back_.notify_one();
  }

  std::shared_ptr<engine::JobRecord> task;
  bool parked = false;
  std::array<std::uint64_t, tenant::cpu_words> cpus{};

 private:
  const std::shared_ptr<tenant::Loans> loans_;
  const std::uint32_t slot_;
  bool released_ = false;
  std::condition_variable back_;
};

WorkerLender::WorkerLender(engine::Dispatcher& dispatcher, std::uint32_t slots)
    : Lender(std::make_shared<tenant::Loans>()), dispatcher_(dispatcher), slots_(slots) {}

WorkerLender::~WorkerLender() {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) lend(slot, 0, 0);
}

void WorkerLender::lend(std::uint32_t slot, std::uint32_t units, int priority) {
  std::vector<std::shared_ptr<Unit>> back;
  std::vector<std::shared_ptr<Unit>> fresh;
  {
    const std::lock_guard lock{loans->mutex};
    auto& its = slots_[slot];
    back.reserve(its.size());  // allocates now: nothing may throw once a unit is released
    its.reserve(units);
    // Units that still wait for a worker are taken back first.
    std::stable_partition(its.begin(), its.end(), [](const auto& unit) { return unit->parked; });
    while (its.size() > units) {
      its.back()->release();
      back.push_back(std::move(its.back()));
      its.pop_back();
    }
    while (its.size() + fresh.size() < units) fresh.push_back(std::make_shared<Unit>(loans, slot));
    its.insert(its.end(), fresh.begin(), fresh.end());
  }
  for (const auto& unit : back) {
    const auto task = std::move(unit->task);  // the task refers to the unit, so break the cycle
    if (!unit->parked) task->cancel();  // `parked` no longer changes, since the unit is released
  }
  for (const auto& unit : fresh) {
    if (launch(unit, priority)) continue;
    const std::lock_guard lock{loans->mutex};
    unit->release();  // in case a worker is already parked in it
    std::erase(slots_[slot], unit);
  }
}

bool WorkerLender::launch(const std::shared_ptr<Unit>& unit, int priority) {
  const auto park = [unit] { unit->park(); };
  using Kernel = cohort::detail::TaskKernel<decltype(park)>;
  try {
    auto body = std::make_unique<detail::CpuBody<Kernel, protocol::Role::fixed>>(Kernel{park}, 1);
    body->guest = true;
    unit->task =
        dispatcher_.launch(std::move(body), {.max_groups = 1, .resizable = false}, priority, false);
    return true;
  } catch (const std::exception&) {
    return false;  // out of memory, or the engine is lost: the tenant gets fewer units
  }
}

WorkerLender::Held WorkerLender::held(std::uint32_t slot) const {
  Held held;
  for (const auto& unit : slots_[slot]) {
    if (!unit->parked) continue;
    ++held.units;
    for (std::size_t i = 0; i < held.cpus.size(); ++i) held.cpus[i] |= unit->cpus[i];
  }
  return held;
}

}  // namespace cohort::cpu
