// The words that blocks read, the reports that they write, and the launching of further blocks.
#include "cuda/grids.hpp"

#include "engine/options.hpp"

namespace cohort::cuda {
namespace {

using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ms;

constexpr const char* control_write = "a write of a control word";

}  // namespace

std::uint32_t keeps(const JobRecord& job, std::uint32_t share, std::uint32_t sms,
                    std::uint32_t others) {
  Recorder own;  // computes the target in the same way as the device
  own.bundle = job.body->groups_per_unit;
  return own.target(share, sms, others);
}

Grids::Grids(engine::Dispatcher& dispatcher, const EngineOptions& options)
    : PolledBackend(dispatcher),
      device_(options.device),
      exclusive_(options.exclusive),
      watchdog_(options.on_blocked_call ? std::make_unique<Watchdog>(options.on_blocked_call)
                                        : nullptr),
      suspends_for_calls_(watchdog_ != nullptr && options.suspend_for_blocked_calls) {}

void Grids::open() {
  const OnDevice here{device_};
  const auto attribute = [this](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device_), "engine: an attribute of the device");
    return static_cast<std::uint32_t>(value);
  };
  sms_ = attribute(cudaDevAttrMultiProcessorCount);
  sm_memory_ = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  block_memory_ = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  block_reserve_ = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  check(cudaDeviceGetStreamPriorityRange(&low_, &high_), "engine: stream priorities");
  try_hand_over(device_);

  check(cudaStreamCreateWithPriority(&control_, cudaStreamNonBlocking, high_),
        "engine: the control stream");
  check(cudaEventCreateWithFlags(&written_, cudaEventDisableTiming), "engine: an event");
  low_streams_.open(low_);
  high_streams_.open(high_);

  pinned_memory_.open();
  leased_ = static_cast<std::uint32_t*>(pinned_memory_.take(sizeof(Demands)));
  lease_ends_ = static_cast<std::uint32_t*>(pinned_memory_.take(sizeof(Demands)));
  canary_ = static_cast<std::uint32_t*>(pinned_memory_.take(sizeof *canary_));
  demands_ = static_cast<Demands*>(control_memory_.take(sizeof(Demands)));
  const Demands none;
  dispatcher_.memory()->write(demands_, &none, sizeof none);
}

void Grids::stop() {
  agent_.join();
  const engine::Dispatcher::Locked locked{dispatcher_, "engine"};
  close();
}

void Grids::close() noexcept {
  const OnDevice here{device_};
  for (const auto& [streams, stream] : stuck_) streams->give(stream);
  stuck_.clear();
  low_streams_.close();
  high_streams_.close();
  if (control_ != nullptr) {
    cudaStreamSynchronize(control_);
    cudaStreamDestroy(control_);
    if (written_ != nullptr) cudaEventDestroy(written_);
  }
  control_ = nullptr;
  control_memory_.free_all();
  pinned_memory_.free_all();
  demands_ = nullptr;
}

void Grids::resize(std::uint32_t units) { check_capacity(units, sms_); }

void Grids::attend_on_agent() {
  const OnDevice here{device_};
  PolledBackend::attend_on_agent();
}

// ---- reports from blocks

/// Called by the agent or by a waiting thread, with this device current.
std::chrono::microseconds Grids::look() {
  if (watchdog_ != nullptr) watch();
  for (JobRecord* const job : dispatcher_.jobs_and_running_tasks()) {
    if (job->status != Status::running || job->concluding) continue;
    observe(*job);
    dispatcher_.news(*job);
  }
  for (auto& run : retired_) {
    run->catch_up();
    reap(*run);
    if (!run->grids.empty()) continue;
    reuse_memory(*run);
    run.reset();
  }
  std::erase(retired_, nullptr);
  free_slots();
  dispatcher_.rebalance();
  const auto under_way = [this](const auto& job) {  // the host still expects a change
    if (job->status != Status::running) return body_of(*job).order != nullptr;
    return job->demand_at != 0 || job->cancelled || job->suspending || job->inside != target(*job);
  };
  const auto& jobs = dispatcher_.jobs();
  const bool hurry = demanded() != 0 || !dispatcher_.tasks().running().empty() ||
                     std::any_of(jobs.begin(), jobs.end(), under_way);
  return hurry ? 3us : 40us;
}

