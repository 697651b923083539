// The protocol on a GPU without the CUDA engine: only the headers, on the smallest platform that
// works. Shows that the headers are device code on their own.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <new>
#include <vector>

#include "cohort/protocol/driver.hpp"

namespace device_check {

using cohort::Next;
using cohort::Trace;
using cohort::protocol::Order;

struct Device {
  template <class T>
  class Atomic {
   public:
    Atomic() = default;
    COHORT_FN constexpr Atomic(T value) : value_(value) {}
    COHORT_FN T load(Order order) const { return value_.load(map(order)); }
    COHORT_FN void store(T value, Order order) { value_.store(value, map(order)); }
    COHORT_FN T exchange(T value, Order order) { return value_.exchange(value, map(order)); }
    COHORT_FN T fetch_add(T value, Order order) { return value_.fetch_add(value, map(order)); }
    COHORT_FN T fetch_sub(T value, Order order) { return value_.fetch_sub(value, map(order)); }
    COHORT_FN T fetch_or(T value, Order order) { return value_.fetch_or(value, map(order)); }
    COHORT_FN T fetch_and(T value, Order order) { return value_.fetch_and(value, map(order)); }
    COHORT_FN bool compare_exchange(T& expected, T desired, Order order) {
      return value_.compare_exchange_strong(expected, desired, map(order),
                                            cuda::memory_order_relaxed);
    }

   private:
    COHORT_FN static constexpr cuda::memory_order map(Order order) {
      switch (order) {
        case Order::relaxed: return cuda::memory_order_relaxed;
        case Order::acquire: return cuda::memory_order_acquire;
        case Order::release: return cuda::memory_order_release;
        case Order::acq_rel: break;
      }
      return cuda::memory_order_acq_rel;
    }

    cuda::atomic<T, cuda::thread_scope_device> value_{};
  };

  struct Event {};
  struct Recorder {
    COHORT_FN void record(Trace, std::uint32_t, std::uint32_t, std::uint64_t) const {}
  };
  struct Sampler {};
  /// Thread 0 acts for the block; all threads meet in a barrier before and after it.
  struct Threads {
    __device__ bool alone() const { return false; }
    __device__ std::uint32_t local_id() const { return threadIdx.x; }
    __device__ std::uint32_t local_size() const { return blockDim.x; }
    __device__ void barrier() const { __syncthreads(); }
    template <class Function>
    __device__ auto lead(cohort::protocol::Point point, Function act) const {
      return lead_any(point, false, [act](bool) { return act(); });
    }
    template <class Function>
    __device__ auto lead_any(cohort::protocol::Point, bool mine, Function act) const {
      __shared__ decltype(act(mine)) result;
      const bool any = __syncthreads_or(mine) != 0;
      if (threadIdx.x == 0) result = act(any);
      __syncthreads();
      return result;
    }
  };
  struct Probe {
    __device__ explicit Probe(const Threads&) {}
    template <class Member>
    __device__ bool offer(Member&) const {
      return true;
    }
  };

  template <class Done>
  __device__ static void await(Event&, Done done) {
    while (!done()) __nanosleep(20);
  }
  template <class Done>
  __device__ static bool await_for(Event&, std::uint64_t nanoseconds, Done done) {
    const long long until = clock64() + 2 * static_cast<long long>(nanoseconds);
    while (!done()) {
      if (clock64() > until) return false;
    }
    return true;
  }
  COHORT_FN static void notify(Event&) {}
  template <class Shared>
  COHORT_FN static std::uint32_t less_demands(const Shared&, std::uint32_t share) {
    return share;
  }
  __device__ static void unwind() { asm volatile("exit;"); }
};

/// Each step changes each item once, with plain writes that only the barrier orders.
struct Count {
  std::uint32_t* items;
  std::uint32_t* errors;
  std::uint32_t count;
  std::uint32_t steps;
  struct State {
    std::uint32_t step = 0;
  };

