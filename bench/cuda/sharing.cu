#include <cooperative_groups.h>
#include <cuda.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "bench/cuda/sharing.hpp"
#include "cohort/cuda.hpp"

namespace cohort::bench::device {
inline namespace sharing {  // named, because unused templates of an unnamed namespace cause
                            // warnings

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto patience = std::chrono::seconds{1};  // limit for a task
constexpr auto longest = std::chrono::seconds{40};  // limit for a job

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Error{Errc::device_lost, std::string{"bench: "} + what + ": " + cudaGetErrorString(error)};
}

std::uint64_t now() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
          .count());
}

std::uint32_t attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "an attribute of the device");
  return static_cast<std::uint32_t>(value);
}

/// More than half of an SM's shared memory, for the blocks of the job and of the tasks. An SM then
/// holds only one of them, so a job with a block on each SM leaves no room for tasks.
std::size_t exclusive_memory() {
  return attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / 2 + 2048;
}

/// Device memory that is filled before anything runs.
template <class T>
class Array {
 public:
  Array(std::size_t count, const std::function<T(std::size_t)>& value) : count_(count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
    check(cudaMalloc(&memory_, count * sizeof(T)), "memory");
    check(cudaMemcpy(memory_, values.data(), count * sizeof(T), cudaMemcpyHostToDevice), "a copy");
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(memory_); }

  [[nodiscard]] T* data() const { return memory_; }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    check(cudaMemcpy(values.data(), memory_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "a copy");
    return values;
  }

 private:
  std::size_t count_;
  T* memory_ = nullptr;
};

// ---- the job: sweeps over an array until it is told to stop

constexpr std::uint32_t job_threads = 512;
constexpr std::uint32_t items_per_thread = 32;
constexpr std::uint32_t seed = 1;

COHORT_FN inline std::uint32_t turned(std::uint32_t item) {
  for (int i = 0; i < 16; ++i) {
    item ^= item << 13U;
    item ^= item >> 17U;
    item ^= item << 5U;
  }
  return item;
}

struct Sweep {
  std::uint32_t* items;
  std::uint32_t count;
  std::uint32_t* stop;
  std::uint32_t* steps;          // number of steps taken so far
  volatile std::uint32_t* told;  // the same number, for the host; updated every 16 steps
  std::uint64_t until;           // latest end, by the device's timer
  struct State {
    std::uint32_t step = 0;
  };

  /// Whether another step follows. Called by the first thread of every block after each step.
  COHORT_FN bool goes_on(std::uint32_t step) const {
    *steps = step;
    if (step % 16 != 0) return true;
#ifdef __CUDA_ARCH__
    *told = step;
    return *static_cast<volatile std::uint32_t*>(stop) == 0 && cuda::Platform::timer() < until;
#else
    return false;
#endif
  }

  template <class Group>
  COHORT_FN Next step(Group& group, State& state) const {
    for (const std::size_t i : group.stride(count)) items[i] = turned(items[i]);
    ++state.step;
    return group.global_id() == 0 && goes_on(state.step) ? Next::again : Next::halt;
  }
};

/// The job as a persistent kernel of plain CUDA. Thread 0 decides in a step whether to end, and the
/// threads read the decision one step later, so that no step waits for it.
__global__ void __launch_bounds__(job_threads) plain_sweep(Sweep sweep, std::uint32_t* ends) {
  const auto grid = cooperative_groups::this_grid();
  const auto rank = static_cast<std::uint32_t>(grid.thread_rank());
  const auto size = static_cast<std::uint32_t>(grid.size());
  for (std::uint32_t step = 1;; ++step) {
    const std::uint32_t last = static_cast<volatile std::uint32_t*>(ends)[(step + 1) % 2];
    for (std::uint32_t i = rank; i < sweep.count; i += size) {
      sweep.items[i] = turned(sweep.items[i]);
    }
    if (rank == 0) ends[step % 2] = sweep.goes_on(step) ? 0 : 1;
    if (last != 0) return;
    grid.sync();
  }
}

