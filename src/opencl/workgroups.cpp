// Starts and ends megakernels, and sends workers to jobs and tasks.
#include "opencl/workgroups.hpp"

#include <algorithm>
#include <utility>

#include "cohort/protocol/reset.hpp"
#include "engine/options.hpp"
#include "opencl/occupancy.hpp"

namespace cohort::opencl {
namespace {

using cpu::now;

/// How long the megakernel stays without work, so that the next launch finds its workers waiting.
constexpr std::uint64_t linger = 20'000'000;
/// How often the agent polls the desks: `hurried` while a thread waits for groups, `calm`
/// otherwise.
constexpr std::chrono::microseconds hurried{20};
constexpr std::chrono::microseconds calm{200};
/// Jobs and tasks that a scheduler group serves at a time. Further ones wait.
constexpr std::uint32_t context_limit = 64;

std::uint64_t nanoseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds{time}.count());
}

std::uint32_t threads_of(const Shape& shape) { return shape[0] * shape[1] * shape[2]; }

WorkgroupBody& body_of(const JobRecord& job) { return static_cast<WorkgroupBody&>(*job.body); }

}  // namespace

Workgroups::Workgroups(engine::Dispatcher& dispatcher, EngineOptions options, Chosen chosen,
                       cl::Context context, std::shared_ptr<SharedMemory> memory)
    : PolledBackend(dispatcher),
      options_(std::move(options)),
      chosen_(std::move(chosen)),
      context_(std::move(context)),
      memory_(std::move(memory)),
      most_groups_(occupancy(context_, chosen_, options_.capacity.value_or(chosen_.usual_groups),
                             memory_, options_.patience)) {
  if (options_.scheduler == Scheduler::group && --most_groups_ == 0) {
    throw Error{Errc::unsupported, "opencl engine: " + chosen_.info.name +
                                       " runs one work-group at a time, so a scheduler group "
                                       "would leave none for jobs; use Scheduler::host"};
  }
}

void Workgroups::resize(std::uint32_t units) {
  check_capacity(units, most_groups_);
  if (shift_) shift_->limit(units);
}

// ---- the megakernel

void Workgroups::load(const std::vector<KernelOf>& kernels) {
  const engine::Dispatcher::Locked locked{dispatcher_, "load"};
  dispatcher_.check_alive("load");
  for (const KernelOf& each : kernels) {
    if (std::find(loaded_.begin(), loaded_.end(), each) == loaded_.end()) loaded_.push_back(each);
  }
}

/// Whether the running megakernel serves this kernel. Throws if it does not and is busy.
bool Workgroups::is_open_for(const BoundKernel& bound, Shape shape) const {
  if (!shift_) return false;
  const KernelOf& kernel = bound.kernel;
  const bool has_room = shift_->more_local() >= bound.more_local;
  if (megakernel_->find(kernel) && shift_->shape() == shape && has_room) return true;
  if (!dispatcher_.has_work()) return false;
  if (!megakernel_->find(kernel)) {
    throw Error{Errc::bad_state, "launch: kernel " + kernel.info().name +
                                     " is not in the megakernel that runs; load() its program "
                                     "before the first launch"};
  }
  if (!has_room) {
    throw Error{Errc::bad_options, "launch: kernel " + kernel.info().name + " is given " +
                                       std::to_string(bound.more_local) +
                                       " bytes of local memory, but the megakernel runs with " +
                                       std::to_string(shift_->more_local()) +
                                       ": launch the kernel that is given most first"};
  }
  throw Error{Errc::bad_options, "launch: groups of " + std::to_string(threads_of(shape)) +
                                     " threads, but the megakernel runs with groups of " +
                                     std::to_string(threads_of(shift_->shape())) +
                                     ": all that run at a time have the same shape"};
}

/// The kernels of the megakernel that is started to run this kernel.
std::vector<KernelOf> Workgroups::kernels_with(const KernelOf& kernel) const {
  std::vector<KernelOf> kernels = loaded_;
  if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) kernels.push_back(kernel);
  return kernels;
}

