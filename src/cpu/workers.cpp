// Sends workers to jobs, and records what they report when they return.
#include "cpu/workers.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "cohort/protocol/reset.hpp"
#include "engine/options.hpp"

namespace cohort::cpu {
namespace {

/// How long groups spin before they sleep. Spinning pays off only while the awaited group has its
/// own CPU.
Patience patience_for(std::uint32_t capacity, std::uint32_t cpus) {
  return capacity <= cpus ? Patience{.spins = 2000, .yields = 20}
                          : Patience{.spins = 0, .yields = 40};
}

detail::WorkerBody& body_of(const JobRecord& job) {
  return static_cast<detail::WorkerBody&>(*job.body);
}

}  // namespace

namespace detail {

WorkerBody::WorkerBody(std::uint32_t groups)
    : cohort::detail::JobBody(groups), boxes_(groups), free_ids_(protocol::id_words(groups)) {
  shared.max_groups = groups;
  shared.boxes = boxes_.data();
  shared.free_ids = free_ids_.data();
}

void WorkerBody::fail(std::exception_ptr exception, std::uint32_t group,
                      std::uint32_t gen) noexcept {
  // Read by the host after this worker is out.
  if (protocol::raise(shared, protocol::FaultRecord{Fault::exception, group, gen})) {
    thrown = std::move(exception);
  }
}

}  // namespace detail

thread_local const JobRecord* Workers::current_ = nullptr;

Workers::Workers(engine::Dispatcher& dispatcher, bool pin)
    : dispatcher_(dispatcher), usable_cpus_(usable_cpus()) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (!pin || ::sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &mask)) cpus_.push_back(cpu);
  }
}

void Workers::resize(std::uint32_t units) {
  check_capacity(units, max_groups_limit);
  const bool first = workers_.empty();
  hire(units);
  // The last of the list is sent first: make that worker 0.
  if (first) std::reverse(idle_.begin(), idle_.end());
  for (std::uint32_t index = 0; index < units; ++index) {
    Worker& worker = *workers_[index];
    if (!worker.spare) continue;
    worker.spare = false;  // the capacity has grown and now includes this worker
    worker.demotion.restore();
    pin(index);
    if (std::erase(idle_, index) != 0) add_idle(index);
  }
  hire_spare(units);
  for (JobRecord* const job : dispatcher_.jobs_and_running_tasks()) set_patience(*job, units);
}

/// Starts threads until there are `workers` of them. Spare threads are not bound to a CPU.
void Workers::hire(std::uint32_t workers, bool spare) {
  // Reserve first: a started thread cannot be undone, so nothing may throw after this.
  workers_.reserve(workers);
  idle_.reserve(workers);
  try {
    while (workers_.size() < workers) {
      const auto index = static_cast<std::uint32_t>(workers_.size());
      auto worker = std::make_unique<Worker>();
      worker->spare = spare;
      worker->thread = std::thread{[this, index] { work(index); }};
      scheduling_.apply(worker->thread.native_handle());
      workers_.push_back(std::move(worker));
      add_idle(index);
      if (!spare) pin(index);
    }
  } catch (const std::system_error& error) {
    throw Error{Errc::unsupported, "engine: cannot start " + std::to_string(workers) +
                                       " worker threads: " + error.what()};
  }
}

/// Starts the threads that overdue tasks, and tasks that may become overdue, need beyond the
/// capacity, plus `more`.
void Workers::hire_spare(std::uint32_t units, std::uint32_t more) {
  hire(units + dispatcher_.due_groups(overdue_ + more, units), true);
}

void Workers::pin(std::uint32_t index) {
  if (cpus_.empty()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpus_[index % cpus_.size()], &mask);
  ::pthread_setaffinity_np(workers_[index]->thread.native_handle(), sizeof mask, &mask);
}

void Workers::stop() {
  {
    const engine::Dispatcher::Locked locked{dispatcher_, "engine"};
    for (const auto& worker : workers_) {
      worker->demotion.restore();
      worker->called.notify_one();
    }
    due_changed_.notify_one();
  }
  if (clock_.joinable()) clock_.join();
  for (const auto& worker : workers_) worker->thread.join();
}

// ---- A worker's life

