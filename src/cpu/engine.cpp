// The CPU engine's host side: the worker pool, the jobs' lives, and who is sent where.
// Invariant: all bookkeeping is under one mutex; groups touch it only when they come or go, never
// inside a kernel.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "cohort/cpu.hpp"
#include "scheduler/policy.hpp"

namespace cohort::cpu {
namespace {

using protocol::Fault;
using protocol::Order;
using protocol::Roster;

const char* explain(Fault fault) {
  switch (fault) {
    case Fault::none: return "no fault";
    case Fault::cancelled: return "cancelled";
    case Fault::exception: return "the kernel threw an exception";
    case Fault::returned_in_barrier:
      return "a group returned while others waited for it in a barrier";
    case Fault::barrier_after_return:
      return "a group arrived at a barrier after another group had returned";
    case Fault::divergent_barrier:
      return "groups met at different barriers: some at global_barrier, others at "
             "resizing_global_barrier";
    case Fault::divergent_group:
      return "the threads of a group called different group-level functions";
    case Fault::used_after_leaving: return "a group went on after a primitive had told it to leave";
    case Fault::lost_group: return "a group was lost: this is a bug in cohort, please report it";
  }
  return "unknown fault";
}

bool at_rest(Status status) { return status != Status::pending && status != Status::running; }
bool ended(Status status) { return at_rest(status) && status != Status::suspended; }

/// Spinning pays only while whoever is waited for can run meanwhile.
Patience patience_for(std::uint32_t capacity) {
  return capacity <= usable_cpus() ? Patience{.spins = 2000, .yields = 20}
                                   : Patience{.spins = 0, .yields = 40};
}

/// M over time. Thinned out evenly when it gets long: what stays is exact.
class Sizes {
 public:
  void push(std::uint64_t nanoseconds, std::uint32_t groups) {
    if (skipped_++ % every_ != 0) {
      latest_ = {nanoseconds, groups};
      return;
    }
    if (kept_.size() == 8192) {
      for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
      kept_.resize(kept_.size() / 2);
      every_ *= 2;
    }
    kept_.push_back({nanoseconds, groups});
    latest_ = kept_.back();
  }
  [[nodiscard]] std::vector<Report::Size> all() const {
    std::vector<Report::Size> result = kept_;
    if (!result.empty() && result.back().nanoseconds != latest_.nanoseconds)
      result.push_back(latest_);
    return result;
  }

 private:
  std::vector<Report::Size> kept_;
  Report::Size latest_;
  std::uint64_t skipped_ = 0;
  std::uint64_t every_ = 1;
};

}  // namespace

namespace detail {

void Body::prepare(std::uint32_t quorum, bool restarted) {
  for (auto& box : boxes_) box.seat.store(protocol::Seat::empty, Order::relaxed);
  for (std::uint32_t word = 0; word < free_ids_.size(); ++word) {
    std::uint64_t free = 0;  // the first `quorum` ids go by check-in
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      const std::uint32_t id = word * 64 + bit;
      if (id >= quorum && id < shared.max_groups) free |= std::uint64_t{1} << bit;
    }
    free_ids_[word].store(free, Order::relaxed);
  }
  shared.boxes = boxes_.data();
  shared.free_ids = free_ids_.data();
  shared.quorum = quorum;
  shared.restarted = restarted;
  for (auto& vote : shared.vote) vote.store(0, Order::relaxed);
  shared.flags.store(0, Order::relaxed);
  shared.waiting.store(0, Order::relaxed);
  shared.closed.store(0, Order::relaxed);
  shared.serial.fetch_add(1, Order::relaxed);
  shared.fork_lock.store(0, Order::relaxed);
  shared.departing.store(0, Order::relaxed);
  shared.deposit_gen.store(~0U, Order::relaxed);
  shared.kept.store(0, Order::relaxed);
  shared.roster.store(Roster::gather,
                      Order::release);  // the engine's mutex carries it to the workers
}

}  // namespace detail

/// Everything of an engine that may outlive its handle: jobs refer to it.
class Engine::Core : public std::enable_shared_from_this<Core> {
 public:
  class Record;

  void start(std::uint32_t workers, bool pin);
  void stop();
  std::shared_ptr<Record> launch(std::unique_ptr<detail::Body> body, const LaunchOptions& options,
                                 std::optional<int> priority, bool restored);
  [[nodiscard]] std::uint32_t capacity() const;
  void set_capacity(std::uint32_t units);