__global__ void read_timer(std::uint64_t* at) { *at = cuda::Platform::timer(); }

// ---- the task: products of matrices, added up

constexpr std::uint32_t task_threads = 256;
constexpr std::uint32_t tile_side = 64;
constexpr std::uint32_t depth = 512;
constexpr std::uint32_t slice = 16;

/// c = times · a·b, with one tile for each SM of the device.
struct Product {
  const float* a;  // the left matrix, transposed: depth rows of tile_side elements
  const float* b;  // the right matrix: depth rows of tiles · tile_side elements
  float* c;        // the result: tile_side rows of tiles · tile_side elements
  std::uint32_t tiles;
  std::uint32_t times;

  /// Computes one tile. Called by all threads of a block; the first `task_threads` of them work.
  /// Not inlined, so that all ways of sharing run the same code.
  __device__ __noinline__ void tile(std::uint32_t which) const {
    __shared__ float left[slice][tile_side];
    __shared__ float right[slice][tile_side];
    const std::uint32_t columns = tiles * tile_side;
    const bool works = threadIdx.x < task_threads;
    const std::uint32_t row = threadIdx.x % task_threads / 16 * 4;
    const std::uint32_t column = threadIdx.x % 16 * 4;
    float sum[4][4] = {};
    for (std::uint32_t turn = 0; turn < times; ++turn) {
      for (std::uint32_t first = 0; first < depth; first += slice) {
        for (std::uint32_t i = threadIdx.x; i < slice * tile_side && works; i += task_threads) {
          const std::uint32_t at = first + i / tile_side;
          left[i / tile_side][i % tile_side] = a[at * tile_side + i % tile_side];
          right[i / tile_side][i % tile_side] =
              b[std::size_t{at} * columns + which * tile_side + i % tile_side];
        }
        __syncthreads();
#pragma unroll
        for (std::uint32_t k = 0; k < slice && works; ++k) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) sum[i][j] += left[k][row + i] * right[k][column + j];
          }
        }
        __syncthreads();
      }
    }
    for (int i = 0; i < 4 && works; ++i) {
      for (int j = 0; j < 4; ++j) {
        c[std::size_t{row + i} * columns + which * tile_side + column + j] = sum[i][j];
      }
    }
  }

  /// The product as a task of the engine.
  template <class Group>
  COHORT_FN void operator()(Group& group) const {
#ifdef __CUDA_ARCH__
    for (std::uint32_t i = group.group_id(); i < tiles; i += group.num_groups()) tile(i);
#endif
  }
};

__global__ void __launch_bounds__(task_threads) plain_product(Product product) {
  for (std::uint32_t i = blockIdx.x; i < product.tiles; i += gridDim.x) product.tile(i);
}

// ---- the streams and SMs of plain CUDA kernels

/// Two streams, and the number of SMs that serve each.
struct Streams {
  cudaStream_t job = nullptr;
  cudaStream_t task = nullptr;
  std::uint32_t job_sms = 0;
};

Streams streams_of_priorities() {
  Streams result{.job_sms = attribute(cudaDevAttrMultiProcessorCount)};
  int low = 0;
  int high = 0;
  check(cudaDeviceGetStreamPriorityRange(&low, &high), "stream priorities");
  check(cudaStreamCreateWithPriority(&result.job, cudaStreamNonBlocking, low), "a stream");
  check(cudaStreamCreateWithPriority(&result.task, cudaStreamNonBlocking, high), "a stream");
  return result;
}

/// A function of the driver, found at run time, so that nothing links the driver.
template <class Function>
Function driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &function, CUDA_VERSION, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    throw Error{Errc::unsupported, std::string{"this driver has no "} + name};
  }
  return reinterpret_cast<Function>(function);
}
#define COHORT_DRIVER(name) driver<decltype(&(name))>(#name)

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  throw Error{Errc::unsupported,
              std::string{what} + " failed: error " + std::to_string(static_cast<int>(result))};
}

