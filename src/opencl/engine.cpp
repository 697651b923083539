// The engine's handle: opens a device and binds kernels to their arguments.
#include <cstring>

#include "cohort/opencl.hpp"
#include "opencl/workgroups.hpp"

namespace cohort::opencl {
namespace {

/// The arguments, laid out as the kernel reads them. Pointers must lead to memory that the device
/// can access.
std::vector<std::byte> pack(const KernelInfo& kernel, const std::vector<const void*>& values,
                            const cohort::detail::Range& range, const SharedMemory& memory) {
  std::vector<std::byte> result(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (parameter.kind == "global" || parameter.kind == "constant") {
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
  if (kernel.range_offset) {
    struct {  // as in protocol.cl
      std::uint64_t next = 0;
      std::array<std::uint32_t, 3> groups{};
      std::uint32_t dimensions = 0;
    } const words{0, std::to_array(range.groups), range.dimensions};
    result.resize(*kernel.range_offset + sizeof words);
    std::memcpy(result.data() + *kernel.range_offset, &words, sizeof words);
  }
  return result;
}

Workgroups& workgroups(const engine::Dispatcher& dispatcher) {
  return static_cast<Workgroups&>(dispatcher.backend());
}

std::shared_ptr<engine::Dispatcher> open(EngineOptions options) {
  const Chosen chosen = choose_device(options.device);
  if (options.capacity && (*options.capacity < 1 || *options.capacity > chosen.most_groups)) {
    throw Error{Errc::bad_options, "opencl engine: a capacity of " +
                                       std::to_string(*options.capacity) + "; " + chosen.info.name +
                                       " can have 1 to " + std::to_string(chosen.most_groups)};
  }
  const cl::Context context =
      checked_call("making a context", [&] { return cl::Context{chosen.device}; });
  const auto memory = std::make_shared<SharedMemory>(context);
  auto dispatcher = std::make_shared<engine::Dispatcher>(memory);
  auto workgroups =
      std::make_unique<Workgroups>(*dispatcher, std::move(options), chosen, context, memory);
  Workgroups& its = *workgroups;
  dispatcher->open(std::move(workgroups), its.most_groups());
  its.attend();
  return dispatcher;
}

}  // namespace

Engine::Engine(EngineOptions options) : EngineBase(open(std::move(options))) {}

const Device& Engine::device() const { return workgroups(dispatcher()).device(); }

void Engine::load(const ProgramKernel& kernel) {
  if (kernel.module_->source.empty()) kernel.refuse_engine();
  workgroups(dispatcher()).load({{kernel.module_, kernel.index_}});
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
  workgroups(dispatcher()).load(kernels);
}

std::unique_ptr<WorkgroupBody> Engine::bind(const ProgramKernel& kernel, std::uint32_t groups,
                                            LaunchOptions options) const {
  if (kernel.module_->source.empty()) kernel.refuse_engine();
  const std::vector<const void*> values = kernel.checked(options);
  cohort::detail::Range range = kernel.range();
  if (!kernel.range_) range.dimensions = 0;
  BoundKernel bound{{kernel.module_, kernel.index_},
                    pack(kernel.info(), values, range, workgroups(dispatcher()).memory())};
  if (kernel.range_) bound.shape = kernel.range_->local;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kernel.info().parameters[i].kind != "local") continue;
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, values[i], sizeof bytes);
    bound.more_local += static_cast<std::uint32_t>(cohort::detail::local_room(bytes));
  }
  return std::make_unique<WorkgroupBody>(std::move(bound), groups, options);
}

Job Engine::launch(const ProgramKernel& kernel, const LaunchOptions& options) {
  return start(bind(kernel, checked(options, {}), options), options);
}

Task Engine::submit(const ProgramKernel& kernel, const TaskOptions& options) {
  const std::uint32_t groups = checked(options);
  return start(bind(kernel, groups, {.local_size = options.local_size, .resizable = false}),
               options);
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