 private:
  struct Worker {
    std::thread thread;
    std::condition_variable called;
    std::shared_ptr<Record> job;  // where to go next
    detail::Visit visit;
    std::unique_ptr<Team> team;  // kept for the next group of as many threads
  };

  void hire(std::uint32_t workers);
  void work(std::uint32_t index);
  void rebalance();
  bool begin(const std::shared_ptr<Record>& job, std::uint32_t share);
  [[nodiscard]] std::uint32_t free_units() const;
  void send(const std::shared_ptr<Record>& job, std::uint32_t count, bool first);
  void publish(Record& job, std::uint32_t share);
  void settle(Record& job);
  void rest(Record& job, Status status);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::uint32_t> idle_;
  std::vector<std::shared_ptr<Record>> jobs_;  // not yet ended, in launch order
  std::uint32_t capacity_ = 0;
  std::vector<std::size_t> cpus_;  // to bind workers to; empty: they go where they like
  bool stopping_ = false;
};

/// A job as the engine knows it. Guarded by the core's mutex, but for the body and the counters of
/// `moved`.
class Engine::Core::Record final : public cohort::detail::JobControl,
                                   public std::enable_shared_from_this<Record> {
 public:
  Record(std::shared_ptr<Core> its_core, std::unique_ptr<detail::Body> its_body, LaunchOptions with,
         std::optional<int> its_priority)
      : core(std::move(its_core)),
        body(std::move(its_body)),
        options(std::move(with)),
        priority(its_priority),
        target(options.target) {}

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) override;
  void cancel() override;
  Status suspend() override;
  void resume() override;
  void checkpoint(const std::filesystem::path& file) const override;
  void set_target(std::optional<std::uint32_t> groups) override;
  [[nodiscard]] Report report() const override;
  void rethrow() const override;

  /// A group has come in or gone out; called by its worker, outside the core's mutex.
  static void moved(void* job, bool in, bool joined);

  [[nodiscard]] bool suspending() const {
    return (body->shared.flags.load(Order::relaxed) & protocol::suspend_flag) != 0;
  }
  /// Before the share is published: a target of 0 must come with its flag.
  void ask_to_leave() { body->shared.flags.store(protocol::suspend_flag, Order::release); }
  [[nodiscard]] scheduler::Claim claim() const;

  const std::shared_ptr<Core> core;
  const std::unique_ptr<detail::Body> body;
  const LaunchOptions options;
  const std::optional<int> priority;    // of a task; a job has none
  std::optional<std::uint32_t> target;  // set by hand
  Status status = Status::pending;
  bool kept = false;         // a resume continues from States::kept
  bool held = false;         // suspended by the host, not for a task: stays out until resumed
  bool owed = false;         // a task was served while this job waited: its turn now
  std::uint32_t share = 0;   // as published
  std::uint32_t inside = 0;  // workers sent and not yet back
  std::condition_variable changed;

  std::uint64_t launched_at = now();
  std::uint64_t started_at = 0;
  std::uint64_t ran_before = 0;  // nanoseconds of earlier runs, up to their suspends
  std::uint64_t demand_at = 0;   // when a demand that is not yet met was published
  std::uint32_t start_groups = 0;
  std::uint64_t leaves = 0;
  Samples gather;
  Samples offers;

  mutable std::mutex moves;  // the few words that groups write as they come and go
  Sizes sizes;
  std::uint32_t in_kernel = 0;
  std::uint64_t joins = 0;
  std::uint64_t entered = 0;

  std::optional<std::stop_callback<std::function<void()>>> stop_callback;
};

// ---- jobs
// -----------------------------------------------------------------------------------------------------------

scheduler::Claim Engine::Core::Record::claim() const {
  std::uint32_t most = body->shared.max_groups;
  if (target) most = std::min(most, *target);
  // Once a group has returned nobody can join: units beyond those inside would only wait.
  if (status == Status::running && body->shared.look().draining())
    most = std::min(most, std::max(inside, 1U));
  return {.max_groups = most,
          .weight = options.weight,
          .rigid = !options.resizable,
          .running = status == Status::running,
          .suspendable = body->suspendable,
          .owed = owed};
}

