// The CUDA platform: a group is a thread block, its first thread leads, and waiting is polling.
// Invariant: the block meets before its leader releases anything and after its leader has acquired
// anything. So all threads of a group have the ordering guarantees that any one of them has.
#pragma once

#include <cstdint>
#include <cstring>
#include <cuda/atomic>
#include <type_traits>

#include "cohort/platform/cuda_atomic.cuh"
#include "cohort/platform/cuda_tape.cuh"
#include "cohort/protocol/group.hpp"

namespace cohort::cuda {

/// The maximum number of open leases. Each has one word in a line that every job reads.
inline constexpr std::uint32_t demand_slots = 32;

/// Stored instead of a share: the job is cancelled. A group that reads it raises the fault for the
/// whole job, since only the device may change the roster.
inline constexpr std::uint32_t stop_share = 1U << 31U;

/// The number of SMs that each lease wants. Streams write these words, in stream order.
struct alignas(128) Demands {
  std::uint32_t slot[demand_slots] = {};
};

/// What a block reports to the host, in any combination.
enum News : std::uint32_t {
  came_in = 1,        ///< a group has checked in or been admitted
  joined_later = 2,   ///< by other means than a first run's check-in
  came_out = 4,       ///< a group has left
  taken_away = 8,     ///< removed by an offer or a barrier
  has_returned = 16,  ///< returned from the kernel
  found_closed = 32,  ///< the job admits no more groups
  is_gone = 64,       ///< the block does nothing more
};
inline constexpr std::uint32_t news_bits = 8;

/// A place to wait. Groups on a GPU do not sleep, so notify() does nothing.
struct Event {
  std::uint32_t pause = 0;  ///< nanoseconds between two polls, after the first few
  void* job = nullptr;      ///< the job's Shared; groups that wait read it to notice a cancel
};

/// A job's data that only this platform needs.
struct Recorder {
  Atomic<std::uint32_t> before{0};  ///< SMs that other jobs give to leases before this job has to
  std::uint32_t bundle = 1;         ///< number of groups that share an SM
  std::uint32_t* lines = nullptr;   ///< log in pinned host memory
  std::uint32_t last_line = 0;      ///< line count - 1; the count is a power of two
  alignas(128) Atomic<std::uint32_t> turns{0};

  /// Records an event of a primitive. Primitives write only rare events to a tape here, so that
  /// frequent ones stay fast. Three kinds of events are recorded elsewhere: a block's own arrival
  /// and departure, and arrivals at barriers, which its last thread records.
  COHORT_FN void record(Trace what, std::uint32_t group, std::uint32_t active,
                        std::uint64_t value) const;

  /// Writes the next line of the log. A counter in device memory assigns each block a line of its
  /// own. Additions to one word of host memory would instead queue on the bus, a microsecond each.
  COHORT_FN void tell(std::uint32_t news) {
    const std::uint32_t turn = turns.fetch_add(1, Order::relaxed);
    *const_cast<volatile std::uint32_t*>(lines + (turn & last_line)) =
        ((turn + 1) << news_bits) | news;
  }

  /// The target: a share minus this job's part of `demanded` SMs. A lease never takes all of it.
  [[nodiscard]] COHORT_FN std::uint32_t target(std::uint32_t share, std::uint32_t demanded,
                                               std::uint32_t others) const {
    if (demanded <= others || share <= 1) return share;
    const std::uint32_t taken = (demanded - others) * bundle;
    return taken < share ? share - taken : 1;
  }
};

/// The target that group 0 read in an earlier barrier, or any group in an earlier offer. Barriers
/// and offers that follow closely use it instead of waiting for a load.
struct alignas(16) Sampler {
  /// A value of `target`: there is something to do.
  static constexpr std::uint32_t something = ~0U;

