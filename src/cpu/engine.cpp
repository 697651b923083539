// The engine's handle: checks what users ask for, and passes it on to the core.
#include "cohort/cpu.hpp"
#include "cpu/core.hpp"
#include "cpu/memory.hpp"
#include "options.hpp"

namespace cohort::cpu {
namespace {

void check_capacity(std::uint32_t units) {
  if (units >= 1 && units <= max_groups_limit) return;
  throw Error{Errc::bad_options, "engine: a capacity of " + std::to_string(units) +
                                     "; it can be 1 to " + std::to_string(max_groups_limit)};
}

}  // namespace

Engine::Engine(EngineOptions options) {
  const std::uint32_t workers = options.capacity ? *options.capacity : usable_cpus();
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
  return cohort::checked(options, capacity());
}

std::uint32_t Engine::checked(const LaunchOptions& options, const Traits& traits) const {
  const std::uint32_t groups = cohort::checked(options, capacity(), traits);
  if (!options.resizable && groups > capacity()) {
    throw Error{Errc::bad_options,
                "launch: a static launch of " + std::to_string(groups) +
                    " groups on an engine of capacity " + std::to_string(capacity()) +
                    " could never start; use at most that many, or resizable = true"};
  }
  return groups;
}

std::shared_ptr<cohort::detail::JobControl> Engine::start(std::unique_ptr<detail::Body> body,
                                                          const LaunchOptions& options,
                                                          std::optional<int> priority,
                                                          bool restored) {
  return core_->launch(std::move(body), options, priority, restored);
}

void Engine::refuse_static_restore() { cohort::refuse_static_restore(); }

}  // namespace cohort::cpu
