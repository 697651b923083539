// The CUDA engine: a group is a thread block, a unit is an SM. A group that is taken away exits, so
// its SM is free for whatever waits in a stream of higher priority; blocks of refill grids join
// later. Invariant: nothing here waits for a running kernel to end, except what says so.
#pragma once

#include <cuda_runtime_api.h>

#include <filesystem>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "cohort/buffer.hpp"
#include "cohort/checkpoint.hpp"
#include "cohort/job.hpp"
#include "cohort/kernel.hpp"
#include "cohort/platform/cuda_groups.cuh"
#include "cohort/task.hpp"

namespace cohort::cuda {

/// How to make an engine.
struct EngineOptions {
  /// Which device, as CUDA counts them.
  int device = 0;
  /// SMs that jobs and tasks may use. Default: all of the device.
  std::optional<std::uint32_t> capacity = {};
  /// Blocks reserve a good half of an SM's shared memory, so that an SM belongs to one job or task
  /// at a time. Without it they may share SMs, and have more of them for the L1 cache.
  bool exclusive = true;
  /// Tries once in a process, for each device, that a freed SM goes to who waits for it.
  bool self_test = true;
};

/// Whether there is a device that the engine can use, and why not otherwise.
[[nodiscard]] bool available(std::string* why_not = nullptr);

/// How much a lease is to hold.
struct LeaseOptions {
  std::uint32_t sms = 1;
};

namespace detail {

/// One launched kernel, type-erased: what the host knows of it, and a way to start blocks of it.
class Body {
 public:
  Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  virtual ~Body() = default;

  /// The device function, for the runtime's questions about it.
  [[nodiscard]] virtual const void* function() const = 0;
  [[nodiscard]] virtual cudaError_t launch(const Desk& desk, std::uint32_t blocks,
                                           std::uint32_t threads, std::size_t memory,
                                           cudaStream_t stream) const = 0;
  /// The States of a new run, with the kept one; `boxes` is where the box states will be.
  [[nodiscard]] virtual std::vector<std::byte> states(void* boxes) const = 0;
  /// Takes the kept State over from the States of a run.
  virtual void keep(std::span<const std::byte> states) = 0;
  /// Writes the kept State and the kernel's buffers to a file; false if the kernel names none.
  [[nodiscard]] virtual bool save(const std::filesystem::path& file,
                                  cohort::detail::Memory& memory) const = 0;
  virtual void load(const std::filesystem::path& file, cohort::detail::Memory& memory) = 0;

  std::uint32_t max_groups = 0;
  std::size_t box_state_size = 0;
  std::size_t local_memory = 0;  ///< of Kernel::Local, where the launch has to bring it
  bool suspendable = true;
  bool may_all_leave = false;
  bool any_order = false;
};

/// Host copies of the buffers that a kernel names.
class BufferCopies {
 public:
  explicit BufferCopies(std::vector<NamedMemory> buffers);
  void read(cohort::detail::Memory& memory);
  void write(cohort::detail::Memory& memory) const;
  [[nodiscard]] const std::vector<NamedMemory>& all() const { return copies_; }

 private:
  std::vector<NamedMemory> buffers_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<NamedMemory> copies_;
};

#ifdef __CUDACC__

template <class Kernel, protocol::Role role>
class TypedBody final : public Body {
  using State = StateOf<Kernel>;
  using States = protocol::States<State>;
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "cohort: a kernel is copied byte by byte to the GPU, so it must be trivially "
                "copyable: hold pointers into buffers");

 public:
  TypedBody(const Kernel& kernel, std::uint32_t groups) : kernel_(kernel) {
    max_groups = groups;
    box_state_size = sizeof(State);
    local_memory = sizeof(LocalOf<Kernel>) > static_local ? sizeof(LocalOf<Kernel>) : 0;
    suspendable = traits.suspendable && role != protocol::Role::fixed;
    may_all_leave = traits.survivors == Survivors::may_all_leave;
    any_order = traits.kill_order == KillOrder::any;
  }