  std::uint32_t target = 0;
  long long at = -(1LL << 62);  ///< time of the reading, by the SM's clock; initially long ago
};

struct Platform;

/// A block's data about its job, for functions without parameters.
struct Here {
  protocol::Shared<Platform>* shared;
  const Demands* demands;  // null if no lease can want SMs of this job
  Sampler* recent;         // set in the group that looks ahead in barriers; otherwise null
  Tape tape = {};
  Sampler* offers = nullptr;  // the group's own Sampler for offers
  bool stress = false;        // resize at every opportunity
};

#ifdef __CUDACC__
/// Returns `pointer`, but hides from the compiler how it was computed, except that it points into
/// shared memory. Otherwise the compiler would compute it again at every use, from a special
/// register that takes longer to read than shared memory.
template <class T>
__device__ T* opaque(T* pointer) {
  auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
  asm("" : "+r"(address));
  return static_cast<T*>(__builtin_assume_aligned(__cvta_shared_to_generic(address), alignof(T)));
}
#endif

/// One thread's view of its group's threads.
struct Threads {
  std::uint32_t* answer = nullptr;  ///< in shared memory: result of the leader's last action

#ifdef __CUDACC__
  /// The threads of this block.
  [[nodiscard]] static __device__ Threads here() {
    __shared__ std::uint32_t word;
    return {opaque(&word)};
  }

  [[nodiscard]] __device__ std::uint32_t local_id() const { return threadIdx.x; }
  [[nodiscard]] __device__ std::uint32_t local_size() const { return blockDim.x; }
  [[nodiscard]] __device__ bool alone() const { return false; }
  __device__ void barrier() const { __syncthreads(); }

  /// Thread 0 acts once all threads have arrived; each thread gets the result.
  template <class Function>
  __device__ auto lead(protocol::Point point, Function act) const {
    __syncthreads();
    return lead_all(point, act);
  }
  /// Like lead(), with a vote: `act` receives whether any thread passed true.
  template <class Function>
  __device__ auto lead_any(protocol::Point point, bool mine, Function act) const {
    const bool any = __syncthreads_or(mine ? 1 : 0) != 0;
    return lead_all(point, [&act, any] { return act(any); });
  }

  /// Quick check whether an offer is over: a moment ago, the last thread read everything that the
  /// offer would read, and found nothing to do. The effect is as if the offer had been made at that
  /// time. The threads meet once instead of twice as in lead().
  template <class Member>
  __device__ bool calm(const Member& member) const;

  /// One addition for all lanes that arrive together with the same counter.
  template <class T>
  __device__ T claim(AtomicRef<T> counter) const {
    const auto which = reinterpret_cast<std::uintptr_t>(counter.address());
    const std::uint32_t here = __match_any_sync(__activemask(), which);
    const auto leader = static_cast<std::uint32_t>(__ffs(static_cast<int>(here)) - 1);
    T first{};
    if (lane() == leader) first = counter.fetch_add(static_cast<T>(__popc(here)));
    first = __shfl_sync(here, first, static_cast<int>(leader));
    return first + static_cast<T>(__popc(here & ((1U << lane()) - 1U)));
  }

  template <class T>
  __device__ T broadcast(T value, std::uint32_t from) const {
    T* const slot = room<T>();
    if (local_id() == from) *slot = value;
    __syncthreads();
    const T result = *slot;
    __syncthreads();  // before another thread writes the next value
    return result;
  }
  template <class T, class Op>
  __device__ T reduce(T value, Op op) const {
    const T* const sums = warp_sums(scan_warp(value, op));
    const T result = fold(sums, warps(), op);
    __syncthreads();
    return result;
  }
  template <class T, class Op>
  __device__ T inclusive_scan(T value, Op op) const {
    T result = scan_warp(value, op);
    const T* const sums = warp_sums(result);
    if (warp() > 0) result = op(fold(sums, warp(), op), result);
    __syncthreads();
    return result;
  }
  template <class T, class Op>
  __device__ T exclusive_scan(T value, T zero, Op op) const {
    const T upto = scan_warp(value, op);
    const T* const sums = warp_sums(upto);
    T result = up(upto, 1);
    if (lane() == 0) result = zero;
    if (warp() > 0) {
      const T before = fold(sums, warp(), op);
      result = lane() == 0 ? before : op(before, result);
      result = op(zero, result);
    } else if (lane() > 0) {
      result = op(zero, result);
    }
    __syncthreads();
    return result;
  }

 private:
  template <class Function>
  __device__ auto lead_all(protocol::Point point, Function act) const;
  static __device__ __forceinline__ void read_ahead(Sampler& recent, bool writes_down);
  static __device__ __noinline__ void look_ahead(Sampler& offers);