/// Splits the SMs in two, for the lifetime of the process.
Streams streams_of_green_contexts(std::uint32_t task_sms) {
  CUdevResource all{};
  CUdevResource parts[2]{};
  unsigned int groups = 1;
  check(COHORT_DRIVER(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM),
        "cuDeviceGetDevResource");
  check(COHORT_DRIVER(cuDevSmResourceSplitByCount)(&parts[0], &groups, &all, &parts[1],
                                                   CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING,
                                                   task_sms),
        "cuDevSmResourceSplitByCount");
  const auto stream_on = [](CUdevResource& part) {
    CUdevResourceDesc description = nullptr;
    CUgreenCtx context = nullptr;
    CUstream stream = nullptr;
    check(COHORT_DRIVER(cuDevResourceGenerateDesc)(&description, &part, 1),
          "cuDevResourceGenerateDesc");
    check(COHORT_DRIVER(cuGreenCtxCreate)(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
          "cuGreenCtxCreate");
    check(COHORT_DRIVER(cuGreenCtxStreamCreate)(&stream, context, CU_STREAM_NON_BLOCKING, 0),
          "cuGreenCtxStreamCreate");
    return stream;
  };
  return {.job = stream_on(parts[1]), .task = stream_on(parts[0]), .job_sms = parts[1].sm.smCount};
}

// ---- jobs

class Job {
 public:
  explicit Job(std::uint32_t sms)
      : items_(std::size_t{sms} * job_threads * items_per_thread, [](std::size_t) { return seed; }),
        words_(4, [](std::size_t) { return 0U; }) {
    check(cudaHostAlloc(reinterpret_cast<void**>(&told_), 64, cudaHostAllocMapped), "memory");
    told_[0] = 0;
    told_[1] = 1;
    check(cudaStreamCreateWithFlags(&control_, cudaStreamNonBlocking), "a stream");
    Array<std::uint64_t> timer{1, [](std::size_t) { return 0U; }};
    read_timer<<<1, 1>>>(timer.data());
    const std::chrono::nanoseconds most = longest;
    sweep = {.items = items_.data(),
             .count = static_cast<std::uint32_t>(sms * job_threads * items_per_thread),
             .stop = words_.data(),
             .steps = words_.data() + 1,
             .told = told_,
             .until = timer.read()[0] + static_cast<std::uint64_t>(most.count())};
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  // Pinned memory stays until the process ends, because freeing it might wait.
  virtual ~Job() = default;

  virtual void start() = 0;
  [[nodiscard]] std::uint32_t steps() const { return *static_cast<volatile std::uint32_t*>(told_); }
  /// Ends the job. Returns whether every item took every step.
  [[nodiscard]] bool stop() {
    check(cudaMemcpyAsync(words_.data(), told_ + 1, sizeof(std::uint32_t), cudaMemcpyHostToDevice,
                          control_),
          "a copy");
    if (!ended()) throw Error{Errc::bad_state, "bench: the job does not end"};
    std::uint32_t expected = seed;
    for (std::uint32_t step = words_.read()[1]; step > 0; --step) expected = turned(expected);
    for (const std::uint32_t each : items_.read()) {
      if (each != expected) return false;
    }
    return true;
  }

 protected:
  [[nodiscard]] virtual bool ended() = 0;
  [[nodiscard]] std::uint32_t* ends() const { return words_.data() + 2; }

  Sweep sweep{};  // NOLINT: what is started

 private:
  Array<std::uint32_t> items_;
  Array<std::uint32_t> words_;  // the words stop, steps, ends[2]
  std::uint32_t* told_ = nullptr;
  cudaStream_t control_ = nullptr;
};

class PlainJob final : public Job {
 public:
  PlainJob(cudaStream_t stream, std::uint32_t sms, std::uint32_t all_sms)
      : Job(all_sms), stream_(stream), sms_(sms) {
    check(cudaFuncSetAttribute(plain_sweep, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(exclusive_memory())),
          "the job's shared memory");
  }
  void start() override {
    std::uint32_t* at = ends();
    void* arguments[] = {&sweep, &at};
    check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&plain_sweep), dim3{sms_},
                                      dim3{job_threads}, arguments, exclusive_memory(), stream_),
          "the job's launch");
  }

 private:
  bool ended() override {
    for (const auto until = Clock::now() + longest; Clock::now() < until;) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state == cudaSuccess) return true;
      if (state != cudaErrorNotReady) check(state, "the job");
      std::this_thread::sleep_for(milliseconds{1});
    }
    return false;
  }

  cudaStream_t stream_;
  std::uint32_t sms_;
};