  /// As the driver knows it: a program that is loaded at run time has a CUDA runtime of its own,
  /// and the engine's would not know the symbol.
  static const void* device_function() {
    const auto* const symbol = reinterpret_cast<const void*>(&run_groups<Kernel, role>);
    cudaKernel_t kernel = nullptr;
    return cudaGetKernel(&kernel, symbol) == cudaSuccess ? kernel : symbol;
  }
  const void* function() const override { return device_function(); }

  cudaError_t launch(const Desk& desk, std::uint32_t blocks, std::uint32_t threads,
                     std::size_t memory, cudaStream_t stream) const override {
    Kernel kernel = kernel_;
    Desk at = desk;
    void* arguments[] = {&kernel, &at};
    return cudaLaunchKernel(device_function(), dim3{blocks}, dim3{threads}, arguments, memory,
                            stream);
  }

  std::vector<std::byte> states(void* boxes) const override {
    States states{};
    states.kept = kept_;
    states.boxes = static_cast<State*>(boxes);
    std::vector<std::byte> bytes(sizeof states);
    std::memcpy(bytes.data(), &states, sizeof states);
    return bytes;
  }
  void keep(std::span<const std::byte> bytes) override {
    States states{};
    std::memcpy(static_cast<void*>(&states), bytes.data(), sizeof states);
    kept_ = states.kept;
  }

  bool save(const std::filesystem::path& file, cohort::detail::Memory& memory) const override {
    if constexpr (NamesBuffers<Kernel>) {
      BufferCopies copies{buffers().all()};
      copies.read(memory);
      cohort::detail::write_checkpoint(file, cohort::detail::checkpoint_name<Kernel>(),
                                       std::as_bytes(std::span{&kept_, 1}), copies.all());
    }
    return NamesBuffers<Kernel>;
  }
  void load(const std::filesystem::path& file, cohort::detail::Memory& memory) override {
    if constexpr (NamesBuffers<Kernel>) {
      const BufferCopies copies{buffers().all()};
      cohort::detail::read_checkpoint(file, cohort::detail::checkpoint_name<Kernel>(),
                                      std::as_writable_bytes(std::span{&kept_, 1}), copies.all());
      copies.write(memory);
    }
  }

 private:
  static constexpr Traits traits = Contract<Kernel>::traits;

  BufferList buffers() const {
    BufferList list;
    kernel_.buffers(list);
    return list;
  }

  Kernel kernel_;
  State kept_{};
};

#endif

}  // namespace detail

class Lease;