  template <class Group>
  COHORT_FN Next step(Group group, State& state) const {
    for (auto i : group.stride(count)) {
      if (items[i]++ != state.step) *errors = 1;
    }
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

/// Uses every primitive at least once.
struct Mixed {
  std::uint32_t* rounds;
  std::uint32_t wanted;
  struct State {
    std::uint32_t turn = 0;
  };

  template <class Group>
  COHORT_FN void run(Group group, State state) const {
    while (state.turn < wanted) {
      if (group.offer_kill(state)) return;
      group.request_fork(state);
      if (group.global_id() == 0) ++*rounds;
      const State next{state.turn + 1};
      if (state.turn % 2 == 0) {
        group.global_barrier();
      } else if (group.resizing_global_barrier(next)) {
        return;
      }
      state = next;
    }
  }
};

using cohort::protocol::Box;
using cohort::protocol::Roster;
using cohort::protocol::Shared;
using cohort::protocol::States;

/// Joins, runs and leaves repeatedly until the job is closed, so a block needs no refill by the
/// host.
template <class Kernel>
__global__ void groups(Kernel kernel, Shared<Device>* shared,
                       States<typename Kernel::State>* states, std::uint32_t* stays) {
  using Member = cohort::protocol::Member<Device, typename Kernel::State>;
  __shared__ alignas(Member) unsigned char storage[sizeof(Member)];
  __shared__ bool in;
  auto* member = reinterpret_cast<Member*>(storage);
  for (bool first = true;; first = false) {
    if (threadIdx.x == 0) {
      new (storage) Member{*shared, *states};
      member->votes = cohort::Contract<Kernel>::step_style;
      in =
          (first && cohort::protocol::check_in(*member)) ||
          cohort::protocol::wait_in_lobby(*member, shared->serial.load(Order::relaxed), blockIdx.x);
    }
    __syncthreads();
    if (!in) {
      const bool over = shared->closed.load(Order::acquire) != 0;
      if (__syncthreads_or(over)) return;
      continue;
    }
    cohort::Nothing local;
    cohort::protocol::live<Device, cohort::protocol::Role::member>(kernel, *member, local,
                                                                   Device::Threads{});
    __syncthreads();
    if (threadIdx.x == 0) {
      atomicAdd(stays, 1);
      if (!member->left) cohort::protocol::finish(*member);
    }
    __syncthreads();
    const bool left = member->left;
    __syncthreads();  // until here, no thread uses the old member
    if (!left) return;
  }
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("BAD: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Device memory, zeroed.
template <class T>
T* zeros(std::size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  check(cudaMemset(memory, 0, count * sizeof(T)));
  return static_cast<T*>(memory);
}

/// A copy of device memory, or of a host object on the device.
template <class T>
std::vector<T> read(const T* from, std::size_t count) {
  std::vector<T> result(count);
  check(cudaMemcpy(result.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return result;
}
template <class T>
T* upload(const T& object) {
  T* copy = zeros<T>(1);
  check(cudaMemcpy(static_cast<void*>(copy), &object, sizeof(T), cudaMemcpyHostToDevice));
  return copy;
}

/// Runs a kernel on `blocks` blocks, half of which start, and changes the target all the time.
template <class Kernel>
bool run(const char* name, const Kernel& kernel, std::uint32_t blocks) {
  using State = typename Kernel::State;
  States<State> states{};
  states.boxes = zeros<State>(blocks);
  Shared<Device> shared{};
  shared.boxes = zeros<Box<Device>>(blocks);
  shared.max_groups = blocks;
  shared.quorum = blocks / 2;
  shared.share.store(blocks, Order::relaxed);
  shared.roster.store(Roster::gather, Order::relaxed);
  auto* on_device = upload(shared);
  auto* stays = zeros<std::uint32_t>(1);

  cudaStream_t work = nullptr;
  cudaStream_t control = nullptr;
  check(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&control, cudaStreamNonBlocking));
  groups<<<blocks, 64, 0, work>>>(kernel, on_device, upload(states), stays);
  check(cudaGetLastError());
  std::uint32_t turns = 0;
  for (cudaError_t state = cudaErrorNotReady; state == cudaErrorNotReady; ++turns) {
    const std::uint32_t target = 1 + (turns * 7919U) % blocks;
    check(cudaMemcpyAsync(&on_device->share, &target, sizeof target, cudaMemcpyHostToDevice,
                          control));
    check(cudaStreamSynchronize(control));
    state = cudaStreamQuery(work);
    if (state != cudaErrorNotReady) check(state);
  }

  Roster roster;
  check(cudaMemcpy(&roster, &on_device->roster, sizeof roster, cudaMemcpyDeviceToHost));
  const std::uint32_t stayed = read(stays, 1)[0];
  std::printf("%s: %s, %u stays of %u blocks, %u turns of the target\n", name,
              roster.faulted()    ? "FAULT"
              : roster.finished() ? "finished"
                                  : "NOT finished",
              stayed, blocks, turns);
  return roster.finished() && !roster.faulted() && stayed > blocks;
}

}  // namespace device_check

int main() {
  using namespace device_check;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("SKIPPED: no CUDA device here");
    return 77;
  }
  constexpr std::uint32_t count = 10000;
  constexpr std::uint32_t steps = 5000;
  auto* items = zeros<std::uint32_t>(count);
  auto* errors = zeros<std::uint32_t>(1);
  auto* turns = zeros<std::uint32_t>(1);
  bool good = run("steps", Count{items, errors, count, steps}, 64);
  for (const std::uint32_t each : read(items, count)) good = good && each == steps;
  good = good && read(errors, 1)[0] == 0;
  good = run("mixed", Mixed{turns, steps}, 64) && good && read(turns, 1)[0] == steps;
  std::puts(good ? "good" : "BAD");
  return good ? 0 : 1;
}