class CooperativeJob final : public Job {
 public:
  CooperativeJob(cuda::Engine& engine, std::uint32_t sms) : Job(sms), engine_(engine) {}
  ~CooperativeJob() override {
    if (job_) job_->cancel();
  }
  void start() override { job_ = engine_.launch(sweep, {.local_size = job_threads}); }

 private:
  bool ended() override { return job_->wait_for(longest).has_value(); }

  cuda::Engine& engine_;
  std::optional<cohort::Job> job_;
};

// ---- tasks

class Tasks {
 public:
  Tasks(const Part& part, std::uint32_t tiles)
      : part_(part),
        a_(depth * tile_side, [](std::size_t i) { return factor(i % tile_side, 3); }),
        b_(std::size_t{depth} * tiles * tile_side,
           [tiles](std::size_t i) { return factor(i % (tiles * tile_side), 5); }),
        c_(std::size_t{tile_side} * tiles * tile_side, [](std::size_t) { return 0.0F; }),
        product_{a_.data(), b_.data(), c_.data(), tiles, part.products} {
    check(cudaFuncSetAttribute(plain_product, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(exclusive_memory())),
          "the task's shared memory");
  }

  /// Runs one task in `stream`, under a lease if there is an engine. Returns false if it was not
  /// done in time.
  [[nodiscard]] bool serve(cudaStream_t stream, cuda::Engine* engine) {
    {
      std::optional<cuda::Lease> lease;
      if (engine != nullptr) lease = engine->lease(stream, {.sms = part_.sms});
      plain_product<<<part_.sms, task_threads, exclusive_memory(), stream>>>(product_);
      check(cudaGetLastError(), "the task's launch");
    }
    for (const auto until = Clock::now() + patience; Clock::now() < until;) {
      const cudaError_t state = cudaStreamQuery(stream);
      if (state == cudaSuccess) return true;
      if (state != cudaErrorNotReady) check(state, "a task");
    }
    return false;
  }
  /// Runs one task through the engine. Returns false if it was not done in time.
  [[nodiscard]] bool submit(cuda::Engine& engine) {
    const Task task = engine.submit(product_, {.groups = part_.sms, .local_size = task_threads});
    if (task.wait_for(patience)) return true;
    task.cancel();
    return false;
  }

  /// Whether the last product is right.
  [[nodiscard]] bool right() const {
    const std::size_t columns = std::size_t{product_.tiles} * tile_side;
    const std::vector<float> product = c_.read();
    for (std::size_t i = 0; i < product.size(); ++i) {
      const float expected = static_cast<float>(depth * product_.times) * factor(i / columns, 3) *
                             factor(i % columns, 5);
      if (product[i] != expected) return false;
    }
    return true;
  }

 private:
  static float factor(std::size_t index, std::size_t kinds) {
    return static_cast<float>(1 + index % kinds);
  }

  const Part& part_;
  Array<float> a_;
  Array<float> b_;
  Array<float> c_;
  Product product_;
};

}  // namespace sharing

namespace {

/// Signals the other process by making a file.
void raise_flag(const std::filesystem::path& file) { std::ofstream{file} << "\n"; }

bool wait_for(const std::function<bool()>& what, std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (!what()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds{1});
  }
  return true;
}

