// Kernels compiled from source at run time. The source is OpenCL C with the cooperative extension.
// cohortc and the system's compiler compile it; the result is cached and loaded into this process.
// Invariant: a loaded program stays loaded, so a job never outlives its code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cohort/cpu.hpp"
#include "cohort/dialect/range.hpp"

namespace cohort {

namespace cuda {
class Engine;
}
namespace opencl {
class Engine;
}

/// How to compile a program. Every member has a default.
struct ProgramOptions {
  std::string engine = "cpu";  ///< the engine on which the program will run: cpu, cuda or opencl
  /// As for cohortc --transmit: annotated, live, all, per-thread.
  std::string transmit = "annotated";
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  std::uint32_t max_local_size = 64;      ///< with transmit = per-thread: maximum threads per group
  std::vector<std::string> defines = {};  ///< each is NAME or NAME=VALUE
  std::vector<std::filesystem::path> include_paths = {};
  /// More options, in the syntax of clBuildProgram: -cl-std=CL1.2, -cl-fast-relaxed-math, ...
  std::vector<std::string> build_options = {};
  /// For the engine cuda: the device code is optimised unless this is -O0.
  std::string optimise = "-O2";
  /// For the engine cuda: the GPU architecture, as for nvcc -arch. Default: $COHORT_CUDA_ARCH, or
  /// the architecture of this machine's GPU.
  std::string architecture = {};
  /// The folder for compiled programs. Default: $COHORT_CACHE, or cohort/programs/ in the user's
  /// cache directory. With COHORT_CACHE=off, programs are removed when this process exits. The
  /// files are loaded as code, so no other user may be able to write to the folder.
  std::optional<std::filesystem::path> cache = {};
};

/// A parameter of a kernel in a program.
struct Parameter {
  std::string name;
  std::string type;  ///< type as written in the source
  std::string kind;  ///< global, constant, local (pointers) or value
  /// Element type of the buffer, or type of the value: int32, uint64, float32, ...; empty for
  /// structs.
  std::string element;
  std::size_t element_size = 0;
  std::size_t size = 0;    ///< size of the argument itself, in bytes
  std::size_t offset = 0;  ///< offset in the struct of all arguments
};

/// A kernel in a program.
struct KernelInfo {
  std::string name;
  std::vector<Parameter> parameters;
  bool suspendable = true;
  KillOrder kill_order = KillOrder::highest_first;
  Survivors survivors = Survivors::keep_one;
  ResizingBarrier barrier = ResizingBarrier::one_pass;  ///< as in ProgramOptions
  /// The only local size with which the kernel runs.
  std::optional<std::uint32_t> required_local_size = {};
  /// The same size, in three dimensions.
  std::optional<std::array<std::uint32_t, 3>> required_shape = {};
  std::uint32_t points = 0;  ///< number of points where groups join or leave
  /// Set if the kernel may run over a range of work-items (set_range): it has no resizing points
  /// and no global barriers. The value is the range's offset in the struct of all arguments.
  std::optional<std::size_t> range_offset = {};
  /// Number of dimensions that the kernel uses, as in get_global_id(1).
  std::uint32_t dimensions = 1;
};

namespace detail {

/// A loaded program.
class Module {
 public:
  virtual ~Module() = default;
  [[nodiscard]] virtual void* symbol(const char* name) const = 0;

  std::vector<KernelInfo> kernels;
  std::string description;
  std::string engine;
  std::string title;   // the file's name without folder and extension
  std::string source;  // OpenCL C, for an engine that compiles it itself
  std::optional<std::uint32_t> max_local_size = {};

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
};

template <class Engine>
struct EngineSymbol;
template <>
struct EngineSymbol<cpu::Engine> {
  static constexpr const char* name = "cohort_launch_cpu";
};
template <>
struct EngineSymbol<cuda::Engine> {
  static constexpr const char* name = "cohort_launch_cuda";
};

}  // namespace detail

/// A kernel of a program, with its arguments. Copies have their own arguments.
class ProgramKernel {
 public:
  ProgramKernel(std::shared_ptr<const detail::Module> module, std::size_t index);

  /// Sets an argument: a pointer for a buffer, otherwise a value of the parameter's size. Throws
  /// Error{bad_options} if no parameter has that name or the size does not fit.
  template <class T>
  ProgramKernel& set(std::string_view name, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "cohort: an argument is copied byte by byte");
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a pointer is an argument like any other
    set_bytes(name, &value, sizeof(T), std::is_pointer_v<T>);
    return *this;
  }

