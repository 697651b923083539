// A job's life as its handles see it: wait, cancel, suspend, resume, checkpoint, report.
#include <algorithm>

#include "cuda/core.hpp"
#include "engine/saving_mark.hpp"
#include "faults.hpp"

namespace cohort::cuda {

std::uint32_t Engine::Core::Record::keeps(std::uint32_t share, std::uint32_t sms,
                                          std::uint32_t others) const {
  Recorder own;  // as the device works it out
  own.bundle = bundle;
  return own.target(share, sms, others);
}

std::uint32_t Engine::Core::Record::groups_on(std::uint32_t its_units) const {
  const std::uint32_t most = std::min(body->max_groups, target.value_or(body->max_groups));
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{its_units} * bundle, most));
}

/// Whether groups may still join.
bool Engine::Core::Record::open() const {
  return status == Status::running && options.resizable && !suspending && !cancelled &&
         !concluding && run != nullptr && run->finished == 0 && !run->closed;
}

scheduler::Claim Engine::Core::Record::claim() const {
  std::uint32_t most = groups_on(~0U);
  // Once a group has returned, or the job has been ended, nobody can join.
  if (status == Status::running && options.resizable && !open()) {
    most = std::min(most, std::max(inside(), 1U));
  }
  return {.max_groups = (most + bundle - 1) / bundle,
          .weight = options.weight,
          .rigid = !options.resizable,
          .running = status == Status::running,
          .suspendable = body->suspendable,
          .owed = owed};
}

void Engine::Core::Record::note(std::uint64_t at) {
  const std::uint32_t groups = inside();
  if (groups != last_inside) sizes.push(at - launched_at, groups);
  last_inside = groups;
}

void Engine::Core::Record::demanded(std::uint64_t at) {
  demand_at = at;
  gather_range.emplace(priority ? "gather for a task" : "gather from a job");
}

void Engine::Core::Record::met(std::uint64_t at) {
  gather.add(at - demand_at);
  if (options.tracer != nullptr) {
    const TraceGather met{.begin = demand_at, .end = at, .groups = inside()};
    core->effects_.add([self = shared_from_this(), met] { self->options.tracer->gathered(met); });
  }
  demand_at = 0;
  gather_range.reset();
}

Status Engine::Core::Record::wait_until(
    std::optional<std::chrono::steady_clock::time_point> deadline) {
  engine::Effects::refuse_wait("wait");
  Turn turn{*core, "wait"};
  core->await(turn, changed, deadline, [this] { return waited_for(); });
  return waited_for() || !at_rest(status) ? status : Status::running;
}

void Engine::Core::Record::cancel() {
  if (core->process_.left_behind()) return;  // nothing runs here; stop tokens call this
  const Turn turn{*core, "cancel"};
  if (ended(status)) return;
  if (status == Status::running) {
    cancelled = true;
    core->publish(*this, units);  // settled when the last group is out
  } else {
    core->rest(*this, Status::cancelled);
  }
  core->rebalance();
}

Status Engine::Core::Record::suspend() {
  engine::Effects::refuse_wait("suspend");
  Turn turn{*core, "suspend"};
  if (at_rest(status)) return status;
  if (!body->suspendable) {
    throw Error{Errc::not_suspendable,
                options.resizable
                    ? "suspend: this kernel declares suspendable = false, so its state cannot be "
                      "kept; offer with offer_kill(state) and drop that trait"
                    : "suspend: a static launch (resizable = false) cannot be suspended"};
  }
  held = true;
  if (status == Status::pending) {
    core->rest(*this, Status::suspended);
    core->rebalance();
    return status;
  }
  suspending = true;
  core->rebalance();
  changed.wait(turn.lock(), [this, before = rests] { return rests != before; });
  return last_rest;
}

void Engine::Core::Record::resume() {
  {
    Turn turn{*core, "resume"};
    changed.wait(turn.lock(), [this] { return saving == 0; });
    core->check_alive();
    if (status != Status::suspended) {
      throw Error{Errc::bad_state,
                  std::string{"resume: the job is "} + to_string(status) + ", not suspended"};
    }
    status = Status::pending;
    held = false;
    core->rebalance();
  }
  core->called_.notify_all();
}

void Engine::Core::Record::checkpoint(const std::filesystem::path& file) const {
  Turn turn{*core, "checkpoint"};
  if (status != Status::suspended) {
    throw Error{Errc::bad_state,
                std::string{"checkpoint: the job is "} + to_string(status) + "; suspend it first"};
  }
  if (!kept) throw Error{Errc::bad_state, "checkpoint: the job has not started yet"};
  const engine::SavingMark mark{*this, turn.lock()};
  if (!body->save(file, *core->memory_)) {
    throw Error{Errc::bad_state,
                "checkpoint: the kernel names no buffers; give it `template <class Visit> void "
                "buffers(Visit& visit) const`"};
  }
}

void Engine::Core::Record::set_target(std::optional<std::uint32_t> groups) {
  const Turn turn{*core, "set_target"};
  if (!options.resizable)
    throw Error{Errc::bad_state,
                "set_target: a static launch (resizable = false) has a fixed size"};
  const std::uint32_t least = body->may_all_leave ? 0 : 1;
  if (groups && (*groups < least || *groups > body->max_groups)) {
    throw Error{Errc::bad_options, "set_target: " + std::to_string(*groups) +
                                       " groups; this job can have " + std::to_string(least) +
                                       " to " + std::to_string(body->max_groups)};
  }
  target = groups;
  core->rebalance();
}

Report Engine::Core::Record::report() const {
  const Turn turn{*core, "report"};
  Report report;
  report.status = status;
  const std::uint64_t this_run = status == Status::running ? now() - started_at : 0;
  report.run_time = std::chrono::nanoseconds{ran_before + this_run};
  report.start_groups = start_groups;
  report.joins = joins;
  report.leaves = leaves;
  if (run != nullptr) {
    report.joins += run->joined;
    report.leaves += run->left;
  }
  report.gather = gather.summary();
  report.sizes = sizes.all();
  if (status == Status::failed) report.error = error.empty() ? protocol::explain(fault) : error;
  return report;
}

void Engine::Core::Record::rethrow() const {
  const Turn turn{*core};
  if (!error.empty()) throw Error{Errc::device_lost, error};
  throw Error{Errc::broken_contract, protocol::explain(fault)};
}

}  // namespace cohort::cuda
