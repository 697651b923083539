// The engine's handle: checks what users ask for, and passes it on to the core.
#include "cohort/cpu.hpp"
#include "cpu/core.hpp"
#include "cpu/memory.hpp"

namespace cohort::cpu {
namespace {

void check_capacity(std::uint32_t units) {
  if (units >= 1 && units <= max_groups_limit) return;
  throw Error{Errc::bad_options, "engine: a capacity of " + std::to_string(units) +
                                     "; it can be 1 to " + std::to_string(max_groups_limit)};
}

void check_range(const std::string& name, std::uint32_t value, std::uint32_t least,
                 std::uint32_t most) {
  if (value >= least && value <= most) return;
  throw Error{Errc::bad_options, name + " = " + std::to_string(value) + "; it can be " +
                                     std::to_string(least) + " to " + std::to_string(most)};
}

}  // namespace

Engine::Engine(EngineOptions options) {
  const std::uint32_t workers = options.capacity.value_or(usable_cpus());
  check_capacity(workers);
  core_ = std::make_shared<Core>();
  memory_ = host_memory();
  try {
    core_->start(workers, options.pin_workers);
  } catch (...) {
    core_->stop();
    throw;
  }
}

Engine::~Engine() { core_->stop(); }

std::uint32_t Engine::capacity() const { return core_->capacity(); }

void Engine::set_capacity(std::uint32_t units) {
  check_capacity(units);
  core_->set_capacity(units);
}

std::uint32_t Engine::checked(const TaskOptions& options) const {
  check_range("submit: groups", options.groups, 1, capacity());
  check_range("submit: local_size", options.local_size, 1, max_local_size);
  return options.groups;
}

std::uint32_t Engine::checked(const LaunchOptions& options) const {
  const std::uint32_t groups = options.max_groups.value_or(capacity());
  check_range("launch: max_groups", groups, 1, max_groups_limit);
  check_range("launch: local_size", options.local_size, 1, max_local_size);
  check_range("launch: weight", options.weight, 1, 1'000'000);
  if (options.start_groups) check_range("launch: start_groups", *options.start_groups, 1, groups);
  if (options.target) check_range("launch: target", *options.target, 1, groups);
  if (!options.resizable && groups > capacity()) {
    throw Error{Errc::bad_options,
                "launch: a static launch of " + std::to_string(groups) +
                    " groups on an engine of capacity " + std::to_string(capacity()) +
                    " could never start; use at most that many, or resizable = true"};
  }
  if (!options.resizable && (options.target || options.start_groups)) {
    throw Error{Errc::bad_options,
                "launch: a static launch (resizable = false) starts and stays with max_groups "
                "groups: drop start_groups and target"};
  }
  return groups;
}

std::shared_ptr<cohort::detail::JobControl> Engine::start(std::unique_ptr<detail::Body> body,
                                                          const LaunchOptions& options,
                                                          std::optional<int> priority,
                                                          bool restored) {
  return core_->launch(std::move(body), options, priority, restored);
}

void Engine::refuse_static_restore() {
  throw Error{Errc::bad_options,
              "restore: a static launch (resizable = false) cannot be continued"};
}

}  // namespace cohort::cpu
