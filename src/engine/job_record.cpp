// A job's life as seen by its handles: wait, cancel, suspend, resume, checkpoint, report.
#include "engine/job_record.hpp"

#include <algorithm>
#include <utility>

#include "engine/dispatcher.hpp"
#include "engine/faults.hpp"

namespace cohort::engine {
namespace {

/// Marks a job while its checkpoint is written without the engine's mutex. A marked job must not
/// run, and its memory must stay. Releases the lock until the destructor.
class SavingMark {
 public:
  SavingMark(const JobRecord& job, std::unique_lock<std::mutex>& lock) : job_(job), lock_(lock) {
    ++job_.saving;
    lock_.unlock();
  }
  SavingMark(const SavingMark&) = delete;
  SavingMark& operator=(const SavingMark&) = delete;
  ~SavingMark() {
    lock_.lock();
    --job_.saving;
    job_.changed.notify_all();
  }

 private:
  const JobRecord& job_;
  std::unique_lock<std::mutex>& lock_;
};

}  // namespace

std::uint32_t JobRecord::groups_on(std::uint32_t its_units) const {
  const std::uint32_t most = std::min(body->max_groups, target.value_or(body->max_groups));
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{its_units} * body->groups_per_unit, most));
}

void JobRecord::moved(bool in, bool joined) {
  const std::lock_guard lock{moves};
  in_kernel += in ? 1U : ~0U;
  joins += in && joined ? 1 : 0;
  sizes.push(now() - launched_at, in_kernel);
}

void JobRecord::count(std::uint32_t groups, std::uint32_t joined) {
  const std::lock_guard lock{moves};
  joins += joined;
  if (std::exchange(in_kernel, groups) != groups) sizes.push(now() - launched_at, groups);
}

Status JobRecord::wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) {
  if (deadline == std::chrono::steady_clock::time_point::max()) deadline.reset();
  Dispatcher::Locked locked{*dispatcher, "wait"};
  const auto over = [this] { return waited_for(); };
  if (!over()) {
    dispatcher->backend().check_wait(*this, "wait", !deadline);
    dispatcher->backend().await(locked.lock(), *this, deadline, over);
  }
  return over() || !at_rest(status) ? status : Status::running;
}

void JobRecord::cancel() {
  if (dispatcher->left_behind())
    // In a child of fork(), which has none of the engine's threads; a stop token can call this
    // there.
    return;
  const Dispatcher::Locked locked{*dispatcher, "cancel"};
  if (ended(status)) return;
  dispatcher->cancel(*this);
  dispatcher->rebalance();
}

void JobRecord::refuse_suspend() const {
  throw Error{Errc::not_suspendable,
              resizable() ? body->why_not_suspendable()
                          : "suspend: a static launch (resizable = false) cannot be suspended"};
}

Status JobRecord::suspend() {
  Dispatcher::Locked locked{*dispatcher, "suspend"};
  if (at_rest(status)) return status;
  if (!body->suspendable) refuse_suspend();
  if (status == Status::running) dispatcher->backend().check_wait(*this, "suspend", true);
  held = true;
  if (status == Status::pending) {
    dispatcher->rest(*this, Status::suspended);
    dispatcher->rebalance();
    return status;
  }
  suspending = true;
  dispatcher->rebalance();
  dispatcher->backend().await(locked.lock(), *this, {},
                              [this, before = rests] { return rests != before; });
  return last_rest;
}

void JobRecord::resume() {
  dispatcher->enter(*this, "resume", [this](Dispatcher::Locked& locked) {
    changed.wait(locked.lock(), [this] { return saving == 0; });
    dispatcher->check_alive("resume");
    if (status == Status::suspended) return;
    throw Error{Errc::bad_state,
                std::string{"resume: the job is "} + to_string(status) + ", not suspended"};
  });
}

void JobRecord::checkpoint(const std::filesystem::path& file) const {
  Dispatcher::Locked locked{*dispatcher, "checkpoint"};
  if (status != Status::suspended) {
    throw Error{Errc::bad_state,
                std::string{"checkpoint: the job is "} + to_string(status) + "; suspend it first"};
  }
  if (!kept) throw Error{Errc::bad_state, "checkpoint: the job has not started yet"};
  const SavingMark mark{*this, locked.lock()};
  const auto parts = body->checkpoint_parts();
  if (!parts) {
    throw Error{Errc::bad_state,
                "checkpoint: the kernel names no buffers; give it `template <class Visit> void "
                "buffers(Visit& visit) const`"};
  }
  cohort::detail::write_checkpoint(file, *parts, *dispatcher->memory());
}

void JobRecord::set_target(std::optional<std::uint32_t> groups) {
  const Dispatcher::Locked locked{*dispatcher, "set_target"};
  if (!resizable())
    throw Error{Errc::bad_state,
                "set_target: a static launch (resizable = false) has a fixed size"};
  const std::uint32_t least = body->may_all_leave ? 0 : 1;
  if (groups && (*groups < least || *groups > body->max_groups)) {
    throw Error{Errc::bad_options, "set_target: " + std::to_string(*groups) +
                                       " groups; this job can have " + std::to_string(least) +
                                       " to " + std::to_string(body->max_groups)};
  }
  target = groups;
  dispatcher->rebalance();
}

Report JobRecord::report() const {
  Dispatcher::Locked locked{*dispatcher, "report"};
  Report report;
  report.status = status;
  const std::uint64_t this_run = status == Status::running ? now() - started_at : 0;
  report.run_time = std::chrono::nanoseconds{ran_before + this_run};
  report.max_groups = body->max_groups;
  report.start_groups = start_groups;
  report.leaves = leaves;
  report.gather = gather.summary();
  report.offers = offers.summary();
  {
    const std::lock_guard moving{moves};
    report.joins = joins;
    report.sizes = sizes.all();
  }
  if (status == Status::failed) {
    locked.lock().unlock();  // an exception's what() is user code; the members
                             // read below no longer change
    report.error = why_failed();
  }
  return report;
}

std::string JobRecord::why_failed() const {
  if (error) return error->what();
  const std::string what = protocol::explain(fault);
  if (!body->thrown) return what;
  try {
    std::rethrow_exception(body->thrown);
  } catch (const std::exception& exception) {
    return what + ": " + exception.what();
  } catch (...) {
    return what + ": not a std::exception";
  }
}

void JobRecord::rethrow() const {
  if (error) throw Error{*error};
  if (body->thrown) std::rethrow_exception(body->thrown);
  throw Error{Errc::broken_contract, body->label() + protocol::explain(fault)};
}

}  // namespace cohort::engine