/// Serves the tasks one after another. A late task delays the next one.
void serve_all(const Part& part, const std::function<bool()>& serve, PartResult& result) {
  const auto begin = Clock::now();
  for (std::uint32_t i = 0; i < part.count; ++i) {
    const auto due = begin + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>{part.period * i});
    std::this_thread::sleep_until(due - std::chrono::microseconds{300});
    while (Clock::now() < due) {
    }
    const std::uint64_t begun = now();
    if (!serve()) {
      result.gave_up = true;
      return;
    }
    result.tasks.emplace_back(begun, now());
  }
}

}  // namespace

PartResult run(const Part& part) {
  std::string why;
  if (!cuda::available(&why)) throw Error{Errc::unsupported, "cuda engine: " + why};
  check(cudaSetDevice(0), "the device");
  check(cudaFree(nullptr), "the device");
  PartResult result;
  result.sms = attribute(cudaDevAttrMultiProcessorCount);
  const bool cooperative = part.way == "lease" || part.way == "submit";
  std::unique_ptr<cuda::Engine> engine;
  if (cooperative) engine = std::make_unique<cuda::Engine>();
  Streams streams =
      part.way == "green" ? streams_of_green_contexts(part.sms) : streams_of_priorities();
  result.background_sms = streams.job_sms;

  const std::uint32_t all = part.device_sms != 0 ? part.device_sms : result.sms;
  std::optional<Tasks> tasks;
  std::function<bool()> serve;
  if (part.task) {
    tasks.emplace(part, all);
    serve = [&] {
      return part.way == "submit" ? tasks->submit(*engine)
                                  : tasks->serve(streams.task, engine.get());
    };
    // One task to warm up.
    if (!serve()) throw Error{Errc::bad_state, "bench: a task does not end"};
  }
  const std::filesystem::path folder{part.folder};
  const auto meet = [&folder](const char* mine, const char* theirs) {
    if (folder.empty()) return;
    raise_flag(folder / mine);
    if (!wait_for([&] { return exists(folder / theirs); }, std::chrono::seconds{20})) {
      throw Error{Errc::bad_state, "bench: the other process does not get ready"};
    }
  };
  if (!part.background) {
    meet("warm", "running");
    serve_all(part, serve, result);
    if (!folder.empty()) {
      raise_flag(folder / "done");
      // A task that the job has starved runs after the job's end. Wait for its result.
      if (result.gave_up)
        wait_for([&] { return cudaStreamQuery(streams.task) == cudaSuccess; }, longest);
    }
    result.verified = tasks->right();
    return result;
  }

  std::unique_ptr<Job> job;
  if (cooperative) {
    job = std::make_unique<CooperativeJob>(*engine, all);
  } else {
    job = std::make_unique<PlainJob>(streams.job, streams.job_sms, all);
  }
  meet("there", "warm");  // must load before the GPU is full
  job->start();
  if (!wait_for([&] { return job->steps() > 0; }, std::chrono::seconds{10})) {
    throw Error{Errc::bad_state, "bench: the job does not start"};
  }
  std::this_thread::sleep_for(milliseconds{300});  // until the chip runs at its full clock
  meet("running", "warm");
  std::atomic<bool> served{!part.task};
  std::string failure;
  std::jthread server{[&] {
    try {
      if (part.task) serve_all(part, serve, result);
    } catch (const Error& error) {
      failure = error.what();
    }
    served = true;  // after join(), this thread reads its results
  }};
  const auto least = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>{part.period * part.count});
  const auto most = Clock::now() + longest;
  const auto over = [&] {
    if (Clock::now() > most) return true;
    if (!folder.empty()) return exists(folder / "done");
    return part.task ? served.load() : Clock::now() > least;
  };
  do {
    result.progress.emplace_back(now(), job->steps());
    std::this_thread::sleep_for(milliseconds{2});
  } while (!over());
  result.progress.emplace_back(now(), job->steps());
  result.verified = job->stop();
  server.join();
  if (!failure.empty()) throw Error{Errc::bad_state, failure};
  if (part.task) {
    check(cudaStreamSynchronize(streams.task), "the tasks");
    result.verified = result.verified && tasks->right();
  }
  return result;
}

}  // namespace cohort::bench::device
