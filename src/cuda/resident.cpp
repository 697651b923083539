// Tasks that the blocks of a resident job run: the host's half.
#include <algorithm>
#include <cstring>

#include "cuda/core.hpp"
#include "cuda/scheduler.hpp"
#include "faults.hpp"

namespace cohort::cuda {

/// One task. Guarded by the core's mutex.
class Engine::Core::Errand final : public cohort::detail::JobControl {
 public:
  Errand(std::shared_ptr<Record> its_job, const detail::Wish& its_wish, const TaskOptions& options)
      : job(std::move(its_job)), wish(its_wish), priority(options.priority) {}

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) override {
    engine::Effects::refuse_wait("wait");
    Turn turn{*job->core, "wait"};
    job->core->await(turn, changed, deadline, [this] { return at_rest(status); });
    return status;
  }
  /// Only one that has not been posted yet can be withdrawn.
  void cancel() override {
    const Turn turn{*job->core};
    if (at_rest(status) || serial != 0) return;
    std::erase_if(job->errands, [this](const auto& each) { return each.get() == this; });
    rest(Status::cancelled);
  }
  [[nodiscard]] Report report() const override {
    const Turn turn{*job->core};
    Report report;
    report.status = status;
    report.run_time = std::chrono::nanoseconds{run_time};
    report.gather = gather.summary();
    if (status == Status::failed) report.error = protocol::explain(fault);
    return report;
  }
  void rethrow() const override { throw Error{Errc::broken_contract, protocol::explain(fault)}; }

  Status suspend() override { refuse(); }
  void resume() override { refuse(); }
  void checkpoint(const std::filesystem::path& /*file*/) const override { refuse(); }
  void set_target(std::optional<std::uint32_t> /*groups*/) override { refuse(); }

  void rest(Status how) {
    status = how;
    range.reset();
    changed.notify_all();
  }

  const std::shared_ptr<Record> job;
  const detail::Wish wish;
  const int priority;
  const std::uint64_t submitted_at = now();
  std::uint32_t serial = 0;  // once it is posted
  Status status = Status::pending;
  FaultRecord fault;
  std::uint64_t run_time = 0;
  Samples gather;
  std::optional<Range> range{std::in_place, "resident task"};
  std::condition_variable changed;

 private:
  [[noreturn]] static void refuse() {
    throw Error{Errc::bad_state, "a task runs to its end; only jobs can do this"};
  }
};

/// The memory by which a run's blocks get their tasks.
void Engine::Core::make_pool(const Record& job, Run& run) {
  run.mail = new (pinned_memory_.take(sizeof(detail::Mail))) detail::Mail;
  run.mail->serial = run.mail->done = job.errand_serial;
  run.desk.pool = static_cast<detail::Pool*>(control_memory_.take(sizeof(detail::Pool)));
  detail::Pool pool;
  pool.open.store(detail::opening(job.errand_serial, 0), Order::relaxed);
  pool.host_gives_back = job.body->scheduler == Scheduler::host;
  pool.mail = run.mail;
  const auto* const bytes = reinterpret_cast<const std::byte*>(&pool);
  write(run, run.desk.pool, {bytes, bytes + sizeof pool});
}

/// On the device, if it is to be there.
void Engine::Core::start_scheduler(Record& job) {
  if (job.body->scheduler != Scheduler::device) return;
  Run& run = *job.run;
  run.grids.push_back((run.high ? high_streams_ : low_streams_).take());
  ++grids_;
  check(cudaStreamWaitEvent(run.grids.back(), written_), "the launch of a scheduler");
  check(launch_scheduler(run.desk, run.grids.back()), "the launch of a scheduler");
}