/// Returns a built megakernel that serves this kernel. Null if it has yet to be built.
std::shared_ptr<Megakernel> Workgroups::find_built(const KernelOf& kernel, Shape shape) const {
  const std::vector<KernelOf> kernels = kernels_with(kernel);
  const bool alone = threads_of(shape) == 1;
  const auto found = std::find_if(built_.begin(), built_.end(), [&](const auto& each) {
    return each->alone() == alone && each->kernels() == kernels;
  });
  return found != built_.end() ? *found : nullptr;
}

/// Builds a megakernel that serves this kernel. Called without the mutex, because compiling takes
/// seconds.
std::shared_ptr<Megakernel> Workgroups::build(const BoundKernel& bound, Shape shape) {
  const KernelOf& kernel = bound.kernel;
  const std::lock_guard building{building_};
  std::vector<KernelOf> kernels;
  {
    const engine::Dispatcher::Locked locked{dispatcher_, "launch"};
    dispatcher_.check_alive("launch");
    if (is_open_for(bound, shape)) return megakernel_;
    if (const auto found = find_built(kernel, shape)) return found;
    close_shift();  // a build needs the device to learn the layout
    dispatcher_.check_alive("launch");
    kernels = kernels_with(kernel);
  }
  const auto built = std::make_shared<Megakernel>(context_, chosen_, options_.build_options,
                                                  kernels, threads_of(shape) == 1, memory_);
  const engine::Dispatcher::Locked locked{dispatcher_, "launch"};
  built_.push_back(built);
  return built;
}

/// Ensures that a megakernel with this kernel runs, with groups of this shape. Returns the kernel's
/// number there; empty if build() has to be called first.
std::optional<std::uint32_t> Workgroups::open_shift(const BoundKernel& bound, Shape shape) {
  const KernelOf& kernel = bound.kernel;
  if (is_open_for(bound, shape)) return *megakernel_->find(kernel);
  const auto built = find_built(kernel, shape);
  if (!built) return {};
  close_shift();
  dispatcher_.check_alive("launch");
  megakernel_ = built;
  Shift::Size size{.workers = most_groups_,
                   .shape = shape,
                   .more_local = bound.more_local,
                   .contexts = options_.scheduler == Scheduler::group ? context_limit : 0,
                   .patience = options_.patience};
  const std::tuple key{built.get(), shape, bound.more_local};
  if (const auto found = occupant_.find(key); found != occupant_.end()) {
    size.workers = found->second;
    size.counted = true;
  }
  shift_ = std::make_unique<Shift>(context_, chosen_, *megakernel_, memory_, size);
  expected_ = shift_->workers();
  // A low count of a CPU device is not kept, because the device may have been busy.
  if (!chosen_.info.is_cpu || expected_ == most_groups_) occupant_[key] = expected_;
  shift_->limit(dispatcher_.units());
  opened_at_ = idle_since_ = now();
  return *megakernel_->find(kernel);
}

/// Ends the shift. All workers must be idle.
void Workgroups::close_shift() {
  if (!shift_) return;
  collect();  // some workers may have checked in late
  shift_->dismiss();
  if (!shift_->over(options_.patience)) {
    dispatcher_.lose("opencl: the megakernel has not ended within " +
                     std::to_string(options_.patience.count()) + " ms");
    return;
  }
  shift_.reset();
  workers_.clear();
  idle_.clear();
}

void Workgroups::admit(JobRecord& job) {
  WorkgroupBody& body = body_of(job);
  const auto megakernel = build(body.bound, body.shape);
  if (body.memory) return;
  body.memory.emplace(memory_, body.bound,
                      megakernel->state_size(*megakernel->find(body.bound.kernel)), body.max_groups,
                      job.options);
}

bool Workgroups::accept(JobRecord& job) {
  WorkgroupBody& body = body_of(job);
  const auto which = open_shift(body.bound, body.shape);
  if (!which) return false;  // another thread loaded kernels meanwhile
  body.words().which = *which;
  // Plans here, not on the agent's thread: the agent would see no change, because a task behind
  // another one is queued without a plan.
  if (collect()) dispatcher_.rebalance();
  return true;
}