  [[nodiscard]] static __device__ std::uint32_t lane() { return threadIdx.x % 32; }
  [[nodiscard]] static __device__ std::uint32_t warp() { return threadIdx.x / 32; }
  [[nodiscard]] static __device__ std::uint32_t warps() { return (blockDim.x + 31) / 32; }
  /// The lanes of this warp, as a mask. A block's last warp may have fewer than the others.
  [[nodiscard]] static __device__ std::uint32_t lanes() {
    const std::uint32_t rest = blockDim.x - warp() * 32;
    return rest >= 32 ? ~0U : (1U << rest) - 1U;
  }

  /// A value for each warp, in shared memory.
  template <class T>
  static __device__ T* room() {
    static_assert(std::is_trivially_copyable_v<T>,
                  "cohort: what threads of a group combine or broadcast is copied byte by byte");
    __shared__ alignas(T) unsigned char bytes[32 * sizeof(T)];
    return reinterpret_cast<T*>(bytes);
  }
  /// The value of the lane `by` below, or this lane's own if there is none.
  template <class T>
  static __device__ T up(const T& value, std::uint32_t by) {
    constexpr std::size_t words = (sizeof(T) + 3) / 4;
    std::uint32_t parts[words] = {};
    memcpy(parts, &value, sizeof(T));
    for (std::uint32_t& part : parts) part = __shfl_up_sync(lanes(), part, by);
    T result = value;
    memcpy(&result, parts, sizeof(T));
    return result;
  }
  template <class T, class Op>
  static __device__ T scan_warp(T value, Op op) {
    for (std::uint32_t by = 1; by < 32; by *= 2) {
      const T below = up(value, by);
      if (lane() >= by) value = op(below, value);
    }
    return value;
  }
  /// Combines the values of the first `count` warps, at least one. Four loads are in flight at a
  /// time.
  template <class T, class Op>
  static __device__ T fold(const T* sums, std::uint32_t count, Op op) {
    T result = sums[0];
    for (std::uint32_t i = 1; i < count; i += 4) {
      T next[4];
#pragma unroll
      for (std::uint32_t j = 0; j < 4; ++j) next[j] = sums[i + j < count ? i + j : 0];
#pragma unroll
      for (std::uint32_t j = 0; j < 4; ++j) {
        if (i + j < count) result = op(result, next[j]);
      }
    }
    return result;
  }
  /// The last value of each warp, for all threads.
  template <class T>
  static __device__ const T* warp_sums(const T& scanned) {
    T* const sums = room<T>();
    if (lane() == 31 || threadIdx.x + 1 == blockDim.x) sums[warp()] = scanned;
    __syncthreads();
    return sums;
  }
#endif
};

/// Nothing is sampled on a GPU. The quick check of an offer is Threads::calm.
struct Probe {
  COHORT_FN explicit Probe(const Threads& /*threads*/) {}
  template <class Member>
  COHORT_FN bool offer(Member& /*member*/) const {
    return true;
  }
};

/// Everything that the protocol requires of a platform.
struct Platform {
  template <class T>
  using Atomic = cuda::Atomic<T>;
  template <class T>
  using AtomicRef = cuda::AtomicRef<T>;
  using Event = cuda::Event;
  using Threads = cuda::Threads;
  using Recorder = cuda::Recorder;
  using Sampler = cuda::Sampler;
  using Probe = cuda::Probe;

  /// Also compiled for the host, where protocol::Shared has the layout of a Fenced platform.
  COHORT_FN static void fence() {
    ::cuda::atomic_thread_fence(::cuda::std::memory_order_acq_rel, ::cuda::thread_scope_device);
  }
  COHORT_FN static void notify(Event& /*event*/) {}
  template <class T>
  COHORT_FN static T* view(T* memory) {
    return memory;
  }

#ifdef __CUDACC__
  /// Cycles for which a target that was read in an earlier barrier may be used: about 12 us. After
  /// two thirds of this time it is read again.
  static constexpr unsigned long long recent = 24'000;
  /// The same after an offer: about 8 us.
  static constexpr unsigned long long recent_offer = 16'000;

  /// Cycles since `at`, by the SM's clock. The result is huge if the block was moved to an SM whose
  /// clock is behind.
  __device__ static unsigned long long cycles_since(long long at) {
    return static_cast<unsigned long long>(clock64() - at);
  }

  /// Called by the last thread: whether it has recently seen, after an offer, that there is nothing
  /// to do.
  template <class Member>
  __device__ static bool looked_lately(const Member& member) {
    const Sampler last = member.sampler;
    return last.target == member.active && cycles_since(last.at) < recent_offer && !member.left;
  }