void Workers::work(std::uint32_t index) {
  this_unit = index;
  engine::Dispatcher::Locked locked{dispatcher_, "engine"};
  auto& lock = locked.lock();
  Worker& self = *workers_[index];
  PromptWaking prompt;
  for (;;) {
    // A spare worker starts a task that is already late, while groups keep the CPUs busy.
    if (self.spare) prompt.begin();
    self.called.wait(lock, [&] { return self.job != nullptr || dispatcher_.stopping(); });
    prompt.end();
    if (self.job == nullptr) return;
    std::shared_ptr<JobRecord> job = std::exchange(self.job, nullptr);
    current_ = job.get();
    tell_tracer(*job, lock);
    lock.unlock();
    const detail::Stay stay = visit(self, *job);
    lock.lock();
    self.demotion.restore();  // before other threads wait for the mutex that this thread holds
    // Pass the events to the tracer before this return is counted. The job then cannot come to rest
    // before its tracer has all events.
    ++job->telling;
    do {
      dispatcher_.look_at_demand(*job);
    } while (tell_tracer(*job, lock));
    current_ = nullptr;
    --job->telling;
    --job->inside;
    job->leaves += stay == detail::Stay::left ? 1 : 0;
    job->offers.merge(self.visit.offers);
    if (job->overdue) --overdue_;
    self.visited = nullptr;
    // Restore again, because the worker was without the mutex while it called the tracer.
    self.demotion.restore();
    add_idle(index);  // before other threads see the job at rest
    dispatcher_.news(*job);
    dispatcher_.rebalance();
    job.reset();  // the dispatcher still holds a reference
    locked.perform_effects();
  }
}

/// One worker's visit to a job. Uses a team if the job's groups have several threads.
detail::Stay Workers::visit(Worker& worker, JobRecord& job) {
  const std::uint32_t local_size = job.options.local_size.value_or(1);
  if (local_size > 1 && (worker.team == nullptr || worker.team->local_size() != local_size)) {
    try {
      worker.team = std::make_unique<Team>(local_size);
    } catch (...) {
      body_of(job).fail(std::current_exception(), protocol::no_id, 0);
      return detail::Stay::ended;
    }
  }
  worker.visit.team = local_size > 1 ? worker.team.get() : nullptr;
  return body_of(job).run_group(worker.visit);
}

void Workers::trace_gather(JobRecord& job, const TraceGather& gather) {
  body_of(job).untold.push_back(gather);
}

/// Passes pending events to the job's tracer. Releases the lock meanwhile; it is held again on
/// return. Returns false if there were no events.
bool Workers::tell_tracer(JobRecord& job, std::unique_lock<std::mutex>& lock) {
  if (body_of(job).untold.empty()) return false;
  const std::vector<TraceGather> gathers = std::exchange(body_of(job).untold, {});
  lock.unlock();
  for (const TraceGather& each : gathers) job.options.tracer->gathered(each);
  lock.lock();
  return true;
}

// ---- Requests of the dispatcher

std::uint32_t Workers::busy_workers() const {
  return static_cast<std::uint32_t>(workers_.size() - idle_.size());
}

/// The number of units that may be assigned now: the idle workers, limited by what remains of the
/// capacity.
std::uint32_t Workers::free_units() const {
  return dispatcher_.units() > busy_workers() ? dispatcher_.units() - busy_workers() : 0;
}

std::uint32_t Workers::startable(const JobRecord& job, std::uint32_t groups) const {
  const auto idle = static_cast<std::uint32_t>(idle_.size());
  return std::min(job.overdue ? idle : free_units(), groups);
}

void Workers::start(JobRecord& job, std::uint32_t groups) {
  auto& shared = body_of(job).shared;
  shared.offer_wait =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, job.options.offer_wait.count()));
  shared.recorder.tracer = job.options.tracer;
  shared.tickets.store(0, Order::relaxed);
  protocol::reset_lobby(shared, groups, Order::relaxed);
  protocol::reset_words(shared, groups, job.kept, Order::relaxed);
  set_patience(job, dispatcher_.units());
  publish(job);
  send(job, groups, true);  // the mutex publishes all of this to the workers
}

void Workers::set_patience(JobRecord& job, std::uint32_t capacity) const {
  auto& shared = body_of(job).shared;
  const Patience patience = patience_for(capacity, usable_cpus_);
  shared.barrier_event.patience.store(patience, std::memory_order_relaxed);
  shared.offer_event.patience.store(patience, std::memory_order_relaxed);
}

