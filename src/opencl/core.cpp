// The pool: which worker is sent where, and what becomes of those who come back.
#include "opencl/core.hpp"

#include <algorithm>
#include <utility>

#include "cohort/platform/cpu.hpp"
#include "opencl/occupancy.hpp"

namespace cohort::opencl {
namespace {

using cpu::now;

/// The megakernel stays that long without work: the next launch finds its workers waiting.
constexpr std::uint64_t linger = 20'000'000;
/// How often the agent looks at the desks: while somebody waits for groups, and else.
constexpr std::chrono::microseconds hurried{20};
constexpr std::chrono::microseconds calm{200};
/// Jobs and tasks that a scheduler group serves at a time; more wait.
constexpr std::uint32_t context_limit = 64;

std::uint64_t nanoseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds{time}.count());
}

std::uint32_t threads_of(const Shape& shape) { return shape[0] * shape[1] * shape[2]; }

}  // namespace

Engine::Core::Core(EngineOptions options)
    : options_(std::move(options)),
      chosen_(choose_device(options_.device)),
      context_(checked_call("making a context", [this] { return cl::Context{chosen_.device}; })),
      memory_(std::make_shared<SharedMemory>(context_)) {
  if (options_.capacity && (*options_.capacity < 1 || *options_.capacity > chosen_.most_groups)) {
    throw Error{Errc::bad_options,
                "opencl engine: a capacity of " + std::to_string(*options_.capacity) + "; " +
                    chosen_.info.name + " can have 1 to " + std::to_string(chosen_.most_groups)};
  }
  most_groups_ = occupancy(context_, chosen_, options_.capacity.value_or(chosen_.usual_groups),
                           memory_, options_.patience);
  if (options_.scheduler == Scheduler::group && --most_groups_ == 0) {
    throw Error{Errc::unsupported, "opencl engine: " + chosen_.info.name +
                                       " runs one work-group at a time, which leaves none beside "
                                       "one that schedules; use Scheduler::host"};
  }
  capacity_ = most_groups_;
}

void Engine::Core::start() {
  agent_ = std::thread{[this] { attend(); }};
}

void Engine::Core::stop() {
  if (process_.left_behind()) {                     // here is no agent to join, and no device
    new std::shared_ptr<Core>{shared_from_this()};  // NOLINT(cppcoreguidelines-owning-memory)
    return;
  }
  std::vector<std::shared_ptr<Record>> all;
  {
    const auto lock = locked("engine");
    stopping_ = true;
    all = tasks_.all();
    all.insert(all.end(), jobs_.begin(), jobs_.end());
    for (const auto& job : all) {
      if (job->status == Status::running) {
        raise(job->words(), Fault::cancelled);
      } else {
        rest(*job, Status::cancelled);
      }
    }
  }
  called_.notify_all();
  if (agent_.joinable()) agent_.join();
}

void Engine::Core::check_alive() const {
  if (!lost_.empty()) throw Error{Errc::device_lost, lost_};
  if (stopping_) throw Error{Errc::engine_gone, "launch: the engine has been destroyed"};
}

/// Some job or task runs or wants to. Suspended jobs need no megakernel.
bool Engine::Core::has_work() const {
  return !tasks_.empty() || std::any_of(jobs_.begin(), jobs_.end(),
                                        [](const auto& job) { return !at_rest(job->status); });
}

std::vector<std::shared_ptr<Engine::Core::Record>> Engine::Core::jobs_and_running_tasks() const {
  std::vector<std::shared_ptr<Record>> result = jobs_;
  result.insert(result.end(), tasks_.running().begin(), tasks_.running().end());
  return result;
}

std::uint32_t Engine::Core::capacity() const {
  const auto lock = locked("engine");
  return capacity_;
}

void Engine::Core::set_capacity(std::uint32_t units) {
  const auto lock = locked("set_capacity");
  capacity_ = units;
  if (shift_) shift_->limit(units);
  rebalance();
}

// ---- the megakernel

void Engine::Core::load(const std::vector<KernelOf>& kernels) {
  const auto lock = locked("load");
  check_alive();
  for (const KernelOf& each : kernels) {
    if (std::find(loaded_.begin(), loaded_.end(), each) == loaded_.end()) loaded_.push_back(each);
  }
}

