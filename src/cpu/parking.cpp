// The sleeping half of Event. It uses futexes, since std::atomic::wait neither waits for 64-bit
// words nor supports a deadline.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "cohort/platform/cpu.hpp"

namespace cohort::cpu {
namespace {

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                const timespec* limit) noexcept {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, limit,
            nullptr, 0);
}

}  // namespace

void Event::yield() noexcept { ::sched_yield(); }

void Event::sleep(std::uint32_t ticket) noexcept { futex_wait(epoch_, ticket, nullptr); }

void Event::sleep_for(std::uint32_t ticket, std::uint64_t nanoseconds) noexcept {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec limit{static_cast<std::time_t>(nanoseconds / second),
                       static_cast<long>(nanoseconds % second)};
  futex_wait(epoch_, ticket, &limit);
}

void Event::wake() noexcept {
  // Pairs with announce(): tickets drawn before this are stale.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&epoch_), FUTEX_WAKE_PRIVATE, INT_MAX,
            nullptr, nullptr, 0);
}

}  // namespace cohort::cpu
