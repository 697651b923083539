// Group: a kernel's handle to its own group and to the job, on every platform. Copies refer to the
// same group.
// Invariant: all threads of the group reach a primitive; its leader acts, and all threads get the
// same answer.
#pragma once

#include <cstddef>

#include "cohort/protocol/barrier.hpp"
#include "cohort/protocol/fork.hpp"
#include "cohort/protocol/kill.hpp"
#include "cohort/protocol/paper_barriers.hpp"

namespace cohort {

namespace protocol {

/// What a Group may do, which depends on the function that received it.
enum class Role : std::uint8_t {
  setup,   ///< in setup(): the first groups only, ids dense, M fixed: barriers, no offers
  member,  ///< in step() or run(): everything the traits allow
  fixed,   ///< in a static launch, with cooperation compiled out
};

/// The primitives by name, to detect threads of a group that call different ones.
enum class Point : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  scan,
  offer_kill,
  request_fork,
  offer,
  global_barrier,
  resizing_global_barrier,
  query,
};

}  // namespace protocol

/// A thread's view of the group in which a kernel function runs.
template <class P, class Kernel, protocol::Role role>
class Group {
  using Role = protocol::Role;
  using Point = protocol::Point;
  using Verdict = protocol::Verdict;

 public:
  using State = StateOf<Kernel>;
  using Local = LocalOf<Kernel>;
  using Member = protocol::Member<P, State>;
  using Threads = typename P::Threads;
  static constexpr Traits traits = Contract<Kernel>::traits;

  COHORT_FN Group(Member& member, Local& local, Threads threads)
      : shared_(&member.shared),
        member_(&member),
        local_(&local),
        threads_(threads),
        probe_(threads) {}

  /// This group's id: below num_groups(), or unique and below max_groups() with KillOrder::any.
  [[nodiscard]] COHORT_FN std::uint32_t group_id() const { return member_->id; }
  /// M, as of this group's last primitive.
  [[nodiscard]] COHORT_FN std::uint32_t num_groups() const {
    // Unknown since the quick check of an offer: read it now.
    if (threads_.alone() && member_->active == 0) member_->active = shared_->look().active();
    return member_->active;
  }
  /// N: the maximum number of groups of this job.
  [[nodiscard]] COHORT_FN std::uint32_t max_groups() const { return member_->max_groups; }
  /// True if the group joined after the start: it did not run setup().
  [[nodiscard]] COHORT_FN bool joined() const { return member_->joined; }
  [[nodiscard]] COHORT_FN std::uint32_t local_id() const { return threads_.local_id(); }
  [[nodiscard]] COHORT_FN std::uint32_t local_size() const { return threads_.local_size(); }
  /// Whether this thread is the whole group. Never on a GPU, where the compiler knows that.
  [[nodiscard]] COHORT_FN bool alone() const { return threads_.alone(); }
  [[nodiscard]] COHORT_FN std::size_t global_id() const {
    return static_cast<std::size_t>(group_id()) * local_size() + local_id();
  }
  /// M·local_size; N·local_size with KillOrder::any, whose ids are not dense.
  [[nodiscard]] COHORT_FN std::size_t global_size() const {
    return static_cast<std::size_t>(dense ? num_groups() : max_groups()) * local_size();
  }

  /// This thread's share of `count` items, divided among all threads of all groups.
  [[nodiscard]] COHORT_FN Stride stride(std::size_t count) const {
    static_assert(dense,
                  "cohort: stride() in a kernel of KillOrder::any would skip items: its ids are "
                  "not dense. Take work "
                  "from a queue, or declare KillOrder::highest_first");
    return {global_id(), global_size(), count};
  }
  /// This thread's share of `count` items, divided among the threads of this group.
  [[nodiscard]] COHORT_FN Stride local_stride(std::size_t count) const {
    return {local_id(), local_size(), count};
  }

  /// Memory shared by the threads of this group. Undefined at the start of run() and of every
  /// step().
  [[nodiscard]] COHORT_FN Local& local() const { return *local_; }
  /// The bytes that Kernel::more_local() asks for, shared in the same way and aligned for any type.
  [[nodiscard]] COHORT_FN std::byte* more_local() const requires HasMoreLocal<Kernel> {
    return reinterpret_cast<std::byte*>(local_) + cohort::detail::more_local_at<Kernel>;
  }

  /// Atomic access to one word that other threads change at the same time, e.g.
  /// `group.atomic(count).fetch_add(1)`. Relaxed unless an Order is given.
  template <class T>
  [[nodiscard]] COHORT_FN auto atomic(T& word) const {
    return typename P::template AtomicRef<T>{word};
  }
  /// An array for plain accesses that the explorer can watch: `group.view(items)[i]`. On the other
  /// engines it is the pointer itself.
  template <class T>
  [[nodiscard]] COHORT_FN auto view(T* memory) const {
    return P::view(memory);
  }