/// Whether the megakernel that runs serves this kernel. Throws if it does not, and has work.
bool Engine::Core::is_open_for(const KernelOf& kernel, Shape shape) const {
  if (!shift_) return false;
  if (megakernel_->find(kernel) && shift_->shape() == shape) return true;
  if (!has_work()) return false;
  if (!megakernel_->find(kernel)) {
    throw Error{Errc::bad_state, "launch: kernel " + kernel.info().name +
                                     " is not in the megakernel that runs; load() its program "
                                     "before the first launch"};
  }
  throw Error{Errc::bad_options, "launch: groups of " + std::to_string(threads_of(shape)) +
                                     " threads, but the megakernel runs with groups of " +
                                     std::to_string(threads_of(shift_->shape())) +
                                     ": all that run at a time have the same shape"};
}

/// What a megakernel that is started for this kernel consists of.
std::vector<KernelOf> Engine::Core::kernels_with(const KernelOf& kernel) const {
  std::vector<KernelOf> kernels = loaded_;
  if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
  return kernels;
}

/// Null if it has to be built first.
std::shared_ptr<Megakernel> Engine::Core::find_built(const KernelOf& kernel, Shape shape) const {
  const std::vector<KernelOf> kernels = kernels_with(kernel);
  const bool alone = threads_of(shape) == 1;
  const auto found = std::find_if(built_.begin(), built_.end(), [&](const auto& each) {
    return each->alone() == alone && each->kernels() == kernels;
  });
  return found != built_.end() ? *found : nullptr;
}

/// A megakernel that serves this kernel. Called without the mutex: compiling one takes seconds.
std::shared_ptr<Megakernel> Engine::Core::build(const KernelOf& kernel, Shape shape) {
  const std::lock_guard building{building_};
  std::vector<KernelOf> kernels;
  {
    const auto lock = locked("launch");
    check_alive();
    if (is_open_for(kernel, shape)) return megakernel_;
    if (const auto found = find_built(kernel, shape)) return found;
    close_shift();  // a build needs the device to learn the layout
    check_alive();
    kernels = kernels_with(kernel);
  }
  const auto built = std::make_shared<Megakernel>(context_, chosen_, options_.build_options,
                                                  kernels, threads_of(shape) == 1, memory_);
  const auto lock = locked("launch");
  built_.push_back(built);
  return built;
}

/// Sees to it that a megakernel with this kernel runs, in groups of this shape. Its number there;
/// nothing: build() it first.
std::optional<std::uint32_t> Engine::Core::open_shift(const KernelOf& kernel, Shape shape) {
  if (is_open_for(kernel, shape)) return *megakernel_->find(kernel);
  const auto built = find_built(kernel, shape);
  if (!built) return {};
  close_shift();
  check_alive();
  megakernel_ = built;
  shift_ =
      std::make_unique<Shift>(context_, chosen_.device, *megakernel_, memory_, most_groups_, shape,
                              options_.scheduler == Scheduler::group ? context_limit : 0);
  shift_->limit(capacity_);
  opened_at_ = idle_since_ = now();
  called_.notify_all();
  return *megakernel_->find(kernel);
}

/// All workers must be idle.
void Engine::Core::close_shift() {
  if (!shift_) return;
  look();  // some may have come late
  shift_->dismiss();
  if (!shift_->over(options_.patience)) {
    lose("opencl: the megakernel has not ended within " +
         std::to_string(options_.patience.count()) + " ms");
    return;
  }
  shift_.reset();
  workers_.clear();
  idle_.clear();
}

/// A kernel cannot be stopped: what it may still touch is given up, and so is the device.
void Engine::Core::lose(const std::string& why) {
  lost_ = why;
  if (shift_) shift_->dismiss();  // those who can, go
  memory_->abandon();
  new std::shared_ptr<SharedMemory>{memory_};  // NOLINT: leaked, with all that the kernel may use
  new std::vector<std::shared_ptr<Record>>{jobs_and_running_tasks()};  // NOLINT
  new cl::Context{context_};                                           // NOLINT
  new std::shared_ptr<Megakernel>{megakernel_};                        // NOLINT
  static_cast<void>(shift_.release());                                 // NOLINT
  workers_.clear();
  idle_.clear();
  std::vector<std::shared_ptr<Record>> ending = tasks_.all();
  ending.insert(ending.end(), jobs_.begin(), jobs_.end());
  for (const auto& job : ending) {
    if (job->concluding) continue;  // that ends it
    if (job->options.tracer == nullptr) {
      fail(*job, Errc::device_lost, why);
    } else {  // after the calls of its tracer that are under way
      job->concluding = true;
      effects_.add([job] {
        const auto lock = job->core->locked("engine");
        job->core->conclude(*job);
      });
    }
  }
}