Status Engine::Core::Record::wait_until(
    std::optional<std::chrono::steady_clock::time_point> deadline) {
  std::unique_lock lock{core->mutex_};
  const auto rests = [this] { return at_rest(status); };
  if (deadline) {
    changed.wait_until(lock, *deadline, rests);
  } else {
    changed.wait(lock, rests);
  }
  return status;
}

void Engine::Core::Record::cancel() {
  const std::lock_guard lock{core->mutex_};
  if (ended(status)) return;
  if (status == Status::running) {
    protocol::raise(body->shared, Fault::cancelled);  // settled when the last group is out
  } else {
    core->rest(*this, Status::cancelled);
    core->rebalance();
  }
}

Status Engine::Core::Record::suspend() {
  std::unique_lock lock{core->mutex_};
  if (at_rest(status)) return status;
  if (!body->suspendable) {
    throw Error{Errc::not_suspendable,
                options.resizable
                    ? "suspend: this kernel declares suspendable = false, so its state cannot be "
                      "kept; offer with "
                      "offer_kill(state) and drop that trait"
                    : "suspend: a static launch (resizable = false) cannot be suspended"};
  }
  if (status == Status::pending) {
    held = true;
    core->rest(*this, Status::suspended);
    core->rebalance();
    return status;
  }
  held = true;
  ask_to_leave();
  core->rebalance();
  changed.wait(lock, [this] { return at_rest(status); });
  return status;
}

void Engine::Core::Record::resume() {
  const std::lock_guard lock{core->mutex_};
  if (core->stopping_) throw Error{Errc::engine_gone, "resume: the engine has been destroyed"};
  if (status != Status::suspended) {
    throw Error{Errc::bad_state,
                std::string{"resume: the job is "} + to_string(status) + ", not suspended"};
  }
  status = Status::pending;
  held = false;
  core->rebalance();
}

void Engine::Core::Record::checkpoint(const std::filesystem::path& file) const {
  const std::lock_guard lock{core->mutex_};
  if (status != Status::suspended) {
    throw Error{Errc::bad_state,
                std::string{"checkpoint: the job is "} + to_string(status) + "; suspend it first"};
  }
  if (!kept) throw Error{Errc::bad_state, "checkpoint: the job has not started yet"};
  if (!body->save(file)) {
    throw Error{Errc::bad_state,
                "checkpoint: the kernel names no buffers; give it `template <class Visit> void "
                "buffers(Visit& visit) const`"};
  }
}

void Engine::Core::Record::set_target(std::optional<std::uint32_t> groups) {
  const std::lock_guard lock{core->mutex_};
  if (!options.resizable)
    throw Error{Errc::bad_state,
                "set_target: a static launch (resizable = false) has a fixed size"};
  const std::uint32_t least = body->may_all_leave ? 0 : 1;
  if (groups && (*groups < least || *groups > body->shared.max_groups)) {
    throw Error{Errc::bad_options, "set_target: " + std::to_string(*groups) +
                                       " groups; this job can have " + std::to_string(least) +
                                       " to " + std::to_string(body->shared.max_groups)};
  }
  target = groups;
  core->rebalance();
}

Report Engine::Core::Record::report() const {
  const std::lock_guard lock{core->mutex_};
  Report report;
  report.status = status;
  const std::uint64_t this_run = status == Status::running ? now() - started_at : 0;
  report.run_time = std::chrono::nanoseconds{ran_before + this_run};
  report.start_groups = start_groups;
  report.leaves = leaves;
  report.offers = offers.summary();
  {
    const std::lock_guard moving{moves};
    report.gather = gather.summary();
    report.joins = joins;
    report.sizes = sizes.all();
  }
  if (status == Status::failed) {
    report.error = explain(body->shared.fault.load(Order::relaxed));
    if (body->exception) {
      try {
        std::rethrow_exception(body->exception);
      } catch (const std::exception& error) {
        report.error += std::string{": "} + error.what();
      } catch (...) {
        report.error += ": not a std::exception";
      }
    }
  }
  return report;
}

void Engine::Core::Record::rethrow() const {
  if (body->exception) std::rethrow_exception(body->exception);
  throw Error{Errc::broken_contract, explain(body->shared.fault.load(Order::relaxed))};
}

