// The agent and its decisions: who is to have what, who has come and gone, and what is missing.
#include "cuda/core.hpp"

#include <algorithm>
#include <chrono>

namespace cohort::cuda {

std::uint64_t now() noexcept {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

Engine::Core::Turn::Turn(const Core& core, const char* call)
    : core_(checked(core, call)), lock_(core.mutex_, std::defer_lock), on_device_(core.device_) {
  core.callers_.fetch_add(1, std::memory_order_relaxed);
  lock_.lock();
  core.callers_.fetch_sub(1, std::memory_order_relaxed);
}

Engine::Core::Core(const EngineOptions& options, std::shared_ptr<cohort::detail::Memory> memory)
    : device_(options.device),
      exclusive_(options.exclusive),
      self_test_(options.self_test),
      memory_(std::move(memory)) {}

void Engine::Core::start() {
  const OnDevice here{device_};
  const auto attribute = [this](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device_), "engine: an attribute of the device");
    return static_cast<std::uint32_t>(value);
  };
  sms_ = capacity_ = attribute(cudaDevAttrMultiProcessorCount);
  sm_memory_ = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  block_memory_ = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  block_reserve_ = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  check(cudaDeviceGetStreamPriorityRange(&low_, &high_), "engine: stream priorities");
  if (self_test_) try_hand_over(device_);

  check(cudaStreamCreateWithPriority(&control_, cudaStreamNonBlocking, high_),
        "engine: the control stream");
  check(cudaEventCreateWithFlags(&written_, cudaEventDisableTiming), "engine: an event");
  low_streams_.open(low_);
  high_streams_.open(high_);

  pinned_memory_.open();
  leased_ = static_cast<std::uint32_t*>(pinned_memory_.take(sizeof(Demands)));
  lease_ends_ = static_cast<std::uint32_t*>(pinned_memory_.take(sizeof(Demands)));
  demands_ = static_cast<Demands*>(control_memory_.take(sizeof(Demands)));
  const Demands none;
  memory_->write(demands_, &none, sizeof none);
  agent_ = std::thread{[this] { tend(); }};
}

void Engine::Core::stop() {
  if (process_.left_behind()) {                     // here is no agent to join, and no device
    new std::shared_ptr<Core>{shared_from_this()};  // NOLINT(cppcoreguidelines-owning-memory)
    return;
  }
  {
    const Turn turn{*this};
    stopping_ = true;
    std::vector<std::shared_ptr<Record>> all = tasks_.all();
    all.insert(all.end(), jobs_.begin(), jobs_.end());
    for (const auto& job : all) {
      if (job->status == Status::running) {
        job->cancelled = true;
        publish(*job, job->units);
      } else {
        rest(*job, Status::cancelled);
      }
    }
  }
  called_.notify_all();
  if (agent_.joinable()) agent_.join();
  const OnDevice here{device_};
  low_streams_.close();
  high_streams_.close();
  if (control_ != nullptr) {
    cudaStreamSynchronize(control_);
    cudaStreamDestroy(control_);
    if (written_ != nullptr) cudaEventDestroy(written_);
  }
  control_memory_.free_all();
  pinned_memory_.free_all();
  demands_ = nullptr;
}

void Engine::Core::check_alive() const {
  if (!lost_.empty()) {
    throw Error{Errc::device_lost, "the engine is lost, make a new process: " + lost_};
  }
  if (stopping_) throw Error{Errc::engine_gone, "the engine has been destroyed"};
}

std::uint32_t Engine::Core::capacity() const {
  const Turn turn{*this};
  return capacity_;
}

void Engine::Core::set_capacity(std::uint32_t units) {
  const Turn turn{*this, "set_capacity"};
  check_alive();
  capacity_ = units;
  rebalance();
}

// ---- the agent

/// Nothing to look after until somebody calls.
bool Engine::Core::idle() const {
  const bool running = std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) {
    return job->status == Status::running || job->status == Status::pending;
  });
  return !running && tasks_.empty() && graves_.empty();
}

