#include "opencl/occupancy.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "opencl/megakernel.hpp"

namespace cohort::opencl {
namespace {

// Word 0 counts the groups that have started. Word 1 is 1 when the gate is closed: every group may
// exit, and groups that start later are not counted.
constexpr const char* census = R"(
__kernel void cohort_census(__global atomic_uint* words) {
  if (atomic_load_explicit(&words[1], memory_order_acquire, memory_scope_all_svm_devices) != 0) return;
  atomic_fetch_add_explicit(&words[0], 1u, memory_order_acq_rel, memory_scope_all_svm_devices);
  while (atomic_load_explicit(&words[1], memory_order_acquire, memory_scope_all_svm_devices) == 0) {
  }
}
)";

/// Time limit for enqueuing a kernel, since some drivers compile it then.
constexpr std::chrono::seconds enqueuing{10};

}  // namespace

std::uint32_t count_groups(const Word& count, std::uint32_t groups,
                           std::chrono::milliseconds patience, std::chrono::milliseconds quiet) {
  using Clock = std::chrono::steady_clock;
  std::uint32_t here = 0;
  for (auto since = Clock::now(); here < groups;) {
    std::this_thread::sleep_for(std::chrono::microseconds{100});
    // Pairs with the release in the kernel.
    const std::uint32_t now = count.load(std::memory_order_acquire);
    const auto waited = Clock::now() - since;
    if (now != here) {
      here = now;
      since = Clock::now();
    } else if (waited > (here == 0 ? patience : quiet)) {
      break;
    }
  }
  return here;
}

std::uint32_t occupancy(const cl::Context& context, const Chosen& device, std::uint32_t groups,
                        const std::shared_ptr<SharedMemory>& memory,
                        std::chrono::milliseconds patience) {
  // On the heap, so that it can be leaked if its kernel has not ended.
  struct Census {
    Block block;
    cl::Program program;
    cl::Kernel kernel;
    cl::CommandQueue queue;
    cl::Event over;
  };
  auto count = std::make_unique<Census>();
  count->block = Block{memory, 128};
  auto* const words = new (count->block.data()) std::atomic<std::uint32_t>[2] {};
  checked_call("counting the work-groups that run at a time", [&] {
    count->program = cl::Program{context, census};
    count->program.build(device.device, standard_options(device).c_str());
    count->kernel = cl::Kernel{count->program, "cohort_census"};
    count->kernel.setArg(0, static_cast<void*>(count->block.data()));
    count->queue = cl::CommandQueue{context, device.device};
  });
  // Some devices run a kernel in the thread that enqueues it. Then only another thread can end the
  // kernel.
  std::atomic<bool> late{false};
  std::jthread gatekeeper{[&](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any told;
    std::unique_lock lock{mutex};
    late = !told.wait_for(lock, stop, enqueuing, [&] { return stop.stop_requested(); });
    // Pairs with the acquire in the kernel; groups may exit.
    words[1].store(1, std::memory_order_release);
  }};
  checked_call("counting the work-groups that run at a time", [&] {
    count->queue.enqueueNDRangeKernel(count->kernel, cl::NullRange, cl::NDRange{groups},
                                      cl::NDRange{1}, nullptr, &count->over);
    count->queue.flush();
  });
  if (late) {
    throw Error{Errc::unsupported,
                "opencl engine: " + device.info.name +
                    " runs kernels only while the host waits for them; choose another device"};
  }
  const std::uint32_t here = count_groups(words[0], groups, patience, quiet_census);
  gatekeeper.request_stop();
  gatekeeper.join();
  if (here == 0 || !completed(count->over, patience)) {
    memory->abandon();
    static_cast<void>(count.release());
    throw Error{Errc::device_lost, "opencl engine: the work-groups of " + device.info.name +
                                       " have not started and ended within " +
                                       std::to_string(patience.count()) +
                                       " ms; is it busy with something else?"};
  }
  return here;
}

}  // namespace cohort::opencl