  /// A number from `counter`, different for each thread that calls this: like
  /// `atomic(counter).fetch_add(1)`, but neighbouring threads share one addition where that is
  /// cheaper.
  template <class T>
  [[nodiscard]] COHORT_FN T claim(T& counter) const {
    return threads_.claim(atomic(counter));
  }

  /// Waits until all threads of this group have arrived.
  COHORT_FN void barrier() const { threads_.barrier(); }
  /// Thread `from`'s value, for every thread of the group.
  template <class T>
  [[nodiscard]] COHORT_FN T broadcast(T value, std::uint32_t from = 0) const {
    return threads_.broadcast(value, from);
  }
  /// The values of all threads of the group combined by an associative `op`, for every thread.
  template <class T, class Op>
  [[nodiscard]] COHORT_FN T reduce(T value, Op op) const {
    return threads_.reduce(value, op);
  }
  /// The values of the threads before this one combined by an associative `op`; `zero` for thread
  /// 0.
  template <class T, class Op>
  [[nodiscard]] COHORT_FN T exclusive_scan(T value, T zero, Op op) const {
    return threads_.exclusive_scan(value, zero, op);
  }
  /// Like exclusive_scan, but with this thread's value included.
  template <class T, class Op>
  [[nodiscard]] COHORT_FN T inclusive_scan(T value, Op op) const {
    return threads_.inclusive_scan(value, op);
  }

  /// Lets the scheduler remove this group. If it returns true, the group has left and must return
  /// from the kernel now.
  [[nodiscard]] COHORT_DETAIL_INLINE COHORT_FN bool offer_kill(const State& state) const {
    check_offer();
    if constexpr (role == Role::fixed) return false;
    return offer_kill_with(&state);
  }
  /// Like offer_kill(state), without a state to resume from. For kernels that transmit nothing or
  /// declare `suspendable = false`.
  [[nodiscard]] COHORT_DETAIL_INLINE COHORT_FN bool offer_kill() const {
    check_offer();
    static_assert(std::is_empty_v<State> || !traits.suspendable,
                  "cohort: offer_kill() without the state cannot be suspended. Pass the state: "
                  "offer_kill(state), or declare `suspendable = false` in the kernel's traits");
    if constexpr (role == Role::fixed) return false;
    if constexpr (std::is_empty_v<State>) return offer_kill(State{});
    return offer_kill_with(nullptr);
  }
  /// Lets the scheduler add groups, which call run() with `state`. Returns how many were added.
  COHORT_DETAIL_INLINE COHORT_FN std::uint32_t request_fork(  // NOLINT(modernize-use-nodiscard)
      const State& state) const {
    check_offer();
    if constexpr (role == Role::fixed) return 0;
    if (threads_.alone() && protocol::nobody_waits(*shared_)) [[likely]]
      return 0;
    const std::uint32_t forked = threads_.lead(Point::request_fork, [member = member_, &state] {
      return protocol::request_fork<P, traits>(*member, state);
    });
    if (forked == protocol::fork_gone) P::unwind();
    return forked;
  }
  /// offer_kill and request_fork in one primitive: the group's threads meet once. If it returns
  /// true, the group has left and must return now.
  [[nodiscard]] COHORT_DETAIL_INLINE COHORT_FN bool offer(const State& state) const {
    check_offer();
    if constexpr (role == Role::fixed) return false;
    if (calm(true)) [[likely]]
      return false;
    return left(threads_.lead(Point::offer, [member = member_, &state] {
      const bool nobody = protocol::nobody_waits(member->shared);  // overlaps the next loads
      const Verdict verdict = protocol::offer_kill<P, traits>(*member, &state);
      if (verdict != Verdict::stay || nobody) return verdict;
      const std::uint32_t forked =
          protocol::request_fork_slowly<P, traits>(*member, state, protocol::Entry::run);
      return forked == protocol::fork_gone ? Verdict::leave : Verdict::stay;
    }));
  }

  /// Waits until all threads of all active groups have arrived. Writes before the barrier are
  /// visible after it.
  COHORT_FN void global_barrier() const {
    static_assert(dense,
                  "cohort: global_barrier() in a kernel of KillOrder::any: groups come and go in "
                  "any order, so there is no set of groups to wait for. Declare "
                  "KillOrder::highest_first");
    const protocol::Place<P> place = stand(protocol::Kind::plain);
    const Verdict verdict = threads_.lead(Point::global_barrier, [member = member_, &place] {
      return protocol::global_barrier<P, barrier_traits>(*member, place);
    });
    if (verdict != Verdict::stay) P::unwind();
  }
  /// A global barrier during which M may change to anything from 1 to N. If it returns true, this
  /// group has left and must return now. Joining groups call run() with `state`. So advance the
  /// state before the barrier, not in the head of a for loop, which runs after it:
  ///
  ///     while (state.i < n) {
  ///       for (const std::size_t k : group.stride(count)) ...  // ask again in each iteration
  ///       ++state.i;  // a joining group starts with the next iteration
  ///       if (group.resizing_global_barrier(state)) return;
  ///     }
  [[nodiscard]] COHORT_FN bool resizing_global_barrier(const State& state) const {
    check_resizing();
    static_cast<void>(probe_.offer(*member_));
    const protocol::Place<P> place = stand(protocol::Kind::resizing);
    return left(threads_.lead(Point::resizing_global_barrier, [member = member_, &place, &state] {
      return cross(*member, place, state);
    }));
  }