void Engine::Core::tend() {
  using namespace std::chrono_literals;
  const OnDevice here{device_};
  std::unique_lock lock{mutex_};
  for (;;) {
    if (stopping_ && idle()) return;
    if (idle()) {
      called_.wait(lock, [this] { return stopping_ || !idle(); });
      continue;
    }
    const bool again = look();
    effects_.perform(lock);
    if (!again) {
      called_.wait_for(lock, 40us);
      continue;
    }
    lock.unlock();
    const auto until = std::chrono::steady_clock::now() + 3us;
    while (std::chrono::steady_clock::now() < until ||
           callers_.load(std::memory_order_relaxed) != 0) {
      std::this_thread::yield();
    }
    lock.lock();
  }
}

/// One look at everything, by the agent or by who waits. True: another should follow at once.
bool Engine::Core::look() {
  try {
    return poll();
  } catch (const Error& error) {
    lose(error.what());
    return false;
  }
}

/// True: something is under way that should be seen as soon as it is there.
bool Engine::Core::poll() {
  std::vector<std::shared_ptr<Record>> all = jobs_;
  all.insert(all.end(), tasks_.running().begin(), tasks_.running().end());
  for (const auto& job : all) {
    if (job->run == nullptr || job->concluding) continue;
    job->run->catch_up();
    reap(*job->run);
    observe(*job);
    settle(*job);
  }
  for (auto& run : graves_) {
    run->catch_up();
    reap(*run);
  }
  for (std::size_t i = graves_.size(); i-- > 0;) {
    if (!graves_[i]->grids.empty()) continue;
    bury(std::move(graves_[i]));
    graves_.erase(graves_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  free_slots();
  if (!stopping_ && lost_.empty()) rebalance();
  if (demanded() != 0 || !tasks_.running().empty()) return true;
  return std::any_of(jobs_.begin(), jobs_.end(), [this](const auto& job) {
    if (job->run == nullptr) return false;
    return job->demand_at != 0 || job->cancelled || job->suspending ||
           job->inside() != target_of(*job);
  });
}

/// Streams whose grid has ended can be used again. A grid ends soon after its last block has said
/// that it goes. Later on mostly the youngest alone is looked at: CUDA wants to be called, but each
/// call takes its time, and who wants the mutex has to wait for it.
void Engine::Core::reap(Run& run) {
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

/// Takes over what the groups have told of themselves.
void Engine::Core::observe(Record& job) {
  const std::uint64_t at = now();
  job.note(at);
  Run& run = *job.run;
  if (job.priority) {
    if (!job.gathered && run.in >= job.body->max_groups) {
      job.gathered = true;
      job.met(at);
      job.started_at = at;
    }
    return;
  }
  if (!job.kept) job.start_groups = run.in - run.joined;
  const bool surplus = job.inside() > target_of(job);
  if (surplus && job.demand_at == 0) job.demanded(at);
  if (!surplus && job.demand_at != 0) job.met(at);
  if (run.refused != job.refused) job.refill_after = at + 50'000;  // do not storm a closed door
  job.refused = run.refused;
}

/// SMs that leases want now.
std::uint32_t Engine::Core::demanded() const {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < demand_slots; ++i) sum += seen(leased_[i]);
  return sum;
}

/// The target as the job's groups see it.
std::uint32_t Engine::Core::target_of(const Record& job) const {
  if (job.cancelled) return 0;
  if (!job.options.resizable) return job.body->max_groups;
  return job.keeps(job.share_word, demanded(), job.before_word);
}

// ---- decisions

/// Decides what everybody is to have, and starts what is missing.
void Engine::Core::rebalance() {
  std::vector<std::shared_ptr<Record>> jobs;
  std::vector<scheduler::Claim> claims;
  for (const auto& each : jobs_) {
    if (each->status == Status::suspended) continue;
    if (each->suspending) {
      publish(*each, 0);
    } else {
      jobs.push_back(each);
      claims.push_back(each->claim());
    }
  }
  const scheduler::Plan plan = tasks_.plan(capacity_, claims);

  for (std::size_t i = 0; i < jobs.size(); ++i) {  // shrink jobs before growing others
    if (jobs[i]->status != Status::running) continue;
    if (plan.suspends[i]) jobs[i]->suspending = true;
    publish(*jobs[i], plan.shares[i]);
    thin_out(*jobs[i]);
  }
  publish_order();
  for (std::uint32_t i = 0; i < plan.granted; ++i) {
    const auto task = tasks_.front();
    if (!begin(*task, task->ticket.groups)) break;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i]->status == Status::pending && plan.shares[i] > 0) begin(*jobs[i], plan.shares[i]);
    if (jobs[i]->status == Status::running) refill(*jobs[i]);
  }
}