void Engine::Core::Record::moved(void* job, bool in, bool joined) {
  auto& record = *static_cast<Record*>(job);
  const std::lock_guard lock{record.moves};
  record.in_kernel += in ? 1U : ~0U;
  record.joins += in && joined ? 1 : 0;
  record.entered += in ? 1 : 0;
  if (in && record.priority && record.entered == record.body->shared.max_groups) {
    record.gather.add(now() - record.launched_at);  // a task has all its groups in hand
  }
  record.sizes.push(now() - record.launched_at, record.in_kernel);
}

// ---- the pool
// -------------------------------------------------------------------------------------------------------

void Engine::Core::start(std::uint32_t workers, bool pin) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (pin && ::sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) cpus_.push_back(cpu);
    }
  }
  const std::lock_guard lock{mutex_};
  hire(workers);
  std::reverse(idle_.begin(), idle_.end());  // worker 0 is sent first
  capacity_ = workers;
}

/// Starts threads until there are that many.
void Engine::Core::hire(std::uint32_t workers) {
  try {
    while (workers_.size() < workers) {
      const auto index = static_cast<std::uint32_t>(workers_.size());
      auto worker = std::make_unique<Worker>();
      worker->thread = std::thread{[this, index] { work(index); }};
      if (!cpus_.empty()) {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(cpus_[index % cpus_.size()], &mask);
        ::pthread_setaffinity_np(worker->thread.native_handle(), sizeof mask, &mask);
      }
      workers_.push_back(std::move(worker));
      idle_.push_back(index);
    }
  } catch (const std::system_error& error) {
    throw Error{Errc::unsupported, "engine: cannot start " + std::to_string(workers) +
                                       " worker threads: " + error.what()};
  }
}

std::uint32_t Engine::Core::capacity() const {
  const std::lock_guard lock{mutex_};
  return capacity_;
}

void Engine::Core::set_capacity(std::uint32_t units) {
  const std::lock_guard lock{mutex_};
  hire(units);
  capacity_ = units;
  rebalance();
}

/// Units that may be given out now: workers without work, but no more than the capacity leaves.
std::uint32_t Engine::Core::free_units() const {
  const auto busy = static_cast<std::uint32_t>(workers_.size() - idle_.size());
  return capacity_ > busy ? capacity_ - busy : 0;
}

void Engine::Core::stop() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
    const auto all = jobs_;
    for (const auto& job : all) {
      if (job->status == Status::running) {
        protocol::raise(job->body->shared, Fault::cancelled);
      } else {
        rest(*job, Status::cancelled);
      }
    }
    for (const auto& worker : workers_) worker->called.notify_one();
  }
  for (const auto& worker : workers_) worker->thread.join();
}

void Engine::Core::work(std::uint32_t index) {
  std::unique_lock lock{mutex_};
  Worker& self = *workers_[index];
  for (;;) {
    self.called.wait(lock, [&] { return self.job != nullptr || stopping_; });
    if (self.job == nullptr) return;
    const std::shared_ptr<Record> job = std::move(self.job);
    self.job = nullptr;
    lock.unlock();
    const std::uint32_t local_size = job->options.local_size;
    if (local_size > 1 && (self.team == nullptr || self.team->local_size() != local_size)) {
      self.team = std::make_unique<Team>(local_size);
    }
    self.visit.team = local_size > 1 ? self.team.get() : nullptr;
    const detail::Stay stay = job->body->run_group(self.visit);
    lock.lock();
    --job->inside;
    job->leaves += stay == detail::Stay::left ? 1 : 0;
    job->offers.merge(self.visit.offers);
    if (job->demand_at != 0 && job->inside <= job->share) {
      job->gather.add(now() - job->demand_at);
      job->demand_at = 0;
    }
    idle_.push_back(index);
    settle(*job);
    if (!stopping_) rebalance();
  }
}

