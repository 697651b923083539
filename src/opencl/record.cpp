// A job's life as its handles see it: wait, cancel, suspend, resume, report.
#include <algorithm>

#include "cohort/platform/cpu.hpp"
#include "faults.hpp"
#include "opencl/core.hpp"

namespace cohort::opencl {

using cpu::now;

Engine::Core::Record::Record(std::shared_ptr<Core> its_core, Order its_order, JobMemory its_memory,
                             LaunchOptions with, std::optional<int> its_priority)
    : core(std::move(its_core)),
      order(std::move(its_order)),
      memory(std::move(its_memory)),
      options(std::move(with)),
      priority(its_priority),
      target(options.target),
      launched_at(now()) {}

scheduler::Claim Engine::Core::Record::claim() const {
  std::uint32_t most = words().max_groups;
  if (target) most = std::min(most, *target);
  // Once a group has returned, or the job has been ended, nobody can join: units beyond those
  // inside would only wait.
  const Roster roster = words().look();
  if (status == Status::running && (roster.draining() || roster.faulted())) {
    most = std::min(most, std::max(inside, 1U));
  }
  return {.max_groups = most,
          .weight = options.weight,
          .rigid = !options.resizable,
          .running = status == Status::running,
          .suspendable = options.resizable && order.info().suspendable,
          .owed = owed};
}

void Engine::Core::Record::gathered(std::uint64_t since, std::uint32_t groups) {
  const std::uint64_t at = now();
  gather.add(at - since);
  if (options.tracer == nullptr) return;
  const TraceGather met{.begin = since, .end = at, .groups = groups};
  core->effects_.add([self = shared_from_this(), met] { self->options.tracer->gathered(met); });
}

void Engine::Core::Record::moved(bool came, bool joined) {
  joins += came && joined ? 1 : 0;
  count(in_kernel + (came ? 1U : ~0U));
}

void Engine::Core::Record::count(std::uint32_t groups) {
  if (groups == in_kernel) return;
  in_kernel = groups;
  sizes.push(now() - launched_at, in_kernel);
}

void Engine::Core::Record::started() {
  started_at = now();
  if (priority) gathered(launched_at, words().max_groups);  // all units in hand
}

void Engine::Core::Record::look_at_demand() {
  if (demand_at == 0 || inside > share) return;
  gathered(demand_at, share);
  demand_at = 0;
}

Status Engine::Core::Record::wait_until(
    std::optional<std::chrono::steady_clock::time_point> deadline) {
  engine::Effects::refuse_wait("wait");
  auto locked = core->locked("wait");
  const auto resting = [this] { return at_rest(status); };
  if (deadline && *deadline != std::chrono::steady_clock::time_point::max()) {
    changed.wait_until(locked.lock(), *deadline, resting);
  } else {
    changed.wait(locked.lock(), resting);
  }
  return status;
}

void Engine::Core::Record::cancel() {
  if (core->process_.left_behind()) return;  // nothing runs here; stop tokens call this
  const auto lock = core->locked("cancel");
  if (ended(status)) return;
  if (status == Status::running) {
    raise(words(), Fault::cancelled);  // settled when the last group is out
  } else {
    core->rest(*this, Status::cancelled);
  }
  core->rebalance();
}

Status Engine::Core::Record::suspend() {
  engine::Effects::refuse_wait("suspend");
  auto locked = core->locked("suspend");
  if (at_rest(status)) return status;
  if (!options.resizable || !order.info().suspendable) {
    throw Error{Errc::not_suspendable,
                options.resizable
                    ? "suspend: kernel " + order.info().name +
                          " needs variables after an offer_kill that are not transmitted; "
                          "`cohortc --remarks` names them"
                    : "suspend: a static launch (resizable = false) cannot be suspended"};
  }
  held = true;
  if (status == Status::pending) {
    core->rest(*this, Status::suspended);
    core->rebalance();
    return status;
  }
  ask_to_leave();
  core->rebalance();
  changed.wait(locked.lock(), [this, before = rests] { return rests != before; });
  return last_rest;
}

void Engine::Core::Record::resume() {
  const Shape shape = shape_of(order, options);
  for (;;) {
    {
      const auto lock = core->locked("resume");
      core->check_alive();
      if (status != Status::suspended) {
        throw Error{Errc::bad_state,
                    std::string{"resume: the job is "} + to_string(status) + ", not suspended"};
      }
      if (const auto which = core->open_shift(order.kernel, shape)) {
        words().which = *which;
        status = Status::pending;
        held = false;
        core->rebalance();
        return;
      }
    }
    core->build(order.kernel, shape);
  }
}

void Engine::Core::Record::checkpoint(const std::filesystem::path& /*file*/) const {
  throw Error{Errc::bad_state,
              "checkpoint: a kernel of the dialect does not say how large its buffers are; write "
              "a kernel in C++ for that"};
}

void Engine::Core::Record::set_target(std::optional<std::uint32_t> groups) {
  const auto lock = core->locked("set_target");
  if (!options.resizable)
    throw Error{Errc::bad_state,
                "set_target: a static launch (resizable = false) has a fixed size"};
  const std::uint32_t least = order.info().survivors == Survivors::may_all_leave ? 0 : 1;
  if (groups && (*groups < least || *groups > words().max_groups)) {
    throw Error{Errc::bad_options, "set_target: " + std::to_string(*groups) +
                                       " groups; this job can have " + std::to_string(least) +
                                       " to " + std::to_string(words().max_groups)};
  }
  target = groups;
  core->rebalance();
}

Report Engine::Core::Record::report() const {
  const auto lock = core->locked("report");
  Report report;
  report.status = status;
  const std::uint64_t this_run = status == Status::running ? now() - started_at : 0;
  report.run_time = std::chrono::nanoseconds{ran_before + this_run};
  report.start_groups = start_groups;
  report.joins = joins;
  report.leaves = leaves;
  report.gather = gather.summary();
  report.sizes = sizes.all();
  if (status == Status::failed) report.error = why();
  return report;
}

std::string Engine::Core::Record::why() const {
  if (error) return error->what();
  return protocol::explain(protocol::FaultRecord{words().fault.load(std::memory_order_relaxed)});
}

void Engine::Core::Record::rethrow() const {
  const auto lock = core->locked("wait");
  if (error) throw Error{*error};
  throw Error{Errc::broken_contract, "kernel " + order.info().name + ": " + why()};
}

}  // namespace cohort::opencl
