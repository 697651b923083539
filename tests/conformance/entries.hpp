// The interface between the tests and the sources that instantiate kernels: which functions exist,
// and for which engines and kernels.
#pragma once

#include <filesystem>
#include <type_traits>

#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/task.hpp"

namespace cohort {
namespace cpu {
class Engine;
}
namespace cuda {
class Engine;
}
namespace explore {
class Engine;
}

namespace test {

template <class Engine, class Kernel>
Job start(Engine& engine, const Kernel& kernel, const LaunchOptions& options);
template <class Engine, class Kernel>
Job restore(Engine& engine, const Kernel& kernel, const std::filesystem::path& file);
template <class Engine, class Function>
Task submit(Engine& engine, const Function& function, const TaskOptions& options);

/// Whether an engine has tasks and checkpoints.
template <class Engine>
inline constexpr bool has_tasks = !std::is_same_v<Engine, explore::Engine>;

/// Whether an engine is compiled for a kernel. On engines other than the CPU engine, only the march
/// has the paper's barriers, because nvcc and the explorer take long for each kernel. They also
/// lack kernels with a large State, for which their threads have no room.
template <class Engine, class Kernel>
inline constexpr bool compiled = std::is_same_v<Engine, cpu::Engine> ||
                                 (!requires { Kernel::cpu_only; } &&
                                  (cohort::detail::declared_traits<Kernel>().barrier ==
                                       ResizingBarrier::one_pass ||
                                   requires { Kernel::every_barrier; }) &&
                                  sizeof(StateOf<Kernel>) <= 1024);

}  // namespace test
}  // namespace cohort