/// Tells a job its share, if that is news.
void Engine::Core::publish(Record& job, std::uint32_t units) {
  job.units = units;
  if (job.run == nullptr) return;
  auto* const shared = job.run->desk.shared;
  const auto write = [this](const void* word, std::uint32_t value) {
    check(stream_write(control_, word, value), "a write of a control word");
  };
  std::uint32_t word = job.suspending ? 0 : job.groups_on(units);
  if (job.thin_to != 0) word = std::min(word, job.thin_to);
  // Groups that have returned count in M, but use no SM: the target has to count them too.
  if (word > 0) word += job.run->finished;
  if (job.cancelled) word = stop_share;
  if (word == job.share_word) return;
  if (job.suspending) write(shared->flags.address(), protocol::suspend_flag);  // before the target
  write(shared->share.address(), word);
  job.share_word = word;
  if (job.demand_at == 0 && !job.priority && job.inside() > target_of(job)) {
    job.demanded(now());
  }
}

/// Which job gives to the leases first: the lightest, the youngest among equals.
void Engine::Core::publish_order() {
  std::vector<Record*> order;
  for (const auto& job : jobs_) {
    if (job->run != nullptr && job->options.resizable) order.push_back(job.get());
  }
  std::stable_sort(order.begin(), order.end(), [](const Record* a, const Record* b) {
    return a->options.weight != b->options.weight ? a->options.weight < b->options.weight
                                                  : a->launched_at > b->launched_at;
  });
  std::uint32_t before = 0;
  for (Record* const job : order) {
    if (job->before_word != before) {
      check(stream_write(control_, job->run->desk.shared->recorder.before.address(), before),
            "a write of a control word");
      job->before_word = before;
    }
    before += job->units > 0 ? job->units - 1 : 0;
  }
}

/// Starts blocks for a job that has fewer than it should; they go to its lobby.
void Engine::Core::refill(Record& job) {
  if (!job.open() || now() < job.refill_after) return;
  const std::uint32_t present = job.run->launched - job.run->gone;
  const std::uint32_t wanted = target_of(job);
  if (wanted <= present) return;
  if (grids_ + task_grids < most_grids) {
    launch_grid(job, wanted - present, false);
  } else if (job.run->grids.size() > 1) {
    job.thin_to = std::max(job.inside() / 2, 1U);
  }
}

/// Where groups leave in any order a job ends up as many grids of a block each, and then there is
/// none left for who should come back. So half of the groups go, and half of those if that was not
/// enough; all come back as one grid.
void Engine::Core::thin_out(Record& job) {
  if (job.thin_to == 0 || job.inside() > target_of(job)) return;
  job.thin_to = 0;
  job.refill_after = now() + 50'000;  // until the grids of those who left have ended
}

/// Once nobody is inside any more: how did the job come to rest?
void Engine::Core::settle(Record& job) {
  const Run& run = *job.run;
  // Who starts later finds the job closed.
  const bool empty = run.closed && run.in == run.out;
  const bool over = run.grids.empty();  // the grids themselves have ended
  if (!empty && !over) return;

  job.note(now());
  // As a rule all groups have returned, and the diary says so: the roster need not be fetched.
  const bool returned = empty && run.finished > 0 && run.finished + run.left == run.out;
  if (returned && job.options.tracer == nullptr) {
    job.joins += run.joined;
    job.leaves += run.left;
    rest(job, Status::finished);
    return;
  }
  job.concluding = true;
  effects_.add([self = job.shared_from_this()] { self->core->conclude(*self); });
}