/// Tells the watchdog since when jobs run. Suspends the jobs if a call waits for them.
void Grids::watch() {
  std::uint64_t oldest = 0;
  const bool suspend = suspends_for_calls_ && watchdog_->blocked();
  for (const auto& job : dispatcher_.jobs()) {
    if (job->status != Status::running) continue;
    if (oldest == 0) oldest = job->launched_at;
    if (suspend && job->body->suspendable && !job->cancelled) job->suspending = true;
  }
  watchdog_->running_since(oldest);
}

/// Processes the reports of a job's groups.
void Grids::observe(JobRecord& job) {
  detail::DeviceJob& own = on_device(job);
  Run& run = *own.run;
  const std::uint32_t joined = run.joined;
  const std::uint32_t left = run.left;
  const std::uint32_t refused = run.refused;
  reap(run);  // comes first: once a grid has ended, all its lines can be read
  run.catch_up();
  job.inside = run.in - run.out;
  job.count(job.inside, run.joined - joined);
  job.leaves += run.left - left;
  if (!job.kept) job.start_groups = run.in - run.joined;
  if (run.refused != refused) run.refill_after = now() + 50'000;  // wait before the next try
  if (job.demand_at != 0 && !own.gather_range) own.gather_range.emplace("gather from a job");
  if (job.demand_at == 0 && !job.priority) own.gather_range.reset();
  if (job.has_units && job.priority) own.gather_range.reset();
}

/// Makes streams available again whose grids have ended. A grid ends soon after its last block has
/// reported that it is gone. After a while mostly the youngest grid is checked. CUDA makes progress
/// only when called, but each call takes time during which callers wait for the mutex.
void Grids::reap(Run& run) {
  if (run.gone != run.gone_before || run.gone == run.launched) run.looks = 0;
  run.gone_before = run.gone;
  const bool all = run.grids.empty() || run.looks < 10 || run.looks % 256 == 0;
  ++run.looks;
  const std::size_t oldest = all ? 0 : run.grids.size() - 1;
  for (std::size_t i = run.grids.size(); i-- > oldest;) {
    const cudaError_t state = cudaStreamQuery(run.grids[i]);
    if (state == cudaErrorNotReady) continue;
    check(state, "a kernel");
    (run.high ? high_streams_ : low_streams_).give(run.grids[i]);
    run.grids.erase(run.grids.begin() + static_cast<std::ptrdiff_t>(i));
    --grids_;
  }
}

/// The number of SMs that leases want now.
std::uint32_t Grids::demanded() const {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < demand_slots; ++i) sum += seen(leased_[i]);
  return sum;
}

std::uint32_t Grids::target(const JobRecord& job) const {
  if (job.cancelled) return 0;
  if (!job.resizable()) return job.body->max_groups;
  const Run& run = *on_device(job).run;
  return keeps(job, run.share_word, demanded(), run.before_word);
}

Census Grids::census(const JobRecord& job) const {
  const Run& run = *on_device(job).run;
  return {.has_units = !job.priority || run.in >= job.body->max_groups,
          .open = run.finished == 0 && !run.closed,
          .over = run.empty() || run.grids.empty()};
}

/// In most cases the log shows that all groups have returned, so the roster need not be copied.
std::optional<Ending> Grids::ending(JobRecord& job) {
  const Run& run = *on_device(job).run;
  const bool returned = run.empty() && run.finished > 0 && run.finished + run.left == run.out;
  if (!returned || job.options.tracer != nullptr) return {};
  return Ending{Status::finished};
}

Ending Grids::conclude(JobRecord& job) {
  const Run& run = *on_device(job).run;
  cohort::detail::Memory& memory = *dispatcher_.memory();
  play_tapes(job);
  protocol::Shared<Platform> shared;
  memory.read(static_cast<void*>(&shared), run.arguments.shared, sizeof shared);
  const bool kept = shared.kept.load(Order::relaxed) != 0;
  if (kept) {
    std::vector<std::byte> states(run.states_size);
    memory.read(states.data(), run.arguments.states, states.size());
    body_of(job).keep(states);
  }
  return engine::ending_of(shared.look(), FaultRecord{shared.fault.load(Order::relaxed)}, kept);
}

void Grids::retire(JobRecord& job) {
  detail::DeviceJob& own = on_device(job);
  if (own.run != nullptr && !dispatcher_.lost()) retired_.push_back(std::move(own.run));
  own.run.reset();
  own.range.reset();
  own.gather_range.reset();
  job.inside = 0;
}

// ---- orders to blocks