/// A kernel cannot be stopped, so memory that it may still access is leaked.
void Workgroups::abandon() {
  if (shift_) shift_->dismiss();  // workers that still poll will exit
  memory_->abandon();
  new std::shared_ptr<SharedMemory>{memory_};  // NOLINT
  for (JobRecord* const job : dispatcher_.jobs_and_running_tasks())
    new std::shared_ptr<JobRecord>{job->shared_from_this()};  // NOLINT
  new cl::Context{context_};                                  // NOLINT
  new std::shared_ptr<Megakernel>{megakernel_};               // NOLINT
  static_cast<void>(shift_.release());                        // NOLINT
  workers_.clear();
  idle_.clear();
}

// ---- Polling by the agent

std::chrono::microseconds Workgroups::look() {
  if (collect()) dispatcher_.rebalance();
  watch();
  const bool working = dispatcher_.has_work();
  if (working) idle_since_ = now();
  if (!working && (dispatcher_.stopping() || now() - idle_since_ > linger)) close_shift();
  const auto present = dispatcher_.jobs_and_running_tasks();
  const bool hurry =
      dispatcher_.tasks().waits() ||
      std::any_of(present.begin(), present.end(), [](const JobRecord* job) {
        return job->status == Status::pending || job->demand_at != 0 || body_of(*job).ordered;
      });
  return hurry ? hurried : calm;
}

/// Returns true if a worker has checked in or come back.
bool Workgroups::collect() {
  if (!shift_) return false;
  return shift_->schedules_itself() ? look_at_contexts() : look_at_desks();
}

/// Processes the progress of the scheduler group.
bool Workgroups::look_at_contexts() {
  bool changed = workers_.size() < shift_->here();
  workers_.resize(shift_->here());
  for (JobRecord* const job : dispatcher_.jobs_and_running_tasks()) {
    WorkgroupBody& body = body_of(*job);
    if (!body.context) continue;
    Context& context = shift_->context(*body.context);
    if (context.start.load(std::memory_order_acquire) == 0)
      body.ordered = false;  // the scheduler group has sent the first groups
    if (body.ordered) continue;
    // Pairs with the scheduler group's release.
    const bool over = context.over.load(std::memory_order_acquire) != 0;
    const std::uint32_t inside = context.inside.load(std::memory_order_acquire);
    const std::uint32_t joins = context.joins.load(std::memory_order_relaxed);
    const std::uint32_t leaves = context.leaves.load(std::memory_order_relaxed);
    job->count(context.members.load(std::memory_order_relaxed),
               joins - std::exchange(body.joins_seen, joins));
    job->leaves += leaves - std::exchange(body.leaves_seen, leaves);
    changed = changed || over || inside < job->inside;
    job->inside = inside;
    if (over) body.context.reset();
    dispatcher_.news(*job);
  }
  return changed;
}

bool Workgroups::look_at_desks() {
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
    const std::uint32_t progress = answer - 4 * worker.visit;
    if (progress > Desk::done || progress == Desk::sent) continue;
    const bool was_in = progress != Desk::done || desk.stay != Desk::refused;
    if (was_in && !worker.in) {
      worker.in = true;
      worker.job->moved(true,
                        progress == Desk::done ? desk.joined != 0 : progress == Desk::in_joined);
    }
    if (progress == Desk::done) {
      back(i, desk);
      changed = true;
    }
  }
  return changed;
}

/// Handles a worker that has come back.
void Workgroups::back(std::uint32_t index, Desk& desk) {
  Worker& worker = workers_[index];
  JobRecord& job = *std::exchange(worker.job, nullptr);
  if (std::exchange(worker.in, false)) job.moved(false, false);
  --job.inside;
  job.leaves += desk.stay == Desk::left ? 1 : 0;
  idle_.push_back(index);
  dispatcher_.news(job);
}

