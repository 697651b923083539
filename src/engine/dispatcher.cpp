#include "engine/dispatcher.hpp"

#include <algorithm>
#include <typeinfo>
#include <utility>

namespace cohort::engine {

void wait_for_change(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                     Backend::Deadline deadline, const std::function<bool()>& done) {
  if (deadline) {
    changed.wait_until(lock, *deadline, done);
  } else {
    changed.wait(lock, done);
  }
}

std::uint32_t Backend::target(const JobRecord& job) const { return job.share; }

Dispatcher::Locked::Locked(const Dispatcher& dispatcher, const char* call)
    : dispatcher_(dispatcher) {
  dispatcher.process_.check(call);
  dispatcher.callers_.fetch_add(1, std::memory_order_relaxed);
  lock_ = std::unique_lock{dispatcher.mutex_};
  dispatcher.callers_.fetch_sub(1, std::memory_order_relaxed);
}

void Dispatcher::open(std::unique_ptr<Backend> backend, std::uint32_t units) {
  backend_ = std::move(backend);
  try {
    set_capacity(units);
  } catch (...) {
    stop();
    throw;
  }
}

void Dispatcher::share(std::unique_ptr<Lending> lending) {
  const Locked locked{*this, "engine"};
  lending_ = std::move(lending);
  lending_->lendable_changed();
}

void Dispatcher::stop() {
  if (left_behind()) {
    // In a child of fork() there are no threads to join. They may have been waiting on this
    // object's memory, which must therefore never be freed.
    new std::shared_ptr<Dispatcher>{shared_from_this()};  // NOLINT(cppcoreguidelines-owning-memory)
    return;
  }
  std::unique_ptr<Lending> lending;
  {
    const Locked locked{*this, "engine"};
    lending = std::move(lending_);
  }
  lending.reset();  // makes tenants give their units back, which calls this dispatcher
  {
    const Locked locked{*this, "engine"};
    stopping_ = true;
    for (const auto& job : all()) {
      if (!ended(job->status)) cancel(*job);
    }
  }
  backend_->stop();
}

std::uint32_t Dispatcher::capacity() const {
  const Locked locked{*this, "engine"};
  return capacity_;
}

void Dispatcher::set_capacity(std::uint32_t units) {
  const Locked locked{*this, "set_capacity"};
  check_alive("set_capacity");
  backend_->resize(units);
  capacity_ = units;
  rebalance();
}

void Dispatcher::check_alive(const char* call) const {
  if (lost_) throw Error{lost_->code(), backend_->lost_prefix() + lost_->what()};
  if (stopping_)
    throw Error{Errc::engine_gone, std::string{call} + ": the engine has been destroyed"};
}

std::vector<std::shared_ptr<JobRecord>> Dispatcher::all() const {
  std::vector<std::shared_ptr<JobRecord>> result = tasks_.all();
  result.insert(result.end(), jobs_.begin(), jobs_.end());
  return result;
}

std::vector<JobRecord*> Dispatcher::jobs_and_running_tasks() const {
  std::vector<JobRecord*> result;
  for (const auto& job : jobs_) result.push_back(job.get());
  for (const auto& task : tasks_.running()) result.push_back(task.get());
  return result;
}

bool Dispatcher::has_work() const {
  return !tasks_.empty() || std::any_of(jobs_.begin(), jobs_.end(),
                                        [](const auto& job) { return !at_rest(job->status); });
}

// ---- Arrival

std::shared_ptr<JobRecord> Dispatcher::launch(std::unique_ptr<cohort::detail::JobBody> body,
                                              const LaunchOptions& options,
                                              std::optional<int> priority, bool restored,
                                              const TaskTerms& terms) {
  const char* const call = priority ? "submit" : "launch";
  if (terms.start_within && !backend_->starts_overdue()) {
    throw Error{Errc::unsupported,
                "submit: start_within: this engine cannot start a task before groups have left "
                "their units; drop it, or use the CPU engine"};
  }
  {
    const Locked locked{*this, call};
    check_alive(call);  // check this before the backend accesses the device
  }
  auto job = std::make_shared<JobRecord>(shared_from_this(), std::move(body), options, priority);
  job->kept = restored;
  job->kind = terms.kind;
  if (terms.start_within) {
    const auto wait = static_cast<std::uint64_t>(terms.start_within->count());
    job->due = job->launched_at + wait;
  }
  backend_->admit(*job);
  enter(*job, call, [&](Locked& /*locked*/) {
    check_alive(call);
    const std::uint32_t groups = job->body->max_groups;
    if (options.resizable || priority || job->units_for(groups) <= capacity_) return;
    throw Error{Errc::bad_options,
                "launch: a static launch of " + std::to_string(groups) +
                    " groups on an engine of capacity " + std::to_string(capacity_) +
                    " could never start; use at most that many, or resizable = true"};
  });
  if (options.stop.stop_possible()) {
    job->stop_callback.emplace(options.stop, [weak = std::weak_ptr{job}] {
      if (const auto its = weak.lock()) its->cancel();
    });
  }
  return job;
}

void Dispatcher::enqueue(JobRecord& job) {
  const bool resumed = std::exchange(job.status, Status::pending) == Status::suspended;
  job.held = false;
  if (job.priority) {
    const std::uint32_t units = job.units_for(job.body->max_groups);
    const bool first = tasks_.push(job.shared_from_this(), *job.priority, units, job.body->guest);
    if (job.due) due_.emplace(*job.due, &job);
    job.metered = meter_.used() && !job.body->guest;
    if (job.metered) meter_.submitted(job.kind, units, view());
    // Without a new plan, a task with a due time could become due before the backend next checks
    // the time.
    if (!first && !job.due) return;
  } else if (!resumed) {
    job.number = ++launches_;
    jobs_.push_back(job.shared_from_this());
  }
  rebalance();
}

// ---- Distribution of units

/// Whether groups may still join a running job.
bool Dispatcher::may_join(const JobRecord& job) const {
  return !job.suspending && !job.cancelled && !job.concluding && backend_->census(job).open;
}

scheduler::Claim Dispatcher::claim(const JobRecord& job) const {
  const std::uint32_t blocked = backend_->blocked(job);
  std::uint32_t most = job.suspending ? blocked : job.groups_on(~0U);
  const bool running = job.status == Status::running;
  // Units beyond the groups inside would stay idle.
  if (running && !may_join(job)) most = std::min(most, std::max(job.inside, 1U));
  return {.max_groups = job.units_for(most),
          .weight = job.options.weight,
          .rigid = !job.resizable(),
          .running = running,
          .suspendable = job.body->suspendable,
          .owed = job.owed,
          .blocked = blocked};
}

std::uint32_t Dispatcher::units_to_start(const JobRecord& job) const {
  if (job.priority) return tasks_.most_groups_before(job.ticket);
  std::uint32_t most = 0;
  bool before = true;  // in launch order: true for jobs before `job`
  for (const auto& each : jobs_) {
    const bool itself = each.get() == &job;
    before = before && !itself;
    const bool first = each->owed == job.owed ? before || itself : each->owed;
    if (!first || each->status != Status::pending) continue;
    most = std::max(most, each->resizable() ? 1 : each->units_for(each->body->max_groups));
  }
  return most;
}

void Dispatcher::rebalance() {
  if (stopping_ || lost_) return;
  try {
    share_out();
  } catch (const Error& error) {
    lose(error.what());
  }
}

std::uint32_t Dispatcher::choose_groups(const std::string& kind, std::uint32_t most,
                                        std::optional<std::chrono::nanoseconds> limit) {
  const Locked locked{*this, "submit"};
  check_alive("submit");
  const auto nanoseconds =
      limit ? std::optional{static_cast<double>(limit->count())} : std::nullopt;
  return meter_.choose(kind, view(), capacity_, most, nanoseconds);
}

/// The state of the jobs, for the measurement of tasks.
TaskMeter::Jobs Dispatcher::view() const {
  TaskMeter::Jobs result{.now = now()};
  for (const auto& job : jobs_) {
    if (job->status == Status::suspended) continue;
    const cohort::detail::JobBody& body = *job->body;
    ++result.count;
    result.mix += std::hash<std::string>{}(typeid(body).name() + body.label()) + body.max_groups;
    const bool runs = job->status == Status::running;
    result.progress += runs ? backend_->progress(*job).value_or(0) : 0;
    const bool grows = runs && job->resizable() && may_join(*job) && job->inside < job->share;
    result.whole = result.whole && runs && !job->suspending && !grows;
  }
  return result;
}

std::optional<std::uint64_t> Dispatcher::next_due(std::uint64_t after) const {
  const auto next = due_.upper_bound({after, nullptr});
  return next == due_.end() ? std::nullopt : std::optional{next->first};
}

std::uint32_t Dispatcher::due_groups(std::uint32_t groups, std::uint32_t most) const {
  for (auto each = due_.begin(); each != due_.end() && groups < most; ++each)
    groups += each->second->body->max_groups;
  return std::min(groups, most);
}

/// Starts the tasks that are due. If the backend has no thread left for one, that task and all
/// later ones wait.
void Dispatcher::start_overdue() {
  while (!due_.empty() && due_.begin()->first <= now()) {
    JobRecord& task = *due_.begin()->second;
    task.overdue = true;
    if (!begin(task, task.ticket.groups)) break;
  }
}

void Dispatcher::share_out() {
  start_overdue();
  std::vector<JobRecord*> jobs;
  std::vector<scheduler::Claim> claims;
  for (const auto& each : jobs_) {
    if (each->status == Status::suspended) continue;
    if (each->status == Status::pending && !backend_->may_begin(*each)) continue;
    if (each->suspending && !each->concluding) publish(*each, 0);
    if (each->suspending && backend_->blocked(*each) == 0) continue;
    jobs.push_back(each.get());
    claims.push_back(claim(*each));
  }
  const std::uint32_t capacity = backend_->plannable(capacity_);
  const scheduler::Plan plan = tasks_.plan(capacity, claims);
  const std::uint32_t lendable = tasks_.lendable(capacity, claims);
  if (lendable_.exchange(lendable, std::memory_order_relaxed) != lendable && lending_)
    lending_->lendable_changed();

  for (std::size_t i = 0; i < jobs.size(); ++i) {  // shrink jobs before growing others
    if (jobs[i]->status != Status::running || jobs[i]->concluding || jobs[i]->suspending) continue;
    if (plan.suspends[i]) jobs[i]->suspending = true;
    publish(*jobs[i], plan.shares[i]);
  }
  backend_->published_all();
  for (std::uint32_t i = 0; i < plan.granted; ++i) {
    const auto task = tasks_.front();
    if (!begin(*task, task->ticket.groups)) break;  // reserve units that become free for this task
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    JobRecord& job = *jobs[i];
    if (job.status == Status::pending && plan.shares[i] > 0) begin(job, plan.shares[i]);
    if (job.status == Status::running && job.resizable() && may_join(job)) backend_->refill(job);
  }
  if (meter_.used()) meter_.look(view());
}

/// Starts or resumes a job on the free units. A rigid job starts on all its units or not at all.
bool Dispatcher::begin(JobRecord& job, std::uint32_t units) {
  const std::uint32_t share = job.groups_on(units);
  const std::uint32_t most = std::min(share, job.options.start_groups.value_or(share));
  const std::uint32_t groups = std::min(backend_->startable(job, share), most);
  if (groups == 0 || (!job.resizable() && groups < share)) return false;
  if (job.priority) {
    tasks_.start(job);
    if (job.due) due_.erase({*job.due, &job});
  }
  if (!job.priority || job.body->guest) meter_.jobs_changed();
  job.status = Status::running;
  job.owed = false;
  job.has_units = false;
  job.started_at = now();
  job.units = units;
  job.share = share;
  if (!job.kept) job.start_groups = groups;
  try {
    backend_->start(job, groups);
    note_start(job, backend_->census(job));
  } catch (const Error& error) {
    fail(job, error);
  }
  return true;
}

/// Publishes a job's share.
void Dispatcher::publish(JobRecord& job, std::uint32_t units) {
  const std::uint32_t before = job.share;
  job.units = units;
  job.share = job.groups_on(units);
  backend_->publish(job);
  if (job.not_out() > backend_->target(job)) {
    if (job.demand_at == 0) job.demand_at = now();  // a demand that grows keeps its start time
  } else if (job.share > before) {
    job.demand_at = 0;  // the share grew again, so the demand is withdrawn
  }
}

// ---- Progress and end

void Dispatcher::news(JobRecord& job) {
  if (job.status != Status::running || job.concluding) return;
  tasks_.unblock();  // its groups may have freed units for a waiting task
  const Census census = backend_->census(job);
  note_start(job, census);
  look_at_demand(job);
  if (!census.over) return;
  if (const auto ending = backend_->ending(job)) {
    settle(job, *ending);
    return;
  }
  job.concluding = true;
  effects_.add([self = job.shared_from_this()] { self->dispatcher->conclude(*self); });
}

void Dispatcher::note_start(JobRecord& job, const Census& census) {
  if (job.has_units || !census.has_units) return;
  job.has_units = true;
  job.started_at = now();
  if (!job.priority) return;
  met(job, job.launched_at, job.body->max_groups);
  if (job.metered) meter_.started(view());
}

void Dispatcher::look_at_demand(JobRecord& job) {
  if (job.priority) return;
  if (job.not_out() > backend_->target(job)) {
    if (job.demand_at == 0) job.demand_at = now();  // a lease has demanded SMs
  } else if (job.demand_at != 0) {
    met(job, std::exchange(job.demand_at, 0), job.not_out());
  }
}

void Dispatcher::met(JobRecord& job, std::uint64_t since, std::uint32_t groups) {
  const std::uint64_t at = now();
  job.gather.add(at - since);
  if (job.options.tracer == nullptr) return;
  backend_->trace_gather(job, {.begin = since, .end = at, .groups = groups});
}

void Dispatcher::trace_gather_later(JobRecord& job, const TraceGather& gather) {
  effects_.add([self = job.shared_from_this(), gather] { self->options.tracer->gathered(gather); });
}

/// Reads the run without the mutex, which is safe: nothing else touches a run while its job is
/// `concluding`.
void Dispatcher::conclude(JobRecord& job) {
  Ending ending;
  std::string why;  // stays empty unless the device is lost
  try {
    ending = backend_->conclude(job);
  } catch (const Error& error) {
    why = error.what();
  }
  {
    const Locked locked{*this, "engine"};
    if (!why.empty() && !lost_) lose(why);
    job.concluding = false;
    if (ended(job.status)) return;
    if (lost_) {
      fail(job, *lost_);
      return;
    }
    settle(job, ending);
    rebalance();
  }
  backend_->called();
}

void Dispatcher::settle(JobRecord& job, const Ending& ending) {
  job.fault = ending.fault;
  if (ending.status != Status::suspended) {
    rest(job, ending.status);
    return;
  }
  job.kept = true;
  const Status out = job.held ? Status::suspended : Status::pending;
  rest(job, job.cancelled ? Status::cancelled : out);  // a cancel may have come meanwhile
}

void Dispatcher::cancel(JobRecord& job) {
  if (job.status != Status::running) {
    rest(job, Status::cancelled);
    return;
  }
  job.cancelled = true;  // the job comes to rest later, when its last group is out
  if (job.concluding) return;
  try {
    backend_->publish(job);
  } catch (const Error& error) {
    lose(error.what());
  }
}

void Dispatcher::rest(JobRecord& job, Status status) {
  if (job.status == Status::running) {
    job.ran_before += now() - job.started_at;
    backend_->retire(job);
  }
  job.status = status;
  if (at_rest(status)) {
    job.last_rest = status;
    ++job.rests;
  }
  job.units = job.share = 0;
  job.demand_at = 0;
  job.suspending = false;  // the suspend request has been served, or came too late
  if (job.priority && !job.body->guest) {
    for (const auto& each : jobs_) each->owed = each->owed || each->status == Status::pending;
  }
  if (!job.priority || job.body->guest) meter_.jobs_changed();
  if (ended(status)) {
    backend_->ended(job);
    effects_.drop(job.shared_from_this());  // the kernel's destructor may call this dispatcher
    if (job.priority) {
      if (job.metered) meter_.ended(status == Status::finished, view());
      if (job.due) due_.erase({*job.due, &job});
      tasks_.remove(job);
    } else {
      std::erase_if(jobs_, [&job](const auto& each) { return each.get() == &job; });
    }
  }
  job.changed.notify_all();
}

void Dispatcher::fail(JobRecord& job, const Error& error) {
  job.error = error;
  rest(job, Status::failed);
}

void Dispatcher::lose(const std::string& why) {
  lost_ = Error{Errc::device_lost, why};
  backend_->abandon();
  for (const auto& job : all()) {
    if (job->concluding) continue;  // the thread that reads its run will end the job
    if (job->options.tracer == nullptr) {
      fail(*job, *lost_);
    } else {  // let calls of its tracer finish first
      job->concluding = true;
      effects_.add([job] {
        const Locked locked{*job->dispatcher, "engine"};
        job->concluding = false;
        if (!ended(job->status)) job->dispatcher->fail(*job, *job->dispatcher->lost_);
      });
    }
  }
}

std::chrono::microseconds Dispatcher::look() {
  try {
    return backend_->look();
  } catch (const Error& error) {
    lose(error.what());
    return std::chrono::hours{1};
  }
}

}  // namespace cohort::engine
