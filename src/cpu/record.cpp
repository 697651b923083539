// A job's life as its handles see it: wait, cancel, suspend, resume, checkpoint, report.
#include <algorithm>

#include "cpu/core.hpp"
#include "engine/saving_mark.hpp"
#include "faults.hpp"

namespace cohort::cpu {
scheduler::Claim Engine::Core::Record::claim() const {
  std::uint32_t most = body->shared.max_groups;
  if (target) most = std::min(most, *target);
  // Once a group has returned, or the job has been ended, nobody can join: units beyond those
  // inside would only wait.
  const Roster roster = body->shared.look();
  if (status == Status::running && (roster.draining() || roster.faulted())) {
    most = std::min(most, std::max(inside, 1U));
  }
  return {.max_groups = most,
          .weight = options.weight,
          .rigid = !options.resizable,
          .running = status == Status::running,
          .suspendable = body->suspendable,
          .owed = owed};
}

TraceGather Engine::Core::Record::gathered(std::uint64_t since, std::uint32_t groups) {
  const std::uint64_t at = now();
  gather.add(at - since);
  return {.begin = since, .end = at, .groups = groups};
}

Status Engine::Core::Record::wait_until(
    std::optional<std::chrono::steady_clock::time_point> deadline) {
  auto lock = core->locked("wait");
  const auto over = [this] { return waited_for(); };
  if (deadline && *deadline != std::chrono::steady_clock::time_point::max()) {
    changed.wait_until(lock, *deadline, over);
  } else if (!over()) {
    core->refuse_endless_wait(*this, "wait");
    auto& awaited = core->awaited_;
    const bool by_group = current_ != nullptr && current_->core == core;
    if (by_group) awaited.push_back(this);
    changed.wait(lock, over);
    if (by_group) awaited.erase(std::find(awaited.begin(), awaited.end(), this));
  }
  return over() || !at_rest(status) ? status : Status::running;
}

void Engine::Core::Record::cancel() {
  if (core->process_.left_behind()) return;  // nothing runs here; stop tokens call this
  const auto lock = core->locked("cancel");
  if (ended(status)) return;
  if (status == Status::running) {
    protocol::raise(body->shared, Fault::cancelled);  // settled when the last group is out
  } else {
    core->rest(*this, Status::cancelled);
  }
  core->rebalance();
}

Status Engine::Core::Record::suspend() {
  auto lock = core->locked("suspend");
  if (at_rest(status)) return status;
  if (!body->suspendable) {
    throw Error{Errc::not_suspendable,
                options.resizable
                    ? "suspend: this kernel declares suspendable = false, so its state cannot be "
                      "kept; offer with "
                      "offer_kill(state) and drop that trait"
                    : "suspend: a static launch (resizable = false) cannot be suspended"};
  }
  if (status == Status::pending) {
    held = true;
    core->rest(*this, Status::suspended);
    core->rebalance();
    return status;
  }
  core->refuse_endless_wait(*this, "suspend");
  held = true;
  ask_to_leave();
  core->rebalance();
  changed.wait(lock, [this, before = rests] { return rests != before; });
  return last_rest;
}

void Engine::Core::Record::resume() {
  auto lock = core->locked("resume");
  changed.wait(lock, [this] { return saving == 0; });
  if (core->stopping_) throw Error{Errc::engine_gone, "resume: the engine has been destroyed"};
  if (status != Status::suspended) {
    throw Error{Errc::bad_state,
                std::string{"resume: the job is "} + to_string(status) + ", not suspended"};
  }
  status = Status::pending;
  held = false;
  core->rebalance();
}

void Engine::Core::Record::checkpoint(const std::filesystem::path& file) const {
  auto lock = core->locked("checkpoint");
  if (status != Status::suspended) {
    throw Error{Errc::bad_state,
                std::string{"checkpoint: the job is "} + to_string(status) + "; suspend it first"};
  }
  if (!kept) throw Error{Errc::bad_state, "checkpoint: the job has not started yet"};
  const engine::SavingMark mark{*this, lock};
  if (!body->save(file)) {
    throw Error{Errc::bad_state,
                "checkpoint: the kernel names no buffers; give it `template <class Visit> void "
                "buffers(Visit& visit) const`"};
  }
}

void Engine::Core::Record::set_target(std::optional<std::uint32_t> groups) {
  const auto lock = core->locked("set_target");
  if (!options.resizable)
    throw Error{Errc::bad_state,
                "set_target: a static launch (resizable = false) has a fixed size"};
  const std::uint32_t least = body->may_all_leave ? 0 : 1;
  if (groups && (*groups < least || *groups > body->shared.max_groups)) {
    throw Error{Errc::bad_options, "set_target: " + std::to_string(*groups) +
                                       " groups; this job can have " + std::to_string(least) +
                                       " to " + std::to_string(body->shared.max_groups)};
  }
  target = groups;
  core->rebalance();
}

Report Engine::Core::Record::report() const {
  auto lock = core->locked("report");
  Report report;
  report.status = status;
  const std::uint64_t this_run = status == Status::running ? now() - started_at : 0;
  report.run_time = std::chrono::nanoseconds{ran_before + this_run};
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
    lock.unlock();  // exceptions are the user's own code; these words stay as they are
    report.error =
        protocol::explain(protocol::FaultRecord{body->shared.fault.load(Order::relaxed)});
    if (body->exception) {
      try {
        std::rethrow_exception(body->exception);
      } catch (const std::exception& error) {
        report.error += std::string{": "} + error.what();
      } catch (...) {
        report.error += ": not a std::exception";
      }
    }
  }
  return report;
}

void Engine::Core::Record::rethrow() const {
  if (body->exception) std::rethrow_exception(body->exception);
  throw Error{Errc::broken_contract,
              protocol::explain(protocol::FaultRecord{body->shared.fault.load(Order::relaxed)})};
}

void Engine::Core::Record::moved(void* job, bool in, bool joined) {
  auto& record = *static_cast<Record*>(job);
  const std::lock_guard lock{record.moves};
  record.in_kernel += in ? 1U : ~0U;
  record.joins += in && joined ? 1 : 0;
  record.sizes.push(now() - record.launched_at, record.in_kernel);
}

}  // namespace cohort::cpu