  /// Whether the leader has to read the target itself: only the leader of group 0, and only if the
  /// last reading is old or showed something to do. In a block of one warp, no other thread reads
  /// it meanwhile.
  template <class Member>
  __device__ static bool looks(const Member& member) {
    const Sampler last = member.sampler;
    const bool stale = cycles_since(last.at) > recent;
    // Without branches, so that the loads overlap with those of the rest of the member.
    return (member.id == 0) & ((blockDim.x <= 32) | (last.target != member.active) | stale);
  }

  template <class Done, class Meanwhile>
  __device__ static void await(Event& event, Done done, Meanwhile meanwhile) {
    for (std::uint32_t looks = 1; !done(); ++looks) {
      if (looks % 16 != 0) continue;  // a release usually comes within a poll or two
      meanwhile();
      if (looks >= 32) pause(event, looks);
    }
  }
  template <class Done>
  __device__ static void await(Event& event, Done done) {
    await(event, done, [] {});
  }
  template <class Done>
  __device__ static bool await_for(Event& event, std::uint64_t nanoseconds, Done done) {
    const std::uint64_t until = timer() + nanoseconds;
    for (std::uint32_t looks = 1; !done(); ++looks) {
      if (looks % 128 == 0) listen(event);
      if (timer() > until) return done();
    }
    return true;
  }

  /// The share minus the SMs that leases want of it. Also raises the fault of a cancelled job.
  template <class Shared>
  __device__ static std::uint32_t less_demands(const Shared& shared, std::uint32_t share) {
    const Demands* const demands = here().demands;
    std::uint32_t demanded = 0;
    if (demands != nullptr) {
      std::uint32_t part[4];
#pragma unroll
      // All in one line, so the loads overlap.
      for (std::uint32_t i = 0; i < demand_slots; i += 4) {
        asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
                     : "l"(&demands->slot[i])
                     : "memory");
        demanded += part[0] + part[1] + part[2] + part[3];
      }
    }
    if ((share & stop_share) != 0) {
      protocol::raise(const_cast<Shared&>(shared), protocol::Fault::cancelled);
      return 0;
    }
    const std::uint32_t others = demanded == 0 ? 0 : shared.recorder.before.load(Order::relaxed);
    const std::uint32_t target = shared.recorder.target(share, demanded, others);
    return here().stress ? other_target(shared, target) : target;
  }

  /// In a stress test: a target from 1 to `most` that differs from M. First waits a moment for the
  /// groups that are on their way to the lobby, so that M can also grow.
  template <class Shared>
  __device__ static std::uint32_t other_target(const Shared& shared, std::uint32_t most) {
    if (most < 2) return most;
    const std::uint64_t until = timer() + 100'000;
    std::uint32_t active = 0;
    do {
      active = shared.look().active();
    } while (active + shared.waiting.load(Order::relaxed) < most && timer() < until);
    const auto random = static_cast<std::uint32_t>(timer() / 1024) * 2654435761U;
    const std::uint32_t target = 1 + (random >> 8U) % (most - 1);
    return target < active ? target : target + 1;
  }

  /// The block's data about its job.
  [[nodiscard]] __device__ static Here& here() {
    __shared__ Here block;
    return block;
  }

  /// Raises the fault of a cancelled job.
  __device__ __forceinline__ static void listen(protocol::Shared<Platform>& shared) {
    if ((shared.share.load(Order::relaxed) & stop_share) != 0) {
      protocol::raise(shared, protocol::Fault::cancelled);
    }
  }

  /// Ends the calling thread; all threads of its group do the same.
  __device__ static void unwind() {
    if (threadIdx.x == 0) depart(0);
    asm volatile("exit;");
  }

  /// Tells the host that the group is out and that the block does nothing more. `how` is taken_away
  /// or has_returned, or neither after a fault. Other groups have seen the writes of a group that
  /// was taken away, and will publish them.
  __device__ static void depart(std::uint32_t how) {
    auto& shared = *here().shared;
    const bool closed = shared.closed.load(Order::acquire) != 0;
    if (closed || how != taken_away)
      __threadfence_system();  // before the host may consider the job over
    if (here().tape.head != nullptr) {
      const bool returned = how == has_returned;
      here().tape.note(how == 0 ? Trace::fault : returned ? Trace::finish : Trace::kill, 0, 0);
      here().tape.close();
    }
    shared.recorder.tell(came_out | how | (closed ? found_closed : 0U) | is_gone);
  }