/// Gives up on groups that will never come.
void Workgroups::watch() {
  if (!shift_) return;
  const std::uint64_t at = now();
  const std::uint64_t patience = nanoseconds(options_.patience);
  auto watched = dispatcher_.jobs_and_running_tasks();
  const auto front = dispatcher_.tasks().front();  // the tasks behind the first one wait for it
  if (front) watched.push_back(front.get());
  for (JobRecord* const job : watched) {
    if (job->concluding) continue;
    WorkgroupBody& body = body_of(*job);
    // A job that the scheduler group has yet to send has no groups that could leave.
    if (job->status == Status::running && !body.ordered && body.words().look().faulted()) {
      if (body.fault_at == 0) body.fault_at = at;
      if (at - body.fault_at > patience) {
        dispatcher_.lose("opencl: kernel " + body.bound.info().name +
                         " has reached no primitive within " +
                         std::to_string(options_.patience.count()) +
                         " ms of being told to end, and nothing can stop it: the device is given "
                         "up");
        return;
      }
    }
    const bool rigid = job->status == Status::pending && !job->resizable();
    if (rigid && body.max_groups > plannable(dispatcher_.units()) && at - opened_at_ > patience) {
      dispatcher_.fail(
          *job, Error{Errc::unsupported, "launch: kernel " + body.bound.info().name + " needs " +
                                             std::to_string(body.max_groups) +
                                             " groups, of which the device has started " +
                                             std::to_string(workers_.size())});
      dispatcher_.rebalance();  // other jobs may have waited for it
    }
  }
  const auto here = static_cast<std::uint32_t>(workers_.size());
  if (here >= expected_ || at - opened_at_ <= patience) return;
  if (here > 0) {
    expected_ = here;  // do not wait for more workers than these
    dispatcher_.rebalance();
  } else if (dispatcher_.has_work()) {
    dispatcher_.lose("opencl: no work-group of the megakernel has started within " +
                     std::to_string(options_.patience.count()) + " ms");
  }
}

// ---- Requests of the dispatcher

/// Whether all workers of the shift have checked in, or have had enough time to do so.
bool Workgroups::complete(std::uint32_t units) const {
  return workers_.size() >= std::min(units, expected_) ||
         now() - opened_at_ > nanoseconds(options_.patience);
}

/// The units that the capacity allows, but at most the workers present once they have had time to
/// come.
std::uint32_t Workgroups::plannable(std::uint32_t units) const {
  if (!shift_) return units;
  const auto here = static_cast<std::uint32_t>(workers_.size());
  const bool settled = now() - opened_at_ > nanoseconds(options_.patience);
  return std::min(units, settled ? here : expected_);
}

std::uint32_t Workgroups::free_units() const {
  std::uint32_t busy = 0;
  for (const JobRecord* const job : dispatcher_.jobs_and_running_tasks()) busy += job->inside;
  const std::uint32_t all =
      std::min(dispatcher_.units(), static_cast<std::uint32_t>(workers_.size()));
  return all > busy ? all - busy : 0;
}

std::optional<std::uint32_t> Workgroups::free_context() const {
  const auto present = dispatcher_.jobs_and_running_tasks();
  for (std::uint32_t i = 0; i < shift_->context_count(); ++i) {
    const auto uses = [i](const JobRecord* job) { return body_of(*job).context == i; };
    if (std::none_of(present.begin(), present.end(), uses)) return i;
  }
  return {};
}

std::uint32_t Workgroups::startable(const JobRecord& job, std::uint32_t groups) const {
  if (!shift_ || (shift_->schedules_itself() && !free_context())) return 0;
  // The workers that come later are of use only to a kernel with points where groups can join.
  if (job.resizable() && !complete(dispatcher_.units())) return 0;
  // A scheduler group waits for all workers itself, but not for workers that the device has not
  // started.
  if (shift_->schedules_itself() && !job.resizable() && groups <= workers_.size()) return groups;
  // It makes room for one group of a job, which others join.
  if (shift_->schedules_itself() && job.resizable() && !workers_.empty())
    return std::clamp(free_units(), 1U, groups);
  return std::min(free_units(), groups);
}

void Workgroups::start(JobRecord& job, std::uint32_t groups) {
  Words& words = body_of(job).words();
  protocol::reset_lobby(words, groups, std::memory_order_relaxed);
  protocol::reset_words(words, groups, job.kept, std::memory_order_relaxed);
  if (shift_->schedules_itself()) {
    order(job, groups);
  } else {
    publish(job);
    send(job, groups, true);
  }
}

