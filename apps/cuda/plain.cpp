#include "apps/cuda/plain.cuh"

#include <memory>
#include <string>

namespace cohort::apps {
namespace {

using Clock = std::chrono::steady_clock;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const bool too_large =
      error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorLaunchOutOfResources;
  throw Error{too_large ? Errc::bad_options : Errc::device_lost,
              std::string{"plain CUDA: "} + what + ": " + cudaGetErrorString(error)};
}

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "a kernel"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Times the work in a stream, by the host's clock and by the device's.
class Timer {
 public:
  explicit Timer(const Stream& stream) : stream_(stream) {
    check(cudaEventCreate(&first_), "an event");
    check(cudaEventCreate(&last_), "an event");
    begin_ = Clock::now();
    check(cudaEventRecord(first_, stream_.get()), "an event");
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    cudaEventDestroy(first_);
    cudaEventDestroy(last_);
  }

  /// The report of a run of `blocks` blocks. Its times come from the device's clock.
  [[nodiscard]] Report end(std::uint32_t blocks) const {
    check(cudaEventRecord(last_, stream_.get()), "an event");
    stream_.wait();
    Report report;
    report.run_time = Clock::now() - begin_;
    report.status = Status::finished;
    report.start_groups = blocks;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, first_, last_), "an event");
    report.sizes = {{0, blocks}, {static_cast<std::uint64_t>(milliseconds * 1e6F), 0}};
    return report;
  }

 private:
  const Stream& stream_;
  cudaEvent_t first_ = nullptr;
  cudaEvent_t last_ = nullptr;
  Clock::time_point begin_;
};

/// Pinned host word that kernels write.
class HostWord {
 public:
  HostWord() {
    check(cudaHostAlloc(reinterpret_cast<void**>(&word_), sizeof *word_, cudaHostAllocMapped),
          "pinned memory");
  }
  HostWord(const HostWord&) = delete;
  HostWord& operator=(const HostWord&) = delete;
  ~HostWord() { cudaFreeHost(word_); }
  [[nodiscard]] std::uint32_t* address() const { return word_; }
  [[nodiscard]] bool again() const {
    return *static_cast<const volatile std::uint32_t*>(word_) != 0;
  }

 private:
  std::uint32_t* word_ = nullptr;
};

/// CUDA graph that repeats a step while its condition is set.
class Graph {
 public:
  Graph() { check(cudaGraphCreate(&graph_, 0), "a graph"); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (ready_ != nullptr) cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }

  cudaGraphConditionalHandle condition() {
    cudaGraphConditionalHandle handle = 0;
    check(cudaGraphConditionalHandleCreate(&handle, graph_, 1, cudaGraphCondAssignDefault),
          "a graph's condition");
    return handle;
  }
  void repeat(cudaGraphConditionalHandle handle, const void* function, dim3 blocks, dim3 threads,
              std::size_t memory, void** arguments, const Stream& stream) {
    cudaGraphNodeParams loop{};
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = handle;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &loop), "a conditional node");
    cudaGraphNodeParams step{};
    step.type = cudaGraphNodeTypeKernel;
    step.kernel.func = const_cast<void*>(function);
    step.kernel.gridDim = blocks;
    step.kernel.blockDim = threads;
    step.kernel.sharedMemBytes = static_cast<unsigned>(memory);
    step.kernel.kernelParams = arguments;
    check(cudaGraphAddNode(&node, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &step),
          "a node for the steps");
    check(cudaGraphInstantiate(&ready_, graph_, 0), "the graph");
    check(cudaGraphUpload(ready_, stream.get()), "the graph");
    stream.wait();
  }
  void launch(const Stream& stream) const {
    check(cudaGraphLaunch(ready_, stream.get()), "the graph");
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

/// A job that has already ended.
class EndedJob final : public cohort::detail::JobControl {
 public:
  explicit EndedJob(Report report) : report_(std::move(report)) {}
  Status wait_until(std::optional<Clock::time_point> /*deadline*/) override {
    return report_.status;
  }
  void cancel() override {}
  Status suspend() override { return report_.status; }
  void resume() override { refuse(); }
  void checkpoint(const std::filesystem::path& /*file*/) const override { refuse(); }
  void set_target(std::optional<std::uint32_t> /*groups*/) override { refuse(); }
  [[nodiscard]] Report report() const override { return report_; }
  void rethrow() const override {}

 private:
  [[noreturn]] static void refuse() {
    throw Error{Errc::bad_state, "a kernel in plain CUDA can only be run to its end"};
  }

  Report report_;
};

std::uint32_t threads_of(const LaunchOptions& options) {
  return options.local_size.value_or(default_local_size<PlainEngine>);
}

void allow(const void* function, std::size_t memory) {
  if (memory == 0) return;
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(memory)),
        "shared memory");
}

}  // namespace

int PlainEngine::registers(const void* function) {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "a kernel's attributes");
  return attributes.numRegs;
}

Job PlainEngine::ended_job(Report report) {
  return Job{std::make_shared<EndedJob>(std::move(report))};
}

void PlainEngine::refuse_direct_style() {
  throw Error{Errc::bad_options,
              "plain CUDA: a launch for each step is for kernels in step style; this one owns its "
              "loop, so use grid sync"};
}

Report PlainEngine::persist(const Call& call, std::array<void*, 2> arguments) {
  facts_.registers = registers(call.function);
  allow(call.function, call.memory);
  const Stream stream;
  const std::uint32_t blocks = call.options.max_groups.value_or(capacity());
  const Timer timer{stream};
  check(cudaLaunchCooperativeKernel(call.function, dim3{blocks}, dim3{threads_of(call.options)},
                                    arguments.data(), call.memory, stream.get()),
        "a cooperative launch");
  return timer.end(blocks);
}

Report PlainEngine::step(const Call& call, std::array<void*, 4> arguments) {
  facts_.registers = registers(call.function);
  allow(call.function, call.memory);
  const Stream stream;
  const HostWord host_word;
  const std::uint32_t blocks = call.options.max_groups.value_or(capacity());
  const dim3 threads{threads_of(call.options)};
  const bool in_graph = way_ == PlainWay::graph;
  std::uint32_t* where = in_graph ? nullptr : host_word.address();
  cudaGraphConditionalHandle handle = 0;
  arguments[2] = &where;
  arguments[3] = &handle;
  if (in_graph) {
    Graph graph;
    handle = graph.condition();
    graph.repeat(handle, call.function, dim3{blocks}, threads, call.memory, arguments.data(),
                 stream);
    const Timer timer{stream};
    graph.launch(stream);
    return timer.end(blocks);
  }
  const Timer timer{stream};
  do {
    check(cudaLaunchKernel(call.function, dim3{blocks}, threads, arguments.data(), call.memory,
                           stream.get()),
          "a step");
    stream.wait();
  } while (host_word.again());
  return timer.end(blocks);
}

}  // namespace cohort::apps