// ---- the agent

void Engine::Core::attend() {
  std::unique_lock lock{mutex_};
  for (;;) {
    effects_.perform(lock);
    if (!shift_) {
      if (stopping_) return;
      called_.wait(lock, [this] { return shift_ != nullptr || stopping_; });
      continue;
    }
    if (look() && !stopping_) rebalance();
    watch();
    effects_.perform(lock);
    if (!shift_) continue;
    const bool working = has_work();
    if (working) idle_since_ = now();
    if (!working && (stopping_ || now() - idle_since_ > linger)) {
      close_shift();
      continue;
    }
    const auto present = jobs_and_running_tasks();
    const bool hurry =
        tasks_.waits() || std::any_of(present.begin(), present.end(), [](auto& job) {
          return job->status == Status::pending || job->demand_at != 0 || job->ordered;
        });
    lock.unlock();
    std::this_thread::sleep_for(hurry ? hurried : calm);
    lock.lock();
  }
}

/// True: somebody has checked in or come back.
bool Engine::Core::look() {
  return shift_->schedules_itself() ? look_at_contexts() : look_at_desks();
}

/// What the scheduler group has done.
bool Engine::Core::look_at_contexts() {
  bool changed = workers_.size() < shift_->here();
  workers_.resize(shift_->here());
  for (const auto& job : jobs_and_running_tasks()) {
    if (!job->context) continue;
    Context& context = shift_->context(*job->context);
    if (job->ordered && context.start.load(std::memory_order_acquire) == 0) {  // as it is sent
      job->ordered = false;
      job->started();
    }
    if (job->ordered) continue;
    const bool over = context.over.load(std::memory_order_acquire) != 0;  // pairs with its release
    const std::uint32_t inside = context.inside.load(std::memory_order_acquire);
    const std::uint32_t joins = context.joins.load(std::memory_order_relaxed);
    const std::uint32_t leaves = context.leaves.load(std::memory_order_relaxed);
    job->joins += joins - std::exchange(job->joins_seen, joins);
    job->leaves += leaves - std::exchange(job->leaves_seen, leaves);
    job->count(context.members.load(std::memory_order_relaxed));
    changed = changed || over || inside < job->inside;
    job->inside = inside;
    job->look_at_demand();
    if (over) {
      job->context.reset();
      settle(*job);
    }
  }
  return changed;
}

bool Engine::Core::look_at_desks() {
  bool changed = false;
  while (workers_.size() < shift_->here()) {
    idle_.push_back(static_cast<std::uint32_t>(workers_.size()));
    workers_.emplace_back();
    changed = true;
  }
  for (std::uint32_t i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    if (!worker.job) continue;
    Desk& desk = shift_->desk(i);
    const std::uint32_t answer =
        desk.answer.load(std::memory_order_acquire);  // pairs with the worker's releases
    const std::uint32_t how = answer - 4 * worker.visit;
    if (how > Desk::done || how == Desk::sent) continue;
    const bool was_in = how != Desk::done || desk.stay != Desk::refused;
    if (was_in && !worker.in) {
      worker.in = true;
      worker.job->moved(true, how == Desk::done ? desk.joined != 0 : how == Desk::in_joined);
    }
    if (how == Desk::done) {
      back(i, desk);
      changed = true;
    }
  }
  return changed;
}

/// A worker has come back.
void Engine::Core::back(std::uint32_t index, Desk& desk) {
  Worker& worker = workers_[index];
  const std::shared_ptr<Record> job = std::exchange(worker.job, nullptr);
  if (std::exchange(worker.in, false)) job->moved(false, false);
  --job->inside;
  job->leaves += desk.stay == Desk::left ? 1 : 0;
  job->look_at_demand();
  idle_.push_back(index);
  settle(*job);
}