  /// How many groups the scheduler wants to remove.
  [[nodiscard]] COHORT_FN std::uint32_t query() const {
    if constexpr (role == Role::fixed) return 0;
    const std::uint32_t wanted = threads_.lead(Point::query, [member = member_] {
      const protocol::Roster now = member->shared.look();
      if (member->left) {
        protocol::break_contract(*member, protocol::Fault::used_after_leaving);
        return protocol::fork_gone;
      }
      if (now.faulted()) {
        protocol::abandon(*member);
        return protocol::fork_gone;
      }
      const std::uint32_t target = member->shared.target();
      return now.active() > target ? now.active() - target : 0U;
    });
    if (wanted == protocol::fork_gone) P::unwind();
    return wanted;
  }

  /// The barrier of the step driver: a resizing barrier that carries each thread's vote. The step
  /// has already returned, so a group that has to leave can simply return too.
  [[nodiscard]] COHORT_FN Verdict next_step(const State& state, Next vote) const {
    check_resizing();
    static_cast<void>(probe_.offer(*member_));
    const protocol::Place<P> place = stand(protocol::Kind::resizing);
    return threads_.lead_any(Point::resizing_global_barrier, vote != Next::halt,
                             [member = member_, &place, &state](bool any_again) {
                               protocol::vote(place, any_again);
                               return cross(*member, place, state);
                             });
  }

 private:
  static constexpr bool dense =
      traits.kill_order == KillOrder::highest_first || role == Role::setup;
  // With cooperation compiled out, M never changes, so the self-flipping barrier serves every
  // kernel.
  static constexpr Traits barrier_traits = [] {
    Traits result = traits;
    if (role == Role::fixed) {
      result.resizes = Resizes::at_barriers;
      result.barrier = ResizingBarrier::one_pass;
    }
    return result;
  }();

  static COHORT_FN constexpr void check_offer() {
    static_assert(role != Role::setup,
                  "cohort: setup() may not offer or fork: only the first groups run it, and all of "
                  "them must reach its "
                  "end. Put the offer into run()");
    static_assert(
        traits.resizes == Resizes::anywhere || role == Role::setup,
        "cohort: offer_kill and request_fork in a kernel that resizes at barriers only. Declare "
        "`resizes = Resizes::anywhere`, or use resizing_global_barrier");
  }

  static COHORT_FN constexpr void check_resizing() {
    static_assert(dense,
                  "cohort: resizing_global_barrier() in a kernel of KillOrder::any: use offer_kill "
                  "and request_fork, or "
                  "declare KillOrder::highest_first");
    static_assert(role != Role::setup,
                  "cohort: setup() may not resize: use global_barrier() there");
  }

  /// The leader's part of a resizing barrier.
  static COHORT_FN Verdict cross(Member& member, const protocol::Place<P>& place,
                                 const State& state) {
    if constexpr (role == Role::fixed) {
      static_cast<void>(state);  // unused in a static launch
      const Verdict verdict = protocol::global_barrier<P, barrier_traits>(member, place);
      return protocol::goes_on(place) ? verdict : Verdict::halt;
    } else {
      return protocol::resizing_barrier<P, traits>(member, place, state);
    }
  }

  COHORT_FN protocol::Place<P> stand(protocol::Kind kind) const {
    return {*shared_, *member_, kind, Contract<Kernel>::step_style,
            protocol::steady<barrier_traits>};
  }

  /// Quick check whether an offer has nothing to do: this group may stay and, for an offer that
  /// `forks`, no group waits to be forked.
  COHORT_DETAIL_INLINE COHORT_FN bool calm(bool forks) const {
    if constexpr (requires { threads_.calm(*member_); }) {
      return threads_.calm(*member_);
    } else {
      return !probe_.offer(*member_) && protocol::calm<P, traits>(*shared_, *member_) &&
             (!forks || protocol::nobody_waits(*shared_));
    }
  }

  COHORT_DETAIL_INLINE COHORT_FN bool offer_kill_with(const State* state) const {
    if (calm(false)) [[likely]]
      return false;
    return left(threads_.lead(Point::offer_kill, [member = member_, state] {
      return protocol::offer_kill<P, traits>(*member, state);
    }));
  }

  COHORT_FN bool left(Verdict verdict) const {
    if (verdict == Verdict::gone) P::unwind();
    return verdict == Verdict::leave;
  }

  protocol::Shared<P>* shared_;
  Member* member_;
  Local* local_;
  Threads threads_;
  typename P::Probe probe_;
};

}  // namespace cohort