/// Has the scheduler group start the job.
void Workgroups::order(JobRecord& job, std::uint32_t count) {
  WorkgroupBody& body = body_of(job);
  body.context = free_context();
  Context& context = shift_->context(*body.context);
  // The release of `start` publishes all of them.
  constexpr auto relaxed = std::memory_order_relaxed;
  context.job = &body.words();
  context.serial = body.words().serial.load(relaxed);
  context.weight = job.options.weight;
  context.rigid = job.resizable() ? 0 : 1;
  body.words().share.store(job.share, relaxed);  // until the scheduler group decides
  for (Word* each : {&context.over, &context.members, &context.joins, &context.leaves})
    each->store(0, relaxed);
  body.joins_seen = body.leaves_seen = 0;
  body.ordered = true;
  job.inside = count;
  publish(job);
  context.start.store(count,
                      std::memory_order_release);  // pairs with the scheduler group's acquire
}

/// Writes the words that the job's groups poll.
void Workgroups::publish(JobRecord& job) {
  const WorkgroupBody& body = body_of(job);
  Words& words = body.words();
  const Roster roster = words.look();
  if (job.cancelled && !roster.faulted()) raise(words, Fault::cancelled);
  // The flag must come with a target of 0.
  if (job.suspending) words.flags.store(protocol::suspend_flag, std::memory_order_release);
  if (body.context) {  // the scheduler group decides
    const std::uint32_t most = job.suspending ? 0 : dispatcher_.claim(job).max_groups;
    // Stored after the flags. Pairs with the scheduler group's acquire.
    shift_->context(*body.context).most.store(most, std::memory_order_release);
    return;
  }
  // Groups that have returned count in M but use no unit, so the target has to include them.
  const std::uint32_t returned = roster.draining() && job.share > 0 ? roster.arrived() : 0;
  words.share.store(job.share + returned,
                    // Stored after the flags. Pairs with the acquire in the offers.
                    std::memory_order_release);
}

void Workgroups::refill(JobRecord& job) {
  if (body_of(job).context || job.inside >= job.share) return;
  send(job, std::min(free_units(), job.share - job.inside), false);
}

void Workgroups::send(JobRecord& job, std::uint32_t count, bool first) {
  Words& words = body_of(job).words();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = idle_.back();
    idle_.pop_back();
    Worker& worker = workers_[index];
    Desk& desk = shift_->desk(index);
    worker.job = &job;
    if (++worker.visit == Desk::go_home) worker.visit = 1;
    desk.job = &words;
    desk.first = first ? 1 : 0;
    desk.serial = words.serial.load(std::memory_order_relaxed);
    ++job.inside;
    desk.order.store(worker.visit, std::memory_order_release);  // pairs with the worker's acquire
  }
}

std::uint32_t Workgroups::target(const JobRecord& job) const {
  const WorkgroupBody& body = body_of(job);
  if (!body.context || !job.resizable()) return job.share;
  // The scheduler group's decision. It includes groups that have returned, which use no unit.
  const Roster roster = body.words().look();
  const std::uint32_t share = body.words().share.load(std::memory_order_relaxed);
  return share - std::min(share, roster.draining() ? roster.arrived() : 0U);
}

Census Workgroups::census(const JobRecord& job) const {
  const WorkgroupBody& body = body_of(job);
  const Roster roster = body.words().look();
  return {.has_units = !body.ordered,
          .open = !roster.draining() && !roster.faulted(),
          .over = job.inside == 0 && !body.context};
}

std::optional<Ending> Workgroups::ending(JobRecord& job) {
  if (job.options.tracer != nullptr) return {};
  return conclude(job);
}

Ending Workgroups::conclude(JobRecord& job) {
  WorkgroupBody& body = body_of(job);
  if (job.options.tracer != nullptr) body.memory->replay(*job.options.tracer);
  const Words& words = body.words();
  constexpr auto relaxed = std::memory_order_relaxed;  // the desks and contexts publish it
  const Roster roster = words.look();
  return engine::ending_of(roster, protocol::FaultRecord{words.fault.load(relaxed)},
                           words.kept.load(relaxed) != 0);
}

}  // namespace cohort::opencl
