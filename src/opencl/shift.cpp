#include "opencl/shift.hpp"

#include <algorithm>

#include "opencl/occupancy.hpp"

namespace cohort::opencl {
namespace {

constexpr std::size_t line = 128;
constexpr std::chrono::minutes build_limit{10};

std::size_t lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

/// The least number of dimensions that the shape needs, since kernels can query it.
int dimensions(const Shape& shape) { return shape[2] > 1 ? 3 : shape[1] > 1 ? 2 : 1; }

cl::NDRange range(const Shape& shape, int dimensions) {
  switch (dimensions) {
    case 1: return cl::NDRange{shape[0]};
    case 2: return cl::NDRange{shape[0], shape[1]};
    default: return cl::NDRange{shape[0], shape[1], shape[2]};
  }
}

}  // namespace

Shift::Shift(const cl::Context& context, const Chosen& device, const Megakernel& megakernel,
             const std::shared_ptr<SharedMemory>& memory, const Size& size)
    : shape_(size.shape), more_local_(size.more_local) {
  const Shape& shape = size.shape;
  const std::uint32_t contexts = size.contexts;
  std::uint32_t groups = size.workers + (contexts != 0 ? 1 : 0);  // including the scheduler group
  const std::size_t state_room = lines(megakernel.state_room());
  memory_ = Block{memory, lines(sizeof(Pool)) + contexts * sizeof(Context) +
                              groups * (sizeof(Desk) + state_room)};
  auto* const first_context = memory_.data() + lines(sizeof(Pool));
  auto* const desks = first_context + contexts * sizeof(Context);
  auto* const states = desks + groups * sizeof(Desk);
  new (memory_.data()) Pool{};
  pool().desks = reinterpret_cast<Desk*>(desks);
  pool().contexts = reinterpret_cast<Context*>(first_context);
  pool().context_count = contexts;
  for (std::uint32_t i = 0; i < contexts; ++i) new (first_context + i * sizeof(Context)) Context{};
  for (std::uint32_t i = 0; i < groups; ++i) {
    auto* const desk = new (desks + i * sizeof(Desk)) Desk{};
    desk->state = states + i * state_room;
  }
  checked_call("starting the megakernel", [&] {
    kernel_ = cl::Kernel{megakernel.program(), "cohort_megakernel"};
    kernel_.setArg(0, static_cast<void*>(memory_.data()));
    const std::size_t threads = std::size_t{shape[0]} * shape[1] * shape[2];
    const auto most = kernel_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device.device);
    if (threads > most) {
      throw Error{Errc::bad_options, "launch: groups of " + std::to_string(threads) +
                                         " threads; the device runs this megakernel with at most " +
                                         std::to_string(most)};
    }
    kernel_.setArg(1, cl::Local(sizeof(cl_ulong) * (threads + 1)));
    kernel_.setArg(2, cl::Local(std::max(more_local_, 1U)));
    const auto local = kernel_.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device.device);
    const auto most_local = device.device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
    if (local > most_local) {
      throw Error{Errc::bad_options, "launch: " + std::to_string(more_local_) +
                                         " bytes of local memory for parameters; with what the "
                                         "megakernel needs that is " +
                                         std::to_string(local) + ", and the device has " +
                                         std::to_string(most_local)};
    }
    // The kernel reaches all other memory by pointers in memory, so the driver must be told of it.
    const std::vector<void*> reached = memory->all();
    clSetKernelExecInfo(kernel_(), CL_KERNEL_EXEC_INFO_SVM_PTRS, reached.size() * sizeof(void*),
                        static_cast<const void*>(reached.data()));
    queue_ = cl::CommandQueue{context, device.device};
    if (!size.counted) {
      // All threads of a CPU device start sooner or later.
      groups = take_census(groups, device.info.is_cpu ? size.patience : quiet_census);
    }
    pool().desk_count = groups;
    enqueue(groups);
  });
}

void Shift::enqueue(std::uint32_t groups) {
  const int all = dimensions(shape_);
  queue_.enqueueNDRangeKernel(kernel_, cl::NullRange,
                              range({groups * shape_[0], shape_[1], shape_[2]}, all),
                              range(shape_, all), nullptr, &ended_);
  queue_.flush();
}

/// Counts the groups that run at the same time. Some devices compile for a shape when they first
/// see it, so the first group may take long.
std::uint32_t Shift::take_census(std::uint32_t groups, std::chrono::milliseconds quiet) {
  pool().census = 1;
  enqueue(groups);
  const std::uint32_t counted = count_groups(pool().gate, groups, build_limit, quiet);
  // Pairs with the groups' polls: they exit, as do those that start later.
  pool().gate.fetch_or(Pool::gate_closed, std::memory_order_release);
  if (counted <= (schedules_itself() ? 1 : 0) || !over(build_limit)) {
    throw Error{Errc::device_lost,
                "opencl: the device has not compiled and run the megakernel within " +
                    std::to_string(build_limit.count()) + " minutes"};
  }
  pool().gate.store(0, std::memory_order_relaxed);
  pool().census = 0;
  return counted;
}

std::uint32_t Shift::here() const {
  // Acquire pairs with the check-in: from then on, the worker polls its desk.
  const std::uint32_t all = pool().gate.load(std::memory_order_acquire) & ~Pool::gate_closed;
  return schedules_itself() && all > 0 ? all - 1 : all;
}

void Shift::dismiss() {
  const std::uint32_t here =
      pool().gate.fetch_or(Pool::gate_closed, std::memory_order_acq_rel) & ~Pool::gate_closed;
  // With a scheduler group, that group sends the others home: otherwise its orders could conflict
  // with the host's.
  for (std::uint32_t i = 0; i < (schedules_itself() ? std::min(here, 1U) : here); ++i)
    desk(i).order.store(Desk::go_home, std::memory_order_release);  // pairs with the worker's poll
}

bool Shift::over(std::chrono::milliseconds patience) const { return completed(ended_, patience); }

}  // namespace cohort::opencl