/// Tells the tracer of the run, and reads from its memory how the job came to rest. Called without
/// the mutex: while a job is `concluding` its run is left alone otherwise.
void Engine::Core::conclude(Record& job) {
  const Run& run = *job.run;
  protocol::Shared<Platform> shared;
  std::string why;  // the device is lost
  try {
    play_tapes(job);
    memory_->read(static_cast<void*>(&shared), run.desk.shared, sizeof shared);
    if (shared.kept.load(Order::relaxed) != 0) {
      std::vector<std::byte> states(run.states_size);
      memory_->read(states.data(), run.desk.states, states.size());
      job.body->keep(states);
    }
  } catch (const Error& error) {
    why = error.what();
  }
  const Turn turn{*this};
  if (!why.empty() && lost_.empty()) lose(why);
  if (!lost_.empty()) {
    fail_lost(job);
    return;
  }
  job.concluding = false;
  job.joins += run.joined;
  job.leaves += run.left;
  const Roster roster = shared.look();
  if (roster.faulted()) {
    job.fault = FaultRecord{shared.fault.load(Order::relaxed)};
    rest(job, job.fault.fault() == Fault::cancelled ? Status::cancelled : Status::failed);
  } else if (roster.finished()) {
    rest(job, Status::finished);
  } else if (shared.kept.load(Order::relaxed) != 0) {
    job.kept = true;
    const Status out = job.held ? Status::suspended : Status::pending;
    rest(job, job.cancelled ? Status::cancelled : out);  // a cancel may have come since
  } else if (roster.active() == 0 && !roster.gathering()) {
    rest(job, Status::left);
  } else {
    job.fault = FaultRecord{Fault::lost_group};
    rest(job, Status::failed);
  }
  called_.notify_all();  // its units are free
}

void Engine::Core::rest(Record& job, Status status) {
  if (job.status == Status::running) job.ran_before += now() - job.started_at;
  job.status = status;
  if (at_rest(status)) {
    job.last_rest = status;
    ++job.rests;
  }
  if (job.run != nullptr) graves_.push_back(std::move(job.run));
  job.units = 0;
  job.demand_at = 0;
  job.gather_range.reset();
  job.range.reset();
  job.suspending = false;
  job.thin_to = 0;
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

/// The device will not work any more: everything ends, and every call from now on fails.
void Engine::Core::lose(const std::string& why) {
  lost_ = why;
  std::vector<std::shared_ptr<Record>> all = tasks_.all();
  all.insert(all.end(), jobs_.begin(), jobs_.end());
  for (const auto& job : all) {
    if (job->concluding) continue;  // that ends it
    if (job->options.tracer == nullptr) {
      fail_lost(*job);
    } else {  // after the calls of its tracer that are under way
      job->concluding = true;
      effects_.add([job] {
        const Turn turn{*job->core};
        job->core->fail_lost(*job);
      });
    }
  }
  graves_.clear();
}

void Engine::Core::fail_lost(Record& job) {
  if (ended(job.status)) return;
  job.error = lost_;
  job.run.reset();
  job.concluding = false;
  rest(job, Status::failed);
}

std::shared_ptr<Engine::Core::Record> Engine::Core::launch(std::unique_ptr<detail::Body> body,
                                                           const LaunchOptions& options,
                                                           std::optional<int> priority,
                                                           bool restored) {
  auto record = std::make_shared<Record>(shared_from_this(), std::move(body), options, priority);
  record->kept = restored;
  if (priority) record->demanded(record->launched_at);
  {
    const Turn turn{*this, priority ? "submit" : "launch"};
    check_alive();
    shape(*record);
    if (!priority) jobs_.push_back(record);
    if (!priority || tasks_.push(record, *priority, record->body->max_groups)) rebalance();
  }
  called_.notify_all();
  if (options.stop.stop_possible()) {
    record->stop_callback.emplace(options.stop, [weak = std::weak_ptr{record}] {
      if (const auto job = weak.lock()) job->cancel();
    });
  }
  return record;
}

}  // namespace cohort::cuda
