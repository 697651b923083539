// The words that host and device share, as declared by protocol.cl and scheduler.cl. Invariant: the
// host compares the offsets with those of the device's compiler before it shares anything
// (Megakernel).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cohort/protocol/roster.hpp"
#include "cohort/protocol/shared.hpp"

namespace cohort::opencl {

using protocol::Fault;
using protocol::Roster;
using Word = std::atomic<std::uint32_t>;

static_assert(Word::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

struct Box {
  Word seat;
  std::uint32_t id;
  std::uint32_t gen;
  std::uint32_t entry;
};

struct Event {
  std::uint32_t what;
  std::uint32_t group;
  std::uint32_t active;
  std::uint32_t unit;
  std::uint64_t value;
};

enum Trait : std::uint32_t {
  kill_any = 1,
  may_all_leave = 2,
  fixed = 4,
  query_barrier = 8,
  plain_barrier = 16,
  modelled_barrier = 32
};

/// protocol::Shared, and the host's typed data.
struct Words {
  alignas(128) std::atomic<std::uint64_t> roster;
  Word vote[4];  // unused: kernels of the dialect have no steps

  alignas(128) Word share;
  Word flags;
  Word waiting;
  Word closed;
  Word serial;

  alignas(128) Word fork_lock;
  Word departing;
  Word deposit_gen;
  Word settled;
  Word kept;                         // named kept_flag in protocol.cl
  std::atomic<std::uint64_t> fault;  // a protocol::FaultRecord::word

  alignas(128) std::uint32_t which;
  std::uint32_t traits;
  std::uint32_t state_size;
  std::uint32_t state_stride;
  std::uint32_t max_groups;
  std::uint32_t quorum;
  std::uint64_t offer_polls;
  std::uint32_t restarted;
  Box* boxes;
  std::atomic<std::uint64_t>* free_ids;
  std::byte* deposit;
  std::byte* kept_state;  // named kept in protocol.cl
  std::byte* box_states;
  std::byte* arguments;
  Event* events;
  std::uint32_t event_limit;

  alignas(128) Word event_count;

  [[nodiscard]] Roster look() const {
    return {roster.load(std::memory_order_acquire)};  // pairs with the groups' releases
  }
};

/// One worker's orders and answers.
struct Desk {
  static constexpr std::uint32_t go_home = ~0U;
  enum How : std::uint32_t { sent, in_first, in_joined, done };
  enum Stay : std::uint32_t { refused, left, finished, ended };

  alignas(128) Word order;
  std::uint32_t first;
  std::uint32_t serial;
  Words* job;
  std::byte* state;
  std::uint32_t visit;  // only the scheduler group uses this field and the next two
  std::uint32_t at;
  std::uint32_t in;

  alignas(128) Word answer;
  std::uint32_t stay;
  std::uint32_t joined;
};

/// The host's claim for one job, from which the scheduler group decides, and the job's progress.
struct Context {
  alignas(128) Word start;
  Word most;
  std::uint32_t weight;
  std::uint32_t rigid;
  std::uint32_t serial;
  Words* job;

  alignas(128) Word inside;
  Word over;
  Word members;
  Word joins;
  Word leaves;
  std::uint32_t present;  // owned by the scheduler group, like the next members
  std::uint32_t starting;
  std::uint32_t claimed;
  std::uint32_t share;
};

struct Pool {
  static constexpr std::uint32_t gate_closed = 1U << 31U;

  Word gate;
  std::uint32_t census;
  std::uint32_t desk_count;
  Desk* desks;
  Context* contexts;
  std::uint32_t context_count;
  Word limit;
};

/// Ends the job for all groups, in the same way as protocol::raise.
inline void raise(Words& words, Fault fault) {
  std::uint64_t none = 0;
  const bool first = words.fault.compare_exchange_strong(none, protocol::FaultRecord{fault}.word,
                                                         std::memory_order_relaxed);
  words.roster.fetch_or(Roster::fault,
                        std::memory_order_acq_rel);  // pairs with the acquire polls of all waiters
  if (first) words.waiting.fetch_add(protocol::fault_waiting, std::memory_order_relaxed);
  words.closed.store(1, std::memory_order_release);  // pairs with the acquire load in the lobby
}

}  // namespace cohort::opencl
