// The contract between a kernel and the library: traits, Next, State, and compile-time checks whose
// messages tell the author what is wrong.
// Invariant: everything here is decided at compile time, so a kernel pays only for what it uses.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Marks a function that runs inside kernels, on every engine.
#ifdef __CUDACC__
#define COHORT_FN __host__ __device__
#else
#define COHORT_FN
#endif

// An offer or a barrier that changes nothing takes a handful of instructions. They must be inlined;
// the other, rare code must not be. In barriers on a GPU the rare code is inlined too: if a kernel
// calls any function, nvcc makes the threads of a warp take turns in its loops, which may cost a
// tenth of their speed.
#ifdef __CUDACC_RTC__
#define COHORT_DETAIL_INLINE __forceinline__
#else
#define COHORT_DETAIL_INLINE [[gnu::always_inline]] inline
#endif
#ifdef __CUDACC__
#define COHORT_DETAIL_COLD __forceinline__  // rare code, in barriers too
#define COHORT_DETAIL_APART __noinline__    // rare code, in offers only
#else
#define COHORT_DETAIL_COLD [[gnu::noinline, gnu::cold]]
#define COHORT_DETAIL_APART COHORT_DETAIL_COLD
#endif

namespace cohort {

/// Which group an offer may remove (appendix B of the paper, "killing order").
enum class KillOrder : std::uint8_t {
  highest_first,  ///< only the highest id, so ids stay dense: barriers and strides work
  any,  ///< the first group that offers; ids are unique but not dense. Better gather time for work
        ///< stealing
};

/// Whether offers may empty the kernel (appendix B, "keeping one workgroup alive").
enum class Survivors : std::uint8_t {
  keep_one,       ///< the last group is never removed, except by a suspend
  may_all_leave,  ///< the job may end as `left`, with work undone
};

/// Where the number of groups may change.
enum class Resizes : std::uint8_t {
  anywhere,     ///< offer_kill and request_fork, mixed freely with barriers
  at_barriers,  ///< at resizing barriers only: M is stable in between, and barriers are cheaper
};

/// How a resizing barrier works. All but the first are the paper's, kept for comparison.
enum class ResizingBarrier : std::uint8_t {
  one_pass,  ///< ours: each group arrives once, and the last one sets M in one atomic step
  query,     ///< section 4.2: the master asks how many groups are wanted; these leave one by one
  plain,     ///< section 4.2: slaves offer themselves once on entry, the master forks
  modelled,  ///< section 3.1: barrier, fork, barrier, kill, barrier
};

/// The maximum number of threads per group, on any engine.
inline constexpr std::uint32_t max_local_size = 1024;

/// What a kernel declares about itself: `static constexpr cohort::Traits traits{...};`
struct Traits {
  KillOrder kill_order = KillOrder::highest_first;
  Survivors survivors = Survivors::keep_one;
  Resizes resizes = Resizes::anywhere;
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  /// False allows `offer_kill()` without the State; the job can then not be suspended.
  bool suspendable = true;
  /// The maximum number of threads per group. On a GPU, a lower maximum leaves more registers per
  /// thread.
  std::uint32_t max_local_size = cohort::max_local_size;

  friend constexpr bool operator==(const Traits&, const Traits&) = default;
};

/// The result of a step: whether another step is needed. The kernel continues while any thread of
/// any group returns `again` or `exchange`.
enum class Next : std::uint8_t {
  halt,
  again,
  /// On several ranks: another step, after the next exchange of messages. Elsewhere the same as
  /// again.
  exchange,
};

/// Memory orders of atomic accesses, in kernels and in the protocol. Each platform maps them to its
/// own.
enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel };

/// The State of a kernel that transmits nothing, and the Local of a kernel without local memory.
struct Nothing {};

/// The same kernel with other traits, e.g. `With<Bfs, Traits{.barrier = ResizingBarrier::query}>`.
template <class Kernel, Traits with>
struct With : Kernel {
  static constexpr Traits traits = with;
};

