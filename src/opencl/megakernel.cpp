#include "opencl/megakernel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <sstream>

#include "opencl/layout.hpp"

namespace cohort::opencl {
namespace {

/// The offsets in the order in which cohort_layout in pool.cl writes them.
constexpr std::array<std::uint32_t, 22> our_layout{offsetof(Words, roster),
                                                   offsetof(Words, share),
                                                   offsetof(Words, serial),
                                                   offsetof(Words, fork_lock),
                                                   offsetof(Words, fault),
                                                   offsetof(Words, which),
                                                   offsetof(Words, restarted),
                                                   offsetof(Words, boxes),
                                                   offsetof(Words, events),
                                                   offsetof(Words, event_count),
                                                   sizeof(Words),
                                                   offsetof(Desk, order),
                                                   offsetof(Desk, state),
                                                   offsetof(Desk, answer),
                                                   offsetof(Desk, joined),
                                                   sizeof(Desk),
                                                   offsetof(Context, job),
                                                   offsetof(Context, inside),
                                                   offsetof(Context, leaves),
                                                   sizeof(Context),
                                                   offsetof(Pool, limit),
                                                   sizeof(Event)};

std::string prefix_of(std::size_t module) {
  return "cohort_program_" + std::to_string(module) + "_";
}

}  // namespace

std::string standard_options(const Chosen& device) {
  std::string result = "-w -cl-std=" + device.standard;
  // The device supports it (see lacks()), but the headers of PoCL 3.1 do not announce it.
  if (device.standard == "CL3.0") result += " -D__opencl_c_atomic_scope_all_devices=1";
  if (device.info.platform == "Portable Computing Language") result += " -DCOHORT_HOST_THREADS";
  return result;
}

Megakernel::Megakernel(const cl::Context& context, const Chosen& device,
                       const std::string& build_options, std::vector<KernelOf> kernels, bool alone,
                       const std::shared_ptr<SharedMemory>& memory)
    : kernels_(std::move(kernels)), alone_(alone) {
  std::string options = standard_options(device);
  if (alone) options += " -DCOHORT_ALONE";
  if (!build_options.empty()) options += " " + build_options;
  try {
    program_ = cl::Program{context, source()};
    program_.build(device.device, options.c_str());
  } catch (const cl::BuildError& error) {
    std::string log;
    for (const auto& [of, text] : error.getBuildLog()) log += text;
    std::string names;
    for (const KernelOf& each : kernels_) names += (names.empty() ? "" : ", ") + each.info().name;
    throw Error{Errc::bad_file, "opencl: " + device.info.name +
                                    " does not compile the megakernel of " + names + " (" +
                                    options + "):\n" + log};
  } catch (const cl::Error& error) {
    throw Error{Errc::device_lost, std::string{"opencl: building the megakernel: "} + error.what() +
                                       " gave error " + std::to_string(error.err())};
  }
  learn_layout(context, device.device, memory);
}

std::string Megakernel::source() const {
  std::ostringstream text;
  std::ostringstream locals;
  std::ostringstream cases;
  std::ostringstream sizes;
  text << "#define COHORT_ENGINE 1\n";
  if (std::ranges::any_of(kernels_, [](const KernelOf& each) {
        return each.info().barrier != ResizingBarrier::one_pass;
      })) {
    text << "#define COHORT_PAPER_BARRIERS 1\n";
  }
  text << protocol_source << collectives_source;
  std::vector<const cohort::detail::Module*> modules;
  for (std::size_t which = 0; which < kernels_.size(); ++which) {
    const KernelOf& kernel = kernels_[which];
    const auto found = std::find(modules.begin(), modules.end(), kernel.module.get());
    const std::string prefix = prefix_of(static_cast<std::size_t>(found - modules.begin()));
    if (found == modules.end()) {
      modules.push_back(kernel.module.get());
      text << "\n#undef COHORT_NAME\n#define COHORT_NAME(name) " << prefix << "##name\n"
           << kernel.module->source;
    }
    const std::string name = prefix + kernel.info().name;
    locals << "  " << name << "_local k" << which << ";\n";
    cases << "    case " << which << ": " << name
          << "_enter(group->job->arguments, group->state, &locals->k" << which
          << ", group); break;\n";
    sizes << "  sizes[" << which << "] = sizeof(" << name << "_state);\n";
  }
  text << "typedef union {\n  char none;\n"
       << locals.str() << "} cohort_locals;\n"
       << "static void cohort_enter(cohort_group* group, __local cohort_locals* locals) {\n"
       << "  switch (group->job->which) {\n"
       << cases.str() << "    default: break;\n  }\n}\n"
       << "static void cohort_state_sizes(__global uint* sizes) {\n"
       << sizes.str() << "}\n"
       << scheduler_source << pool_source;
  return text.str();
}

void Megakernel::learn_layout(const cl::Context& context, const cl::Device& device,
                              const std::shared_ptr<SharedMemory>& memory) {
  const std::size_t kernels = kernels_.size();
  const Block block{memory, sizeof(std::uint32_t) * (our_layout.size() + kernels)};
  const auto* const sizes = reinterpret_cast<const std::uint32_t*>(block.data());
  checked_call("asking for the layout of structures", [&] {
    cl::Kernel ask{program_, "cohort_layout"};
    ask.setArg(0, static_cast<void*>(block.data()));
    cl::CommandQueue queue{context, device};
    queue.enqueueNDRangeKernel(ask, cl::NullRange, cl::NDRange{1}, cl::NDRange{1});
    queue.finish();
  });
  if (!std::equal(our_layout.begin(), our_layout.end(), sizes)) {
    throw Error{Errc::unsupported,
                "opencl engine: the device lays structures out differently from this machine's "
                "C++ compiler"};
  }
  state_sizes_.assign(sizes + our_layout.size(), sizes + our_layout.size() + kernels);
}

std::optional<std::uint32_t> Megakernel::find(const KernelOf& kernel) const {
  const auto found = std::find(kernels_.begin(), kernels_.end(), kernel);
  if (found == kernels_.end()) return {};
  return static_cast<std::uint32_t>(found - kernels_.begin());
}

std::uint32_t Megakernel::state_room() const {
  return std::accumulate(state_sizes_.begin(), state_sizes_.end(), 1U,
                         [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
}

}  // namespace cohort::opencl