/// Publishes the words that the job's groups poll, and wakes sleeping groups.
void Workers::publish(JobRecord& job) {
  auto& shared = body_of(job).shared;
  const Roster roster = shared.look();
  if (job.cancelled && !roster.faulted()) protocol::raise(shared, Fault::cancelled);
  // The flag must come with a target of 0: pairs with target(acquire).
  if (job.suspending && !shared.suspending())
    shared.flags.store(protocol::suspend_flag, Order::release);
  // Groups that have returned count in M but use no unit, so the target has to include them.
  const std::uint32_t target =
      job.share + (roster.draining() && job.share > 0 ? roster.arrived() : 0);
  if (shared.share.load(Order::relaxed) == target) return;
  shared.share.store(target, Order::release);  // after the flags; pairs with target(acquire)
  Platform::notify(shared.lobby_event);
  Platform::notify(shared.offer_event);
}

void Workers::refill(JobRecord& job) {
  if (job.inside < job.share) send(job, std::min(free_units(), job.share - job.inside), false);
}

void Workers::send(JobRecord& job, std::uint32_t count, bool first) {
  if (job.overdue) {
    overdue_ += count;
    demote_late(count);  // before the task's threads look for a CPU
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    // Spare workers are at the front of the idle list.
    const auto next = job.overdue ? idle_.begin() : idle_.end() - 1;
    Worker& worker = *workers_[*next];
    worker.demotion.restore();
    worker.job = job.shared_from_this();
    worker.visited = &job;
    worker.visit = {
        .first = first,
        .serial = body_of(job).shared.serial.load(Order::relaxed),
        .hint = *next,
        .team = nullptr,
        .offers = {},
        .joined = false,
        .group = protocol::no_id,
        .moved = [](void* its_job, bool in,
                    bool joined) { static_cast<JobRecord*>(its_job)->moved(in, joined); },
        .job = &job};
    idle_.erase(next);
    ++job.inside;
    worker.called.notify_one();
  }
}

std::optional<std::uint64_t> Workers::progress(const JobRecord& job) const {
  return body_of(job).shared.look().gen();
}

void Workers::add_idle(std::uint32_t index) {
  idle_.insert(workers_[index]->spare ? idle_.begin() : idle_.end(), index);
}

// ---- Tasks that are overdue

/// Prepares threads for a task that may become overdue, and starts the thread that watches the due
/// times.
bool Workers::accept(JobRecord& job) {
  if (!job.due) return true;
  hire_spare(dispatcher_.units(), job.body->max_groups);
  try {
    static_cast<void>(demotion_way());
    if (!clock_.joinable()) clock_ = std::thread{[this] { keep_time(); }};
  } catch (const std::system_error& error) {
    throw Error{Errc::unsupported,
                std::string{"submit: start_within: cannot start a thread: "} + error.what()};
  }
  due_changed_.notify_one();
  return true;
}

/// Main function of the clock thread: starts each task when it is due.
void Workers::keep_time() {
  scheduling_.apply(::pthread_self());
  PromptWaking prompt;  // so that this thread runs even while late groups occupy all CPUs
  engine::Dispatcher::Locked locked{dispatcher_, "engine"};
  while (!dispatcher_.stopping()) {
    // Tasks that are due by now start here, or wait until a thread is free. The next wait is for
    // the first task that is due after this time.
    const std::uint64_t at = engine::now();
    dispatcher_.rebalance();
    prompt.end();  // effects may call tracers
    locked.perform_effects();
    if (dispatcher_.stopping()) return;
    prompt.begin();
    if (const auto next = dispatcher_.next_due(at)) {
      constexpr std::uint64_t hour = 3'600'000'000'000;
      const std::uint64_t left = *next - std::min(*next, engine::now());
      due_changed_.wait_for(locked.lock(), std::chrono::nanoseconds{std::min(left, hour)});
    } else {
      due_changed_.wait(locked.lock());
    }
  }
  prompt.end();  // the destructor of `locked` performs effects, too
}

void Workers::published_all() { demote_late(0); }

