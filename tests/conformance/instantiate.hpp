// Compiles an engine for a list of kernels. CMake writes one source per engine and file of kernels
// that includes this header. Tests only link to the functions that these sources define.
#pragma once

#include <vector>

#include "cohort/checkpoint.hpp"
#include "cohort/job.hpp"
#include "cohort/task.hpp"
#include "conformance/entries.hpp"
#include "conformance/kernels/words.hpp"

namespace cohort::test {

template <class Engine, class Kernel>
Job start(Engine& engine, const Kernel& kernel, const LaunchOptions& options) {
  return engine.launch(kernel, options);
}
template <class Engine, class Kernel>
Job restore(Engine& engine, const Kernel& kernel, const std::filesystem::path& file) {
  return engine.restore(kernel, file);
}
template <class Engine, class Function>
Task submit(Engine& engine, const Function& function, const TaskOptions& options) {
  return engine.submit(function, options);
}

template <class Engine, class Kernel>
void add_entries(std::vector<void (*)()>& entries) {
  const auto add = [&entries](auto* function) {
    entries.push_back(reinterpret_cast<void (*)()>(function));
  };
  if constexpr (!cohort::detail::HasRun<Kernel> && !cohort::detail::HasStep<Kernel>) {
    if constexpr (has_tasks<Engine>) add(&submit<Engine, Kernel>);
  } else if constexpr (compiled<Engine, Kernel>) {
    add(&start<Engine, Kernel>);
    if constexpr (has_tasks<Engine> && NamesBuffers<Kernel>) add(&restore<Engine, Kernel>);
  }
}

template <class Engine, class Kernel>
void add_all(std::vector<void (*)()>& entries, Kernel* /*type*/) {
  add_entries<Engine, Kernel>(entries);
}
template <class Engine, class Kernel>
void add_all(std::vector<void (*)()>& entries, EachBarrier<Kernel>* /*type*/) {
  add_entries<Engine, Kernel>(entries);
  add_entries<Engine, Meeting<Kernel, ResizingBarrier::query>>(entries);
  add_entries<Engine, Meeting<Kernel, ResizingBarrier::plain>>(entries);
  add_entries<Engine, Meeting<Kernel, ResizingBarrier::modelled>>(entries);
}

/// Takes the address of every function, so that it is in the object file.
template <class Engine, class... Kernels>
std::vector<void (*)()> instantiate(KernelList<Kernels...> /*all*/) {
  std::vector<void (*)()> entries;
  (add_all<Engine>(entries, static_cast<Kernels*>(nullptr)), ...);
  return entries;
}

}  // namespace cohort::test
