// The engine's handle: checks what users ask for, and passes it on to the core.
#include <cstring>

#include "cohort/opencl.hpp"
#include "opencl/core.hpp"
#include "options.hpp"

namespace cohort::opencl {
namespace {

/// The arguments, laid out as the kernel reads them. Pointers have to lead to memory that the
/// device reaches.
std::vector<std::byte> pack(const KernelInfo& kernel, const std::vector<const void*>& values,
                            const SharedMemory& memory) {
  std::vector<std::byte> result(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (parameter.kind != "value") {
      const void* pointer = nullptr;
      std::memcpy(&pointer, values[i], sizeof pointer);
      if (pointer != nullptr && !memory.owns(pointer)) {
        throw Error{Errc::bad_options,
                    "parameter '" + parameter.name + "' of kernel " + kernel.name +
                        " points to memory of the host; use the engine's fill() or upload()"};
      }
    }
    result.resize(std::max(result.size(), parameter.offset + parameter.size));
    std::memcpy(result.data() + parameter.offset, values[i], parameter.size);
  }
  return result;
}

}  // namespace

Engine::Engine(EngineOptions options)
    : core_(std::make_shared<Core>(std::move(options))), memory_(core_->memory()) {
  core_->start();
}

Engine::~Engine() { core_->stop(); }

std::uint32_t Engine::capacity() const { return core_->capacity(); }
const Device& Engine::device() const { return core_->device(); }

void Engine::set_capacity(std::uint32_t units) {
  check_range("engine: capacity", units, 1, core_->most_groups());
  core_->set_capacity(units);
}

void Engine::load(const ProgramKernel& kernel) {
  if (kernel.module_->source.empty()) kernel.refuse_engine();
  core_->load({{kernel.module_, kernel.index_}});
}

void Engine::load(const Program& program) {
  if (program.module_->source.empty()) {
    throw Error{Errc::bad_options, "load: the program was compiled for the engine '" +
                                       program.module_->engine +
                                       "'; compile it with .engine = \"opencl\""};
  }
  std::vector<KernelOf> kernels;
  for (std::size_t i = 0; i < program.kernels().size(); ++i)
    kernels.push_back({program.module_, i});
  core_->load(kernels);
}

Job Engine::launch(const ProgramKernel& kernel, const LaunchOptions& options) {
  if (kernel.module_->source.empty()) kernel.refuse_engine();
  LaunchOptions with = options;
  with.max_groups = cohort::checked(options, capacity());
  if (!options.resizable && *with.max_groups > capacity()) {
    throw Error{Errc::bad_options,
                "launch: a static launch of " + std::to_string(*with.max_groups) +
                    " groups on an engine of capacity " + std::to_string(capacity()) +
                    " could never start; use at most that many, or resizable = true"};
  }
  Order order{{kernel.module_, kernel.index_},
              pack(kernel.info(), kernel.checked(with), *core_->memory())};
  return Job{core_->launch(std::move(order), with, {})};
}

Task Engine::submit(const ProgramKernel& kernel, const TaskOptions& options) {
  if (kernel.module_->source.empty()) kernel.refuse_engine();
  const std::uint32_t groups = cohort::checked(options, capacity());
  LaunchOptions with{.max_groups = groups,
                     .local_size = options.local_size,
                     .resizable = false,
                     .stop = options.stop,
                     .tracer = options.tracer};
  Order order{{kernel.module_, kernel.index_},
              pack(kernel.info(), kernel.checked(with), *core_->memory())};
  return Task{core_->launch(std::move(order), with, options.priority)};
}

}  // namespace cohort::opencl

namespace cohort {

Job ProgramKernel::launch(opencl::Engine& engine, const LaunchOptions& options) const {
  return engine.launch(*this, options);
}

Task ProgramKernel::submit(opencl::Engine& engine, const TaskOptions& options) const {
  return engine.submit(*this, options);
}

}  // namespace cohort