/// The indices `first, first + step, ...` below `end`: one thread's share of a strided loop.
class Stride {
 public:
  class Iterator {
   public:
    COHORT_FN constexpr Iterator(std::size_t at, std::size_t step) : at_(at), step_(step) {}
    COHORT_FN constexpr std::size_t operator*() const { return at_; }
    COHORT_FN constexpr Iterator& operator++() {
      at_ += step_;
      return *this;
    }
    COHORT_FN constexpr bool operator!=(std::size_t end) const { return at_ < end; }

   private:
    std::size_t at_;
    std::size_t step_;
  };

  COHORT_FN constexpr Stride(std::size_t first, std::size_t step, std::size_t end)
      : first_(first), step_(step), end_(end) {}
  [[nodiscard]] COHORT_FN constexpr Iterator begin() const { return {first_, step_}; }
  [[nodiscard]] COHORT_FN constexpr std::size_t end() const { return end_; }

 private:
  std::size_t first_;
  std::size_t step_;
  std::size_t end_;
};

namespace detail {

template <class Kernel>
struct StateType {
  using type = Nothing;
};
template <class Kernel>
requires requires { typename Kernel::State; }
struct StateType<Kernel> {
  using type = typename Kernel::State;
};

template <class Kernel>
struct LocalType {
  using type = Nothing;
};
template <class Kernel>
requires requires { typename Kernel::Local; }
struct LocalType<Kernel> {
  using type = typename Kernel::Local;
};

template <class Kernel>
consteval Traits declared_traits() {
  if constexpr (requires { Traits{Kernel::traits}; }) {
    return Kernel::traits;
  } else {
    return {};
  }
}

}  // namespace detail

/// What joining groups receive: `Kernel::State`, or Nothing.
template <class Kernel>
using StateOf = typename detail::StateType<Kernel>::type;

/// Memory shared by the threads of one group: `Kernel::Local`, or Nothing.
template <class Kernel>
using LocalOf = typename detail::LocalType<Kernel>::type;

/// A kernel that needs local memory of a size known only at the launch, in addition to its Local.
/// `std::size_t more_local() const` returns the size in bytes. `group.more_local()` returns the
/// memory.
template <class Kernel>
concept HasMoreLocal = requires(const Kernel& kernel) {
  { kernel.more_local() } -> std::same_as<std::size_t>;
};

namespace detail {

/// The alignment of that memory, which starts after Local. Suits any type.
inline constexpr std::size_t local_alignment = 128;
COHORT_FN constexpr std::size_t local_room(std::size_t bytes) {
  return (bytes + local_alignment - 1) / local_alignment * local_alignment;
}
template <class Kernel>
inline constexpr std::size_t more_local_at = local_room(sizeof(LocalOf<Kernel>));

/// The local memory of one group, in bytes.
template <class Kernel>
std::size_t local_size_of(const Kernel& kernel) {
  if constexpr (HasMoreLocal<Kernel>)
    return more_local_at<Kernel> + kernel.more_local();
  else
    return sizeof(LocalOf<Kernel>);
}

/// A substitute for the Group of any engine, used when a kernel's signatures are checked. Never
/// called.
struct AnyGroup {};

template <class Kernel>
concept HasStep = requires(Kernel& kernel, AnyGroup& group, StateOf<Kernel>& state) {
  kernel.step(group, state);
};
/// True of `State` and `const State&`: a temporary does not bind to `State&`.
template <class Kernel>
concept StepTakesTemporary = requires(Kernel& kernel, AnyGroup& group, StateOf<Kernel>&& state) {
  kernel.step(group, static_cast<StateOf<Kernel>&&>(state));
};
template <class Kernel>
concept HasRun = requires(Kernel& kernel, AnyGroup& group, StateOf<Kernel> state) {
  kernel.run(group, state);
};

}  // namespace detail