  /// Like set(), for a value whose type is known only at run time.
  ProgramKernel& set_value(std::string_view name, const void* value, std::size_t size) {
    set_bytes(name, value, size, false);
    return *this;
  }

  /// Gives a parameter in local memory its size in bytes, as clSetKernelArg does with a null
  /// pointer. Throws Error{bad_options} if there is no such parameter.
  ProgramKernel& set_local(std::string_view name, std::size_t bytes);

  /// Makes later launches run over a range of work-items. The range's work-groups are numbered;
  /// groups take one after another and may join and leave in between. Without a range, the launch's
  /// groups are the work-groups. Throws Error{bad_options} if `global` is not a multiple of
  /// `local`, or if the kernel has resizing points or global barriers.
  ProgramKernel& set_range(const NDRange& range);

  /// Starts the kernel. Throws Error{bad_options} unless all parameters have been set.
  template <class Engine>
  Job launch(Engine& engine, const LaunchOptions& options = {}) const {
    using Launch =
        void (*)(unsigned, Engine&, const void* const*, const LaunchOptions&, std::optional<Job>&);
    LaunchOptions with = options;
    std::vector<const void*> arguments = checked(with);
    cohort::detail::Range over = range();
    if (range_) {
      using Kept = std::pair<Buffer<std::uint64_t>, std::shared_ptr<const void>>;
      const auto next =
          std::make_shared<Kept>(engine.template fill<std::uint64_t>(1, 0), with.keeps);
      over.next = next->first.data();
      with.keeps = next;
    }
    arguments.push_back(&over);  // only kernels that may take a range read it
    const auto start =
        reinterpret_cast<Launch>(module_->symbol(detail::EngineSymbol<Engine>::name));
    if (start == nullptr) refuse_engine();
    std::optional<Job> job;
    start(static_cast<unsigned>(index_), engine, arguments.data(), with, job);
    return *job;
  }
  /// Starts the kernel on an OpenCL device. Its buffers must belong to that engine.
  Job launch(opencl::Engine& engine, const LaunchOptions& options = {}) const;
  /// Runs the kernel as a task on `options.groups` units at once. The units are taken from the jobs
  /// and returned afterwards.
  Task submit(opencl::Engine& engine, const TaskOptions& options = {}) const;

  [[nodiscard]] const KernelInfo& info() const { return module_->kernels[index_]; }

 private:
  friend class opencl::Engine;

  void set_bytes(std::string_view name, const void* value, std::size_t size, bool pointer);
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
  [[nodiscard]] cohort::detail::Range range() const;
  /// The arguments, after checks. Sets the local size in `options` if the kernel requires one.
  [[nodiscard]] std::vector<const void*> checked(LaunchOptions& options) const;
  [[noreturn]] void refuse_engine() const;

  std::shared_ptr<const detail::Module> module_;
  std::size_t index_;
  std::vector<std::vector<std::byte>> arguments_;
  std::optional<NDRange> range_;
};

/// A compiled source file.
class Program {
 public:
  /// Compiles and loads a source file. Thread-safe. Throws Error{bad_options} if there is no such
  /// file or another user can write to the cache, Error{bad_file} with the compiler's messages if
  /// it does not compile, and Error{unsupported} if there is no compiler.
  [[nodiscard]] static Program from_file(const std::filesystem::path& file,
                                         const ProgramOptions& options = {});

  /// Like from_file(), but from text. Messages call it `name`.
  [[nodiscard]] static Program from_source(std::string_view source,
                                           const std::string& name = "program",
                                           const ProgramOptions& options = {});

  [[nodiscard]] const std::vector<KernelInfo>& kernels() const { return module_->kernels; }
  /// The kernel with that name. With an empty name: the only kernel. Throws Error{bad_options} if
  /// there is none.
  [[nodiscard]] ProgramKernel kernel(std::string_view name = {}) const;
  /// cohortc's description of the program, as JSON.
  [[nodiscard]] const std::string& description() const { return module_->description; }
  /// The compiler's warnings; empty if there are none.
  [[nodiscard]] const std::string& warnings() const { return warnings_; }

 private:
  friend class opencl::Engine;
  Program(std::shared_ptr<const detail::Module> module, std::string warnings)
      : module_(std::move(module)), warnings_(std::move(warnings)) {}

  std::shared_ptr<const detail::Module> module_;
  std::string warnings_;
};

}  // namespace cohort