/// Gives up on what will never come.
void Engine::Core::watch() {
  const std::uint64_t at = now();
  const std::uint64_t patience = nanoseconds(options_.patience);
  auto watched = jobs_and_running_tasks();
  if (tasks_.waits()) watched.push_back(tasks_.front());  // those behind it wait for it
  for (const auto& job : watched) {
    if (job->concluding) continue;
    if (job->status == Status::running && job->words().look().faulted()) {
      if (job->fault_at == 0) job->fault_at = at;
      if (at - job->fault_at > patience) {
        lose("opencl: kernel " + job->order.info().name + " has reached no primitive within " +
             std::to_string(options_.patience.count()) +
             " ms of being told to end, and nothing can stop it: the device is given up");
        return;
      }
    }
    const bool rigid = job->status == Status::pending && !job->options.resizable;
    if (rigid && job->words().max_groups > room() && at - opened_at_ > patience) {
      fail(*job, Errc::unsupported,
           "launch: kernel " + job->order.info().name + " needs " +
               std::to_string(job->words().max_groups) +
               " groups, of which the device has started " + std::to_string(workers_.size()));
      rebalance();  // others waited for it
    }
  }
  if (workers_.empty() && has_work() && at - opened_at_ > patience) {
    lose("opencl: no work-group of the megakernel has started within " +
         std::to_string(options_.patience.count()) + " ms");
  }
}

// ---- who goes where

/// Units that can be given out at all: what the capacity allows, of the workers that are here once
/// they have had time to come.
std::uint32_t Engine::Core::room() const {
  const auto here = static_cast<std::uint32_t>(workers_.size());
  const bool settled = now() - opened_at_ > nanoseconds(options_.patience);
  return settled ? std::min(capacity_, here) : capacity_;
}

std::uint32_t Engine::Core::free_units() const {
  std::uint32_t busy = 0;
  for (const auto& job : jobs_) busy += job->inside;
  for (const auto& task : tasks_.running()) busy += task->inside;
  const std::uint32_t all = std::min(capacity_, static_cast<std::uint32_t>(workers_.size()));
  return all > busy ? all - busy : 0;
}

std::optional<std::uint32_t> Engine::Core::free_context() const {
  const auto present = jobs_and_running_tasks();
  for (std::uint32_t i = 0; i < shift_->context_count(); ++i) {
    const auto uses = [i](const auto& job) { return job->context == i; };
    if (std::none_of(present.begin(), present.end(), uses)) return i;
  }
  return {};
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
  const scheduler::Plan plan = tasks_.plan(room(), claims);

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
    const Roster roster = job->words().look();
    const bool open = job->status == Status::running && job->options.resizable &&
                      !job->concluding && !job->suspending() && !roster.draining() &&
                      !roster.faulted();
    if (open && !job->context && job->inside < plan.shares[i]) {
      send(job, std::min(free_units(), plan.shares[i] - job->inside), false);
    }
  }
}

/// Starts a job, or starts it again, with the units that are free; all or none if it is rigid.
bool Engine::Core::begin(const std::shared_ptr<Record>& job, std::uint32_t share) {
  const bool by_group = shift_->schedules_itself();
  const std::uint32_t most = std::min(share, job->options.start_groups.value_or(share));
  std::uint32_t count = std::min(free_units(), most);
  // A scheduler group waits for all of them itself, but not for what the device has not started.
  if (by_group && !job->options.resizable && share <= workers_.size()) count = share;
  if (count == 0 || (!job->options.resizable && count < share)) return false;
  if (by_group && !free_context()) return false;
  if (job->priority) tasks_.start(*job);
  job->memory.prepare(count, job->kept);
  job->status = Status::running;
  job->owed = false;
  if (!job->kept) job->start_groups = count;
  if (by_group) {
    order(job, count, share);
  } else {
    job->started();
    publish(*job, share);
    send(job, count, true);
  }
  return true;
}

/// Has the scheduler group start it.
void Engine::Core::order(const std::shared_ptr<Record>& job, std::uint32_t count,
                         std::uint32_t share) {
  job->context = free_context();
  Context& context = shift_->context(*job->context);
  constexpr auto relaxed = std::memory_order_relaxed;  // `start` carries it all
  context.job = &job->words();
  context.serial = job->words().serial.load(relaxed);
  for (Word* each : {&context.over, &context.members, &context.joins, &context.leaves})
    each->store(0, relaxed);
  job->joins_seen = job->leaves_seen = 0;
  job->ordered = true;
  job->inside = count;
  job->started_at = now();
  publish(*job, share);
  context.start.store(count,
                      std::memory_order_release);  // pairs with the scheduler group's acquire
}