/// Step style: `Next step(Group&, State&) const`. The library owns the loop; resizing happens
/// between steps.
template <class Kernel>
concept StepKernel = requires(const Kernel& kernel, detail::AnyGroup& group,
                              StateOf<Kernel>& state) {
  { kernel.step(group, state) } -> std::same_as<Next>;
};

/// Direct style: `void run(Group&, State) const`. The kernel owns the loop and places the
/// primitives itself.
template <class Kernel>
concept DirectKernel = requires(const Kernel& kernel, detail::AnyGroup& group,
                                StateOf<Kernel> state) {
  { kernel.run(group, state) } -> std::same_as<void>;
};

/// A prologue that only the groups present at the start run: `void setup(Group&) const`.
template <class Kernel>
concept HasSetup = requires(const Kernel& kernel, detail::AnyGroup& group) {
  kernel.setup(group);
};

/// Checks a kernel and collects what the engines need to know. Each message says what to change.
template <class Kernel>
struct Contract {
  using State = StateOf<Kernel>;
  using Local = LocalOf<Kernel>;

  static_assert(detail::HasStep<Kernel> || detail::HasRun<Kernel>,
                "cohort: a kernel needs `template <class Group> COHORT_FN cohort::Next "
                "step(Group&, State&) const` "
                "(step style) or `template <class Group> COHORT_FN void run(Group&, State) const` "
                "(direct style)");
  static_assert(!(detail::HasStep<Kernel> && detail::HasRun<Kernel>),
                "cohort: a kernel has step() or run(), not both: the library would not know "
                "which of them owns the loop");
  static_assert(
      !detail::HasStep<Kernel> || StepKernel<Kernel>,
      "cohort: step() must be const (kernel parameters are immutable) and return cohort::Next");
  static_assert(std::is_empty_v<State> || !detail::StepTakesTemporary<Kernel>,
                "cohort: step() must take State& (a copy forgets what the step changed, so the "
                "next step would start from the same State again)");
  static_assert(!detail::HasRun<Kernel> || DirectKernel<Kernel>,
                "cohort: run() must be const (kernel parameters are immutable) and return void");
  static_assert(std::copy_constructible<Kernel>,
                "cohort: a kernel is copied to where it runs, so it must be copy-constructible");
  static_assert(
      std::is_trivially_copyable_v<State>,
      "cohort: Kernel::State is transmitted byte by byte to joining groups, so it must be "
      "trivially "
      "copyable (no std::vector, std::string or virtual functions; use pointers and plain values)");
  static_assert(
      std::is_default_constructible_v<State>,
      "cohort: Kernel::State needs a default constructor: the first groups start with State{}");
  static_assert(std::is_trivially_copyable_v<Local> && std::is_default_constructible_v<Local>,
                "cohort: Kernel::Local is the group's local memory, so it must be a plain, "
                "trivially copyable type");

  static constexpr bool step_style = detail::HasStep<Kernel>;

  /// The declared traits, except that a step kernel always resizes at barriers.
  static constexpr Traits traits = [] {
    Traits result = detail::declared_traits<Kernel>();
    if (step_style) result.resizes = Resizes::at_barriers;
    return result;
  }();

  static_assert(traits.max_local_size >= 1 && traits.max_local_size <= cohort::max_local_size,
                "cohort: Traits::max_local_size is 1 to 1024");
  static_assert(!(traits.kill_order == KillOrder::any && step_style),
                "cohort: a step kernel has a barrier after each step, which KillOrder::any cannot "
                "offer: its ids are "
                "not dense. Declare KillOrder::highest_first, or write the kernel in direct style");
  static_assert(!(traits.kill_order == KillOrder::any && traits.resizes == Resizes::at_barriers),
                "cohort: a kernel of KillOrder::any has no barriers to resize at: its ids are not "
                "dense. Declare "
                "KillOrder::highest_first, or Resizes::anywhere with offer_kill and request_fork");
};

}  // namespace cohort