/// Runs cooperative kernels on one GPU. Thread-safe. Its destructor cancels what runs and waits for
/// the groups to leave, which each does at its next primitive. Kernels are templates: what launches
/// them is compiled by nvcc.
class Engine {
 public:
  /// Throws Error{unsupported} where there is no usable device.
  explicit Engine(EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

#ifdef __CUDACC__
  /// Starts a kernel. Throws Error{bad_options} for options that cannot run. max_groups defaults to
  /// one group for each SM; with more, groups share SMs and leave an SM together. local_size
  /// defaults to the largest block that the kernel allows and that fits.
  template <class Kernel>
  Job launch(const Kernel& kernel, const LaunchOptions& options = {}) {
    const std::uint32_t groups = checked(options, Contract<Kernel>::traits);
    if (!options.resizable) {
      return Job{
          start(std::make_unique<detail::TypedBody<Kernel, protocol::Role::fixed>>(kernel, groups),
                options)};
    }
    return Job{
        start(std::make_unique<detail::TypedBody<Kernel, protocol::Role::member>>(kernel, groups),
              options)};
  }

  /// Continues a job that was suspended and written to a file by Job::checkpoint, here or on
  /// another engine: reads the buffers that `kernel` names, and starts with the State. Throws
  /// Error{bad_file} for files that are damaged or of another kernel; nothing is touched then.
  template <class Kernel>
  Job restore(const Kernel& kernel, const std::filesystem::path& file,
              const LaunchOptions& options = {}) {
    static_assert(NamesBuffers<Kernel>,
                  "cohort: to be restored a kernel names its memory: `template <class Visit> void "
                  "buffers(Visit& visit) const { visit(\"name\", pointer, count); ... }`");
    const std::uint32_t groups = checked(options, Contract<Kernel>::traits);
    if (!options.resizable) refuse_static_restore();
    auto body = std::make_unique<detail::TypedBody<Kernel, protocol::Role::member>>(kernel, groups);
    body->load(file, *memory_);
    return Job{start(std::move(body), options, {}, true)};
  }

  /// Runs `function` on `groups` SMs at once, in a stream of high priority: taken from the jobs,
  /// given back afterwards. It is called by every thread of each group, as `function(group)` or as
  /// `function()`; a function object whose call operator is COHORT_FN. Throws Error{bad_options}
  /// for options that cannot run.
  template <class Function>
  Task submit(const Function& function, const TaskOptions& options = {}) {
    using Kernel = detail::TaskKernel<Function>;
    const std::uint32_t groups = checked(options);
    return Task{start(std::make_unique<detail::TypedBody<Kernel, protocol::Role::fixed>>(
                          Kernel{function}, groups),
                      {.max_groups = groups,
                       .local_size = options.local_size,
                       .resizable = false,
                       .stop = options.stop,
                       .tracer = options.tracer},
                      options.priority)};
  }

  /// Loads a kernel's code, so that no launch has to do it while a job runs: it would wait for the
  /// job's end. Only needed where CUDA loads lazily in spite of us, see docs/cuda.md.
  template <class Kernel>
  void prepare() {
    load(detail::TypedBody<Kernel, protocol::Role::member>::device_function());
    load(detail::TypedBody<Kernel, protocol::Role::fixed>::device_function());
  }
#endif

  /// Holds SMs for work in `stream`, in the order of that stream: no host synchronisation, and the
  /// work may be anybody's. Can be captured in a CUDA graph. Throws Error{bad_options} when the
  /// stream does not outrank the jobs, or when nothing would be left for them.
  [[nodiscard]] Lease lease(cudaStream_t stream, LeaseOptions options = {});

  /// `count` elements, each a copy of `value`. Throws Error{out_of_memory}.
  template <class T>
  [[nodiscard]] Buffer<T> fill(std::size_t count, const T& value) {
    Buffer<T> buffer{memory_, count};
    buffer.fill(value);
    return buffer;
  }
  /// `count` elements that the kernel will set before it reads them.
  template <class T>
  [[nodiscard]] Buffer<T> allocate(std::size_t count) {
    return Buffer<T>{memory_, count};
  }
  /// A copy of `values`.
  template <class T>
  [[nodiscard]] Buffer<T> upload(const std::vector<T>& values) {
    Buffer<T> buffer{memory_, values.size()};
    buffer.write(values);
    return buffer;
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const Buffer<T>& buffer) const {
    return buffer.read();
  }
  /// Where its buffers are.
  [[nodiscard]] const cohort::detail::Memory& memory() const { return *memory_; }

  /// SMs that can be in use at a time.
  [[nodiscard]] std::uint32_t capacity() const;
  /// Changes that while jobs run, up to the SMs of the device. Where there are more jobs than SMs,
  /// jobs are suspended until there is room, the lowest weight first; static launches and running
  /// tasks keep their SMs until they end.
  void set_capacity(std::uint32_t units);
  [[nodiscard]] int device() const;

 private:
  class Core;
  friend class Lease;

  [[nodiscard]] std::uint32_t checked(const LaunchOptions& options, const Traits& traits) const;
  [[nodiscard]] std::uint32_t checked(const TaskOptions& options) const;
  std::shared_ptr<cohort::detail::JobControl> start(std::unique_ptr<detail::Body> body,
                                                    const LaunchOptions& options,
                                                    std::optional<int> priority = {},
                                                    bool restored = false);
  [[noreturn]] static void refuse_static_restore();
  void load(const void* function) const;

  std::shared_ptr<Core> core_;
  std::shared_ptr<cohort::detail::Memory> memory_;
};

/// SMs held for a stream, from the point in the stream where it was made to the one where it is
/// given back. Give it back before the stream is destroyed.
class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  ~Lease();

  /// In the order of the stream, as the destructor does.
  void give_back() noexcept;

 private:
  friend class Engine;
  Lease(std::shared_ptr<Engine::Core> core, std::uint32_t slot, cudaStream_t stream) noexcept;

  std::shared_ptr<Engine::Core> core_;
  std::uint32_t slot_ = 0;
  cudaStream_t stream_ = nullptr;
};

}  // namespace cohort::cuda