/// Decides what everybody is to have, and sends idle workers to whoever has less than that.
void Engine::Core::rebalance() {
  std::vector<std::shared_ptr<Record>> jobs;
  std::vector<std::shared_ptr<Record>> tasks;
  std::vector<scheduler::Claim> claims;
  std::vector<scheduler::Demand> demands;
  for (const auto& each : jobs_) {
    if (each->status == Status::suspended) continue;
    if (each->priority) {
      tasks.push_back(each);
      demands.push_back({.groups = each->body->shared.max_groups,
                         .priority = *each->priority,
                         .running = each->status == Status::running});
    } else if (each->suspending()) {
      publish(*each, 0);
    } else {
      jobs.push_back(each);
      claims.push_back(each->claim());
    }
  }
  const scheduler::Plan plan = scheduler::plan(capacity_, claims, demands);

  for (std::size_t i = 0; i < jobs.size();
       ++i) {  // takes first: what is asked for soonest is free soonest
    if (jobs[i]->status != Status::running) continue;
    if (plan.suspends[i]) jobs[i]->ask_to_leave();
    publish(*jobs[i], plan.shares[i]);
  }
  for (const std::size_t i : scheduler::serving_order(demands)) {
    if (!plan.grants[i] || demands[i].running) continue;
    if (!begin(tasks[i], demands[i].groups)) break;  // what comes free is for this one
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& job = jobs[i];
    if (job->status == Status::pending && plan.shares[i] > 0) begin(job, plan.shares[i]);
    const Roster roster = job->body->shared.look();
    const bool open = job->status == Status::running && job->options.resizable &&
                      !job->suspending() && !roster.draining() && !roster.faulted();
    if (open && job->inside < plan.shares[i]) {
      send(job, std::min(free_units(), plan.shares[i] - job->inside), false);
    }
  }
}

/// Starts a job, or starts it again, with the units that are free; all or none if it is rigid.
bool Engine::Core::begin(const std::shared_ptr<Record>& job, std::uint32_t share) {
  const std::uint32_t most = std::min(share, job->options.start_groups.value_or(share));
  const std::uint32_t count = std::min(free_units(), most);
  if (count == 0 || (!job->options.resizable && count < share)) return false;
  job->body->prepare(count, job->kept);
  job->status = Status::running;
  job->started_at = now();
  job->owed = false;
  if (!job->kept) job->start_groups = count;
  publish(*job, share);
  send(job, count, true);
  return true;
}

/// Tells a job its share. Groups poll it; those that sleep over it are woken.
void Engine::Core::publish(Record& job, std::uint32_t share) {
  auto& shared = job.body->shared;
  if (share < job.share && share < job.inside) job.demand_at = now();
  if (share >= job.inside) job.demand_at = 0;
  job.share = share;
  if (shared.share.load(Order::relaxed) == share) return;
  shared.share.store(share, Order::release);  // after the flags: pairs with target(acquire)
  Platform::notify(shared.lobby_event);
  Platform::notify(shared.offer_event);
}

void Engine::Core::send(const std::shared_ptr<Record>& job, std::uint32_t count, bool first) {
  for (std::uint32_t i = 0; i < count; ++i) {
    Worker& worker = *workers_[idle_.back()];
    worker.job = job;
    worker.visit = {.first = first,
                    .serial = job->body->shared.serial.load(Order::relaxed),
                    .hint = idle_.back(),
                    .team = nullptr,
                    .offers = {},
                    .joined = false,
                    .moved = &Record::moved,
                    .job = job.get()};
    idle_.pop_back();
    ++job->inside;
    worker.called.notify_one();
  }
}

/// After a worker has come back: if it was the last, how did the job end?
void Engine::Core::settle(Record& job) {
  if (job.inside != 0 || job.status != Status::running) return;
  const auto& shared = job.body->shared;
  const Roster roster = shared.look(Order::acquire);
  if (roster.faulted()) {
    rest(job, shared.fault.load(Order::acquire) == Fault::cancelled ? Status::cancelled
                                                                    : Status::failed);
  } else if (roster.finished()) {
    rest(job, Status::finished);
  } else if (shared.kept.load(Order::acquire) != 0) {
    job.kept = true;
    rest(job, job.held ? Status::suspended : Status::pending);
  } else if (roster.active() == 0) {
    rest(job, Status::left);
  } else {
    protocol::raise(job.body->shared, Fault::lost_group);
    rest(job, Status::failed);
  }
}

