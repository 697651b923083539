// The pool: who is sent where, and what becomes of those who come back.
#include "cpu/core.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace cohort::cpu {
namespace {

/// Spinning pays only while the group that is waited for has a CPU of its own.
Patience patience_for(std::uint32_t capacity, std::uint32_t cpus) {
  return capacity <= cpus ? Patience{.spins = 2000, .yields = 20}
                          : Patience{.spins = 0, .yields = 40};
}

}  // namespace

namespace detail {

Body::Body(std::uint32_t max_groups)
    : boxes_(max_groups), free_ids_(protocol::id_words(max_groups)) {
  shared.max_groups = max_groups;
}

Body::~Body() = default;

void Body::fail(std::exception_ptr thrown) noexcept {
  // Read by the host after this worker is out.
  if (protocol::raise(shared, Fault::exception)) exception = std::move(thrown);
}

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
  shared.tickets.store(0, Order::relaxed);
  shared.fork_lock.store(0, Order::relaxed);
  shared.departing.store(0, Order::relaxed);
  shared.deposit_gen.store(protocol::no_deposit, Order::relaxed);
  shared.kept.store(0, Order::relaxed);
  shared.roster.store(Roster::gather,
                      Order::release);  // the engine's mutex carries it to the workers
}

}  // namespace detail

void Engine::Core::start(std::uint32_t workers, bool pin) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (pin && ::sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) cpus_.push_back(cpu);
    }
  }
  usable_cpus_ = usable_cpus();  // reads files
  const auto lock = locked("engine");
  hire(workers);
  std::reverse(idle_.begin(), idle_.end());  // worker 0 is sent first
  capacity_ = workers;
}

thread_local const Engine::Core::Record* Engine::Core::current_ = nullptr;

std::unique_lock<std::mutex> Engine::Core::locked(const char* call) const {
  process_.check(call);
  return std::unique_lock{mutex_};
}

/// Starts threads until there are that many.
void Engine::Core::hire(std::uint32_t workers) {
  workers_.reserve(workers);  // once a thread runs there is no way back: nothing may throw then
  idle_.reserve(workers);
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
  const auto lock = locked("engine");
  return capacity_;
}

void Engine::Core::set_capacity(std::uint32_t units) {
  const auto lock = locked("set_capacity");
  hire(units);
  capacity_ = units;
  for (const auto& job : jobs_) set_patience(*job);
  for (const auto& task : tasks_.running()) set_patience(*task);
  rebalance();
}

void Engine::Core::set_patience(Record& job) const {
  auto& shared = job.body->shared;
  const Patience patience = patience_for(capacity_, usable_cpus_);
  shared.barrier_event.patience.store(patience, std::memory_order_relaxed);
  shared.offer_event.patience.store(patience, std::memory_order_relaxed);
}

/// Units that may be given out now: workers without work, but no more than the capacity leaves.
std::uint32_t Engine::Core::free_units() const {
  const auto busy = static_cast<std::uint32_t>(workers_.size() - idle_.size());
  return capacity_ > busy ? capacity_ - busy : 0;
}