/// Tells a job its share, which its groups poll.
void Engine::Core::publish(Record& job, std::uint32_t share) {
  Words& words = job.words();
  // Groups that have returned count in M, but use no unit: the target has to count them too.
  const Roster roster = words.look();
  const std::uint32_t target = share + (roster.draining() && share > 0 ? roster.arrived() : 0);
  if (share >= job.inside) {
    job.demand_at = 0;
  } else if (job.demand_at == 0) {
    job.demand_at = now();  // a demand that grows before it is met keeps its beginning
  }
  job.share = share;
  words.share.store(target, std::memory_order_release);  // after the flags; pairs with the offers
  if (job.context)  // after the share; pairs with the scheduler group's acquire
    shift_->context(*job.context).wanted.store(share, std::memory_order_release);
}

void Engine::Core::send(const std::shared_ptr<Record>& job, std::uint32_t count, bool first) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = idle_.back();
    idle_.pop_back();
    Worker& worker = workers_[index];
    Desk& desk = shift_->desk(index);
    worker.job = job;
    if (++worker.visit == Desk::go_home) worker.visit = 1;
    desk.job = &job->words();
    desk.first = first ? 1 : 0;
    desk.serial = job->words().serial.load(std::memory_order_relaxed);
    ++job->inside;
    desk.order.store(worker.visit, std::memory_order_release);  // pairs with the worker's acquire
  }
}

/// After a worker has come back: if it was the last, how did the job end?
void Engine::Core::settle(Record& job) {
  if (job.inside != 0 || job.status != Status::running || job.concluding) return;
  if (job.options.tracer == nullptr) {
    conclude(job);
    return;
  }
  job.concluding = true;
  effects_.add([self = job.shared_from_this()] {
    self->memory.replay(*self->options.tracer);
    Core& core = *self->core;
    const auto lock = core.locked("engine");
    core.conclude(*self);
    if (core.shift_ && !core.stopping_) core.rebalance();
  });
}

/// No group is inside, and the tracer has been told.
void Engine::Core::conclude(Record& job) {
  if (ended(job.status)) return;
  job.concluding = false;
  if (!lost_.empty()) {
    fail(job, Errc::device_lost, lost_);
    return;
  }
  const Words& words = job.words();
  const Roster roster = words.look();
  const Fault fault = protocol::FaultRecord{words.fault.load(std::memory_order_relaxed)}.fault();
  if (roster.faulted()) {
    rest(job, fault == Fault::cancelled ? Status::cancelled : Status::failed);
  } else if (roster.finished()) {
    rest(job, Status::finished);
  } else if (words.kept_flag.load(std::memory_order_relaxed) != 0) {
    job.kept = true;
    rest(job, job.held ? Status::suspended : Status::pending);
  } else if (roster.active() == 0) {
    rest(job, Status::left);
  } else {
    raise(job.words(), Fault::lost_group);
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
  job.words().flags.store(0,
                          std::memory_order_relaxed);  // a suspend has been served, or is too late
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

void Engine::Core::fail(Record& job, Errc code, const std::string& why) {
  job.error.emplace(code, why);
  rest(job, Status::failed);
}

std::shared_ptr<Engine::Core::Record> Engine::Core::launch(Order order,
                                                           const LaunchOptions& options,
                                                           std::optional<int> priority) {
  const KernelOf kernel = order.kernel;
  const Shape shape = shape_of(order, options);
  const auto megakernel = build(kernel, shape);
  JobMemory memory{memory_, order, megakernel->state_size(*megakernel->find(kernel)),
                   options.max_groups.value_or(capacity()), options};
  const auto record = std::make_shared<Record>(shared_from_this(), std::move(order),
                                               std::move(memory), options, priority);
  for (bool opened = false; !opened;) {
    {
      const auto lock = locked(priority ? "submit" : "launch");
      check_alive();
      if (const auto which = open_shift(kernel, shape)) {
        opened = true;
        record->words().which = *which;
        if (!priority) jobs_.push_back(record);
        look();
        if (!priority || tasks_.push(record, *priority, record->words().max_groups)) rebalance();
      }
    }
    if (!opened) build(kernel, shape);  // others were loaded meanwhile
  }
  if (options.stop.stop_possible()) {
    record->stop_callback.emplace(options.stop, [weak = std::weak_ptr{record}] {
      if (const auto job = weak.lock()) job->cancel();
    });
  }
  return record;
}

}  // namespace cohort::opencl