void Engine::Core::rest(Record& job, Status status) {
  if (job.status == Status::running) job.ran_before += now() - job.started_at;
  job.status = status;
  job.share = 0;
  job.demand_at = 0;
  job.body->shared.flags.store(0,
                               Order::relaxed);  // a suspend has been served, or has come too late
  if (job.priority) {
    for (const auto& each : jobs_) each->owed = each->owed || each->status == Status::pending;
  }
  if (ended(status)) std::erase_if(jobs_, [&job](const auto& each) { return each.get() == &job; });
  job.changed.notify_all();
}

std::shared_ptr<Engine::Core::Record> Engine::Core::launch(std::unique_ptr<detail::Body> body,
                                                           const LaunchOptions& options,
                                                           std::optional<int> priority,
                                                           bool restored) {
  auto& shared = body->shared;
  shared.offer_wait =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, options.offer_wait.count()));
  shared.recorder.tracer = options.tracer;
  auto record = std::make_shared<Record>(shared_from_this(), std::move(body), options, priority);
  record->kept = restored;
  {
    const std::lock_guard lock{mutex_};
    shared.barrier_event.patience = shared.offer_event.patience = patience_for(capacity_);
    shared.lobby_event.patience = {};  // a waiting worker should not take a CPU from others
    jobs_.push_back(record);
    rebalance();
  }
  if (options.stop.stop_possible()) {
    record->stop_callback.emplace(options.stop, [weak = std::weak_ptr{record}] {
      if (const auto job = weak.lock()) job->cancel();
    });
  }
  return record;
}

// ---- the handle
// -----------------------------------------------------------------------------------------------------

namespace {

void check_capacity(std::uint32_t units) {
  if (units >= 1 && units <= max_groups_limit) return;
  throw Error{Errc::bad_options, "engine: a capacity of " + std::to_string(units) +
                                     "; it can be 1 to " + std::to_string(max_groups_limit)};
}

void check_range(const std::string& name, std::uint32_t value, std::uint32_t least,
                 std::uint32_t most) {
  if (value >= least && value <= most) return;
  throw Error{Errc::bad_options, name + " = " + std::to_string(value) + "; it can be " +
                                     std::to_string(least) + " to " + std::to_string(most)};
}

}  // namespace

Engine::Engine(EngineOptions options) {
  const std::uint32_t workers = options.capacity.value_or(usable_cpus());
  check_capacity(workers);
  core_ = std::make_shared<Core>();
  try {
    core_->start(workers, options.pin_workers);
  } catch (...) {
    core_->stop();
    throw;
  }
}

Engine::~Engine() { core_->stop(); }

std::uint32_t Engine::capacity() const { return core_->capacity(); }

void Engine::set_capacity(std::uint32_t units) {
  check_capacity(units);
  core_->set_capacity(units);
}

std::uint32_t Engine::checked(const TaskOptions& options) const {
  check_range("submit: groups", options.groups, 1, capacity());
  check_range("submit: local_size", options.local_size, 1, max_local_size);
  return options.groups;
}

std::uint32_t Engine::checked(const LaunchOptions& options) const {
  const std::uint32_t groups = options.max_groups.value_or(capacity());
  check_range("launch: max_groups", groups, 1, max_groups_limit);
  check_range("launch: local_size", options.local_size, 1, max_local_size);
  check_range("launch: weight", options.weight, 1, 1'000'000);
  if (options.start_groups) check_range("launch: start_groups", *options.start_groups, 1, groups);
  if (options.target) check_range("launch: target", *options.target, 1, groups);
  if (!options.resizable && groups > capacity()) {
    throw Error{Errc::bad_options,
                "launch: a static launch of " + std::to_string(groups) +
                    " groups on an engine of capacity " + std::to_string(capacity()) +
                    " could never start; use at most that many, or resizable = true"};
  }
  if (!options.resizable && (options.target || options.start_groups)) {
    throw Error{Errc::bad_options,
                "launch: a static launch (resizable = false) starts and stays with max_groups "
                "groups: drop start_groups and target"};
  }
  return groups;
}

std::shared_ptr<cohort::detail::JobControl> Engine::start(std::unique_ptr<detail::Body> body,
                                                          const LaunchOptions& options,
                                                          std::optional<int> priority,
                                                          bool restored) {
  return core_->launch(std::move(body), options, priority, restored);
}

void Engine::refuse_static_restore() {
  throw Error{Errc::bad_options,
              "restore: a static launch (resizable = false) cannot be continued"};
}

}  // namespace cohort::cpu