void Engine::Core::stop() {
  if (process_.left_behind()) {
    // Here are no workers to join, and the memory on which threads waited must not be freed.
    new std::shared_ptr<Core>{shared_from_this()};  // NOLINT(cppcoreguidelines-owning-memory)
    return;
  }
  std::vector<std::shared_ptr<Record>> all;  // let go of without the lock: kernels have destructors
  {
    const auto lock = locked("engine");
    stopping_ = true;
    all = tasks_.all();
    all.insert(all.end(), jobs_.begin(), jobs_.end());
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

/// One worker's visit to a job, with a team for it if its groups have several threads.
detail::Stay Engine::Core::visit(Worker& worker, Record& job) {
  const std::uint32_t local_size = job.options.local_size.value_or(1);
  if (local_size > 1 && (worker.team == nullptr || worker.team->local_size() != local_size)) {
    try {
      worker.team = std::make_unique<Team>(local_size);
    } catch (...) {
      job.body->fail(std::current_exception());
      return detail::Stay::ended;
    }
  }
  worker.visit.team = local_size > 1 ? worker.team.get() : nullptr;
  return job.body->run_group(worker.visit);
}

void Engine::Core::work(std::uint32_t index) {
  this_unit = index;
  std::unique_lock lock{mutex_};
  Worker& self = *workers_[index];
  for (;;) {
    self.called.wait(lock, [&] { return self.job != nullptr || stopping_; });
    if (self.job == nullptr) return;
    std::shared_ptr<Record> job = std::exchange(self.job, nullptr);
    lock.unlock();
    current_ = job.get();
    if (self.start) job->options.tracer->gathered(*std::exchange(self.start, std::nullopt));
    const detail::Stay stay = visit(self, *job);
    lock.lock();
    tell_gathers(*job, lock);
    current_ = nullptr;
    --job->inside;
    job->leaves += stay == detail::Stay::left ? 1 : 0;
    job->offers.merge(self.visit.offers);
    idle_.push_back(index);  // before the job is seen to be at rest
    settle(*job);
    if (!stopping_) rebalance();
    if (ended(job->status)) {  // perhaps the last to hold it: its kernel's destructor may call us
      lock.unlock();
      job.reset();
      lock.lock();
    }
  }
}

/// A worker is back, which may meet a demand. The tracer is told before the return counts, so the
/// job is not at rest earlier.
void Engine::Core::tell_gathers(Record& job, std::unique_lock<std::mutex>& lock) {
  while (job.demand_at != 0 && job.inside - 1 <= job.share) {
    const TraceGather gather = job.gathered(std::exchange(job.demand_at, 0), job.share);
    if (job.options.tracer == nullptr) continue;
    lock.unlock();
    job.options.tracer->gathered(gather);
    lock.lock();
  }
}

/// Whether the job can start while so many groups wait and keep their units.
bool Engine::Core::can_start_next_to(std::size_t waiting, const Record& job) const {
  if (job.status != Status::pending) return true;
  const std::uint32_t least = job.options.resizable ? 1 : job.body->shared.max_groups;
  const std::uint32_t needed = job.priority ? tasks_.most_groups_before(job.ticket) : least;
  return needed + waiting <= capacity_;
}

/// For a call that returns when the job is at rest. A group that makes it keeps its unit meanwhile.
void Engine::Core::refuse_endless_wait(const Record& job, const char* call) const {
  if (current_ == nullptr || current_->core.get() != this) return;
  if (current_ == &job) {
    throw Error{Errc::bad_state, std::string{call} +
                                     ": called by a group of the same job, which cannot come to "
                                     "rest before that group returns"};
  }
  const std::size_t waiting = awaited_.size() + 1;
  const auto starts = [&](const Record* each) { return can_start_next_to(waiting, *each); };
  if (starts(&job) || std::any_of(awaited_.begin(), awaited_.end(), starts)) return;
  throw Error{Errc::bad_state,
              std::string{call} + ": it would never return: of " + std::to_string(capacity_) +
                  " units " + std::to_string(waiting) +
                  " are held by groups that wait for jobs which need them to start; wait outside "
                  "kernels and tasks, or raise the capacity"};
}

/// Decides what everybody is to have, and sends idle workers to whoever has less than that.
void Engine::Core::rebalance() {
  std::vector<std::shared_ptr<Record>> jobs;
  std::vector<scheduler::Claim> claims;
  for (const auto& each : jobs_) {
    if (each->status == Status::suspended) continue;
    if (each->suspending()) {
      publish(*each, 0);
    } else {
      jobs.push_back(each);
      claims.push_back(each->claim());
    }
  }
  const scheduler::Plan plan = tasks_.plan(capacity_, claims);

  for (std::size_t i = 0; i < jobs.size(); ++i) {  // shrink jobs before growing others
    if (jobs[i]->status != Status::running) continue;
    if (plan.suspends[i]) jobs[i]->ask_to_leave();
    publish(*jobs[i], plan.shares[i]);
  }
  for (std::uint32_t i = 0; i < plan.granted; ++i) {
    const auto task = tasks_.front();
    if (!begin(task, task->ticket.groups)) break;  // what comes free is for this one
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
  set_patience(*job);
  job->status = Status::running;
  job->started_at = now();
  job->owed = false;
  if (!job->kept) job->start_groups = count;
  publish(*job, share);
  if (job->priority) {
    tasks_.start(*job);
    const TraceGather gather = job->gathered(job->launched_at, share);  // all units in hand
    if (job->options.tracer != nullptr) workers_[idle_.back()]->start = gather;
  }
  send(job, count, true);
  return true;
}

/// Tells a job its share. Groups poll it; those that sleep over it are woken.
void Engine::Core::publish(Record& job, std::uint32_t share) {
  auto& shared = job.body->shared;
  // Groups that have returned count in M, but use no unit: the target has to count them too.
  const Roster roster = shared.look();
  const std::uint32_t target = share + (roster.draining() && share > 0 ? roster.arrived() : 0);
  if (share >= job.inside) {
    job.demand_at = 0;
  } else if (job.demand_at == 0) {
    job.demand_at = now();  // a demand that grows before it is met keeps its beginning
  }
  job.share = share;
  if (shared.share.load(Order::relaxed) == target) return;
  shared.share.store(target, Order::release);  // after the flags: pairs with target(acquire)
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
    const protocol::FaultRecord record{shared.fault.load(Order::acquire)};
    rest(job, record.fault() == Fault::cancelled ? Status::cancelled : Status::failed);
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
  if (at_rest(status)) {
    job.last_rest = status;
    ++job.rests;
  }
  job.share = 0;
  job.demand_at = 0;
  job.body->shared.flags.store(0,
                               Order::relaxed);  // a suspend has been served, or has come too late
  if (job.priority) {
    for (const auto& each : jobs_) each->owed = each->owed || each->status == Status::pending;
  }
  if (ended(status) && job.priority) {
    tasks_.remove(job);
  } else if (ended(status)) {
    std::erase_if(jobs_, [&job](const auto& each) { return each.get() == &job; });
  }
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
    const auto lock = locked(priority ? "submit" : "launch");
    if (!priority) jobs_.push_back(record);
    if (!priority || tasks_.push(record, *priority, shared.max_groups)) rebalance();
  }
  if (options.stop.stop_possible()) {
    record->stop_callback.emplace(options.stop, [weak = std::weak_ptr{record}] {
      if (const auto job = weak.lock()) job->cancel();
    });
  }
  return record;
}

}  // namespace cohort::cpu
