#include "cohort/cpu.hpp"
#include "cpu/lender.hpp"
#include "cpu/memory.hpp"
#include "cpu/workers.hpp"
#include "tenant/server.hpp"

namespace cohort::cpu {
namespace {

std::shared_ptr<engine::Dispatcher> open(const EngineOptions& options) {
  auto dispatcher = std::make_shared<engine::Dispatcher>(std::make_shared<HostMemory>());
  auto workers = std::make_unique<Workers>(*dispatcher, options.pin_workers);
  dispatcher->open(std::move(workers), options.capacity.value_or(usable_cpus()));
  if (options.share.empty()) return dispatcher;
  try {
    dispatcher->share(std::make_unique<tenant::Server>(
        *dispatcher, std::make_unique<WorkerLender>(*dispatcher, tenant::slots), options.share));
  } catch (...) {
    dispatcher->stop();
    throw;
  }
  return dispatcher;
}

}  // namespace

Engine::Engine(EngineOptions options) : KernelEngine(open(options)) {}

}  // namespace cohort::cpu