std::uint32_t Grids::startable(const JobRecord& job, std::uint32_t groups) const {
  if (grids_ >= (job.priority ? most_grids : most_grids - task_grids)) return 0;
  // Groups on SMs that leases want now would have to leave at once.
  return job.resizable() ? keeps(job, groups, demanded()) : groups;
}

void Grids::start(JobRecord& job, std::uint32_t groups) {
  const OnDevice here{device_};
  detail::DeviceJob& own = on_device(job);
  // Stored before the start, so that a failed start retires it too.
  own.run = std::make_unique<Run>();
  try {
    furnish(*own.run, job, groups);
    own.range.emplace(job.priority ? "task" : "job");
    launch_grid(job, groups, true);
  } catch (const Error&) {
    static_cast<void>(cudaStreamSynchronize(control_));  // the written data is part of the run
    throw;
  }
}

void Grids::publish(JobRecord& job) {
  Run& run = *on_device(job).run;
  if (run.thin_to != 0 && job.inside <= target(job)) {
    run.thin_to = 0;
    run.refill_after = now() + 50'000;  // leave time for the grids of the departed groups to end
  }
  std::uint32_t word = job.suspending ? 0 : job.share;
  if (run.thin_to != 0) word = std::min(word, run.thin_to);
  // Groups that have returned count in M but use no SM, so the target has to include them.
  if (word > 0) word += run.finished;
  if (job.cancelled) word = stop_share;
  const bool suspends = job.suspending && !std::exchange(run.told_to_suspend, true);
  if (word == run.share_word && !suspends) return;
  const OnDevice here{device_};
  const auto* const shared = run.arguments.shared;
  if (suspends)  // written before the target
    check(stream_write(control_, shared->flags.address(), protocol::suspend_flag), control_write);
  check(stream_write(control_, shared->share.address(), word), control_write);
  run.share_word = word;
}

/// Publishes the order in which jobs give SMs to leases: the lowest weight first and, among equal
/// weights, the youngest first.
void Grids::published_all() {
  std::vector<const JobRecord*> order;
  for (const auto& job : dispatcher_.jobs()) {
    if (job->status == Status::running && job->resizable()) order.push_back(job.get());
  }
  std::stable_sort(order.begin(), order.end(), [](const JobRecord* a, const JobRecord* b) {
    return a->options.weight != b->options.weight ? a->options.weight < b->options.weight
                                                  : a->launched_at > b->launched_at;
  });
  std::uint32_t before = 0;
  for (const JobRecord* const job : order) {
    Run& run = *on_device(*job).run;
    if (run.before_word != before) {
      const OnDevice here{device_};
      check(stream_write(control_, run.arguments.shared->recorder.before.address(), before),
            control_write);
      run.before_word = before;
    }
    before += job->units > 0 ? job->units - 1 : 0;
  }
}

/// If groups leave in any order, a job ends up as many grids of one block each, until no grid is
/// left for refills. So half of the groups leave, then half of the rest if that was not enough. All
/// of them return as one grid.
void Grids::refill(JobRecord& job) {
  Run& run = *on_device(job).run;
  if (now() < run.refill_after) return;
  const std::uint32_t present = run.launched - run.gone;
  const std::uint32_t wanted = target(job);
  if (wanted <= present) return;
  if (grids_ + task_grids < most_grids) {
    const OnDevice here{device_};
    try {
      launch_grid(job, wanted - present, false);
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) throw;
      run.refill_after = now() + 1'000'000;  // the job continues as it is
    }
  } else if (run.grids.size() > 1) {
    run.thin_to = std::max(job.inside / 2, 1U);
  }
}

/// At first the waiting thread polls itself: many jobs end sooner than the agent could wake a
/// thread. It polls less and less often, so that the delay stays small compared with the time that
/// has passed.
void Grids::await(std::unique_lock<std::mutex>& lock, JobRecord& job, Deadline deadline,
                  const std::function<bool()>& done) {
  using Clock = std::chrono::steady_clock;
  {
    const OnDevice here{device_};
    const Clock::time_point began = Clock::now();
    const Clock::time_point until =
        std::min(deadline.value_or(Clock::time_point::max()), began + 10ms);
    for (Clock::time_point at = began; !done() && !dispatcher_.stopping() && at < until;
         at = Clock::now()) {
      dispatcher_.look();
      dispatcher_.perform_effects(lock);
      if (done()) break;
      lock.unlock();
      while (Clock::now() < at + 1us + (at - began) / 128) std::this_thread::yield();
      lock.lock();
    }
  }
  PolledBackend::await(lock, job, deadline, done);
}

}  // namespace cohort::cuda