std::shared_ptr<cohort::detail::JobControl> Engine::Core::submit_resident(
    Record& job, std::uint32_t kind, std::span<const std::byte> function,
    const TaskOptions& options) {
  const Turn turn{*this};
  check_alive();
  if (ended(job.status)) {
    throw Error{Errc::bad_state,
                std::string{"submit: the job is "} + to_string(job.status) + "; it runs no tasks"};
  }
  // A busy device may have had no room for some of the blocks; after a while that is known.
  const bool known = job.most_inside != 0 && now() - job.started_at > 10'000'000;
  const std::uint32_t most = (known ? job.most_inside : job.groups_on(~0U)) - 1;
  if (options.groups == 0 || options.groups > most) {
    throw Error{Errc::bad_options, "submit: groups = " + std::to_string(options.groups) +
                                       "; beside its own last one this job has up to " +
                                       std::to_string(most)};
  }
  if (options.local_size && options.local_size != job.threads) {
    throw Error{Errc::bad_options, "submit: local_size = " + std::to_string(*options.local_size) +
                                       "; a resident task has the job's, " +
                                       std::to_string(job.threads)};
  }
  detail::Wish wish;
  std::memcpy(wish.function, function.data(), function.size());
  wish.kind = kind;
  wish.groups = options.groups;
  wish.sms = (options.groups + job.bundle - 1) / job.bundle;
  const auto errand = std::make_shared<Errand>(job.shared_from_this(), wish, options);
  const auto lower = [&](const auto& other) {
    return other->serial == 0 && other->priority < options.priority;
  };
  job.errands.insert(std::find_if(job.errands.begin(), job.errands.end(), lower), errand);
  post(job);
  called_.notify_all();
  return errand;
}

/// Tells the device of the first task that waits, if there is none under way.
void Engine::Core::post(Record& job) {
  if (job.run == nullptr || job.concluding) return;
  if (job.run->mail == nullptr || job.errands.empty()) return;
  Errand& errand = *job.errands.front();
  if (errand.serial != 0) return;
  errand.serial = ++job.errand_serial;
  errand.status = Status::running;
  detail::Mail& mail = *job.run->mail;
  detail::Pool& pool = *job.run->desk.pool;
  mail.wish = errand.wish;
  if (job.body->scheduler == Scheduler::device) {
    // Pairs with the fence of the scheduler, which has seen the serial.
    std::atomic_ref{mail.serial}.store(errand.serial, std::memory_order_release);
    return;
  }
  mail.lent = errand.wish.sms;
  mail.opening = detail::opening(errand.serial, errand.wish.groups);
  check(cudaMemcpyAsync(&pool.wish, &mail.wish, sizeof mail.wish, cudaMemcpyDefault, control_),
        "a resident task");
  check(stream_write(control_, pool.lent.address(), errand.wish.sms), "a resident task");
  check(cudaMemcpyAsync(pool.open.address(), &mail.opening, sizeof mail.opening, cudaMemcpyDefault,
                        control_),
        "a resident task");
}

/// Takes over how the task under way has ended.
void Engine::Core::collect(Record& job) {
  if (job.errands.empty() || job.run == nullptr || job.run->mail == nullptr) return;
  detail::Mail& mail = *job.run->mail;
  const std::shared_ptr<Errand> errand = job.errands.front();
  if (errand->serial == 0 || seen(mail.done) != errand->serial) return;
  if (job.body->scheduler == Scheduler::host) {
    check(stream_write(control_, job.run->desk.pool->lent.address(), 0), "a resident task");
    mail.lent = 0;
  }
  const std::uint64_t took = now() - errand->submitted_at;
  errand->fault = FaultRecord{mail.fault};
  errand->run_time = mail.gathered_at != 0 ? mail.done_at - mail.gathered_at : 0;
  errand->gather.add(took - std::min(took, errand->run_time));
  const bool good = errand->fault.fault() == Fault::none;
  job.errands.pop_front();
  errand->rest(
      good ? Status::finished
           : (errand->fault.fault() == Fault::cancelled ? Status::cancelled : Status::failed));
  post(job);
}

/// Nobody will run them.
void Engine::Core::drop_errands(Record& job) {
  for (const auto& each : job.errands) each->rest(Status::cancelled);
  job.errands.clear();
}

std::shared_ptr<cohort::detail::JobControl> Engine::submit_to(cohort::detail::JobControl& job,
                                                              std::uint32_t kind,
                                                              std::span<const std::byte> function,
                                                              const TaskOptions& options) {
  auto& record = static_cast<Core::Record&>(job);
  return record.core->submit_resident(record, kind, function, options);
}

}  // namespace cohort::cuda