  [[nodiscard]] __device__ static std::uint64_t timer() {
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
  }

 private:
  __device__ __forceinline__ static void pause(Event& event, std::uint32_t looks) {
    listen(event);
    if (event.pause != 0) {
      __nanosleep(event.pause);
    } else if (looks > 1024) {
      __nanosleep(1000);
    }
  }
  __device__ __forceinline__ static void listen(Event& event) {
    auto* const shared = static_cast<protocol::Shared<Platform>*>(event.job);
    if (shared != nullptr) listen(*shared);
  }
#endif
};

static_assert(protocol::Fenced<Platform>);

COHORT_FN inline void Recorder::record(Trace what, std::uint32_t /*group*/, std::uint32_t active,
                                       std::uint64_t value) const {
#ifdef __CUDA_ARCH__
  if (what != Trace::resize && what != Trace::fork) return;
  Tape& tape = Platform::here().tape;
  if (tape.head != nullptr) tape.note(what, active, static_cast<std::uint32_t>(value));
#else
  static_cast<void>(what);
  static_cast<void>(active);
  static_cast<void>(value);
#endif
}

#ifdef __CUDACC__
__device__ __forceinline__ void Threads::read_ahead(Sampler& recent, bool writes_down) {
  if (writes_down) Platform::here().tape.arrive_if_open(Trace::arrive);
  if (Platform::cycles_since(recent.at) < Platform::recent * 2 / 3) return;
  const long long at = clock64();
  const std::uint32_t target = Platform::here().shared->target();
  recent = {Platform::here().stress ? Sampler::something : target, at};
}

/// Reads everything that the next offer would read. If there is anything to do, the leader has to
/// see that itself.
__device__ __noinline__ inline void Threads::look_ahead(Sampler& offers) {
  const bool lately = Platform::cycles_since(offers.at) < Platform::recent_offer / 2;
  if (lately && offers.target != Sampler::something) return;
  const auto& shared = *Platform::here().shared;
  const bool nobody = shared.waiting.load(Order::relaxed) == 0;
  const protocol::Roster now = shared.look();
  const std::uint32_t target = shared.target();
  const bool calm = nobody && !now.faulted() && now.active() == target;
  offers = {calm ? target : Sampler::something, clock64()};
}

template <class Member>
__device__ bool Threads::calm(const Member& member) const {
  if (blockDim.x <= 32)
    return false;  // the leader's warp would wait for the thread that looks ahead
  const bool last = threadIdx.x + 1 == blockDim.x;
  if (__syncthreads_or(last && !Platform::looked_lately(member) ? 1 : 0) != 0) return false;
  if (last) {
    Platform::here().tape.arrive_if_open(Trace::offer);
    look_ahead(*Platform::here().offers);
  }
  return true;
}

/// Reads the target ahead of its use, because a reading is a round trip for which the next barrier
/// or offer need then not wait. The last thread does it: in group 0, while its leader is in a
/// barrier; in any group after an offer, while its leader continues.
template <class Function>
__device__ auto Threads::lead_all(protocol::Point point, Function act) const {
  using protocol::Point;
  using Result = decltype(act());
  if (threadIdx.x == 0) {
    // The other primitives read the share themselves. This load is relaxed, so it overlaps with the
    // code that follows.
    if (point == Point::request_fork) Platform::listen(*Platform::here().shared);
    *answer = static_cast<std::uint32_t>(act());
  }
  const bool offers = point == Point::offer || point == Point::offer_kill;
  const bool resizing = point == Point::resizing_global_barrier;
  const bool last = threadIdx.x + 1 == blockDim.x;
  if ((resizing || point == Point::global_barrier) && last) {
    Sampler* const recent = Platform::here().recent;
    if (recent != nullptr) read_ahead(*recent, resizing && blockDim.x > 32);
  }
  if (offers && last && blockDim.x > 32) Platform::here().tape.arrive_if_open(Trace::offer);
  __syncthreads();
  if (offers && last && blockDim.x > 32) look_ahead(*Platform::here().offers);
  // The answer does not change until all threads meet again, in the next primitive.
  return static_cast<Result>(*answer);
}
#endif

}  // namespace cohort::cuda