/// Demotes late groups, as many as there are more busy workers than units because of overdue tasks.
/// `soon` overdue tasks' groups are about to start. Restores all other groups. A group is late if
/// its job has more groups than its share; the highest ids count as late, because these groups
/// leave first.
void Workers::demote_late(std::uint32_t soon) {
  if (overdue_ == 0 && !any_demoted_) return;
  any_demoted_ = false;
  const std::uint32_t used = busy_workers() + soon;
  std::uint32_t surplus = used > dispatcher_.units() ? used - dispatcher_.units() : 0;
  surplus = std::min(surplus, overdue_);
  for (const auto& job : dispatcher_.jobs()) {
    // The ids are read once, because they may change.
    std::vector<std::pair<std::uint32_t, Worker*>> its;
    for (const auto& worker : workers_) {
      if (worker->visited != job.get()) continue;
      const std::atomic_ref id{worker->visit.group};
      its.emplace_back(id.load(std::memory_order_relaxed), worker.get());
    }
    std::uint32_t late = std::min(surplus, job->inside - std::min(job->inside, job->share));
    surplus -= late;
    std::ranges::sort(its, std::greater{});
    for (const auto& [id, each] : its) {
      if (late > 0) {
        --late;
        any_demoted_ = true;
        each->demotion.demote(each->thread.native_handle(), overdue_);
      } else {
        any_demoted_ |= !each->demotion.restore();
      }
    }
  }
  for (const std::uint32_t index : idle_) any_demoted_ |= !workers_[index]->demotion.restore();
}

Census Workers::census(const JobRecord& job) const {
  const Roster roster = body_of(job).shared.look();
  return {.open = !roster.draining() && !roster.faulted(), .over = job.inside == 0};
}

std::optional<Ending> Workers::ending(JobRecord& job) {
  const auto& shared = body_of(job).shared;
  const Roster roster = shared.look(Order::acquire);
  return engine::ending_of(roster, protocol::FaultRecord{shared.fault.load(Order::acquire)},
                           shared.kept.load(Order::acquire) != 0);
}

// ---- Waiting

bool Workers::called_by_group() const {
  return current_ != nullptr && current_->dispatcher.get() == &dispatcher_;
}

std::uint32_t Workers::blocked(const JobRecord& job) const {
  const auto is_its = [&job](const Wait& wait) { return wait.job == &job; };
  return static_cast<std::uint32_t>(std::count_if(waits_.begin(), waits_.end(), is_its));
}

/// Whether this wait can end while all other waits of `all` last. Groups that run will return at
/// some time.
bool Workers::can_end(const Wait& wait, const std::vector<Wait>& all) const {
  const JobRecord& awaited = *wait.awaited;
  if (awaited.status == Status::running) {
    return std::none_of(all.begin(), all.end(),
                        [&awaited](const Wait& each) { return each.job == &awaited; });
  }
  if (awaited.status != Status::pending) return true;
  std::uint32_t held = 0;
  for (auto each = all.begin(); each != all.end(); ++each) {
    const auto same_job = [each](const Wait& other) { return other.job == each->job; };
    if (each->job->resizable()) {
      ++held;
    } else if (std::none_of(all.begin(), each, same_job)) {
      // The job keeps the units of its groups that have returned.
      held += each->job->body->max_groups;
    }
  }
  return dispatcher_.units_to_start(awaited) + held <= dispatcher_.units();
}

/// Whether a new wait could end. Simulates the end of one wait after another, as far as possible.
bool Workers::could_end(const Wait& wait) const {
  std::vector<Wait> all{wait};
  all.insert(all.end(), waits_.begin(), waits_.end());
  for (;;) {
    const auto ends = [&](const Wait& each) { return can_end(each, all); };
    const auto next = std::find_if(all.begin(), all.end(), ends);
    if (next == all.begin()) return true;
    if (next == all.end()) return false;
    all.erase(next);
  }
}

void Workers::check_wait(const JobRecord& job, const char* call, bool endless) const {
  if (!endless || !called_by_group()) return;
  if (current_ == &job) {
    throw Error{Errc::bad_state, std::string{call} +
                                     ": called by a group of the same job, which cannot come to "
                                     "rest before that group returns"};
  }
  if (could_end({current_, &job})) return;
  throw Error{Errc::bad_state,
              std::string{call} +
                  ": it would never return: the awaited job needs units of groups that wait, or "
                  "its own groups wait for this one; wait outside kernels and tasks, or raise the "
                  "capacity of " +
                  std::to_string(dispatcher_.units())};
}

/// A waiting group keeps its unit, so the plan must not give that unit to tasks.
void Workers::await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
                    const std::function<bool()>& done) {
  const bool blocks = !deadline && called_by_group();
  const Wait wait{current_, &job};
  if (blocks) {
    waits_.push_back(wait);
    dispatcher_.rebalance();
  }
  engine::wait_for_change(lock, job.changed, deadline, done);
  if (blocks) {
    waits_.erase(std::find(waits_.begin(), waits_.end(), wait));
    dispatcher_.rebalance();
  }
}

}  // namespace cohort::cpu
