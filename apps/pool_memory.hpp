// Pools of tasks in an engine's memory, and their options.
#pragma once

#include <bit>

#include "apps/pools.hpp"
#include "apps/run.hpp"
#include "apps/settings.hpp"
#include "cohort/buffer.hpp"

namespace cohort::apps {

/// Kind of pools, and the order in which groups are killed.
struct PoolOptions {
  enum class Kind : std::uint8_t { deque, mutex };

  Kind kind = Kind::deque;
  KillOrder order = KillOrder::highest_first;
  std::uint32_t room = 0;  ///< tasks per pool, rounded up to a power of two; 0: the app's default

  static PoolOptions from(Settings& settings) {
    PoolOptions result;
    result.kind = static_cast<Kind>(settings.choice("pools", {"deque", "mutex"}));
    result.order = static_cast<KillOrder>(settings.choice("kill", {"highest", "any"}));
    result.room = static_cast<std::uint32_t>(settings.number("pool-room", 0, 0, 1U << 30U));
    return result;
  }
};

/// The pools of a job.
class PoolMemory {
 public:
  template <class Engine>
  PoolMemory(Engine& engine, const RunOptions& options, const PoolOptions& how,
             std::uint32_t default_room)
      : pools_(most_groups(engine, options)),
        room_(std::bit_ceil(how.room == 0 ? default_room : how.room)),
        ends_(engine.template fill<PoolEnds>(pools_ + 1, PoolEnds{})),
        tasks_(engine.template fill<std::uint32_t>((std::size_t{pools_} + 1) * room_, 0)),
        progress_(engine.template fill<Progress>(1, Progress{})) {}

  /// Sets the amount of work to be done, and the number of places in use in the app's memory.
  void start(std::uint64_t left, std::uint32_t places) const {
    const Progress progress{.left = left, .error = 0, .next_place = places};
    progress_.write(std::span{&progress, 1});
  }
  /// Puts the first tasks into the pool of group 0. Call it before the launch.
  template <class Pools>
  void put(const std::vector<std::uint32_t>& tasks) const {
    if (tasks.size() > room_) {
      throw Error{Errc::bad_options, "pool-room=" + std::to_string(room_) +
                                         " is too small for the first tasks; give " +
                                         std::to_string(tasks.size()) + " or more"};
    }
    tasks_.write(tasks);
    PoolEnds ends{};
    ends.bottom = tasks.size();
    if (Pools::anybody_pushes) ends.top = tasks.size();
    ends_.write(std::span{&ends, 1});
  }
  template <class Pools>
  [[nodiscard]] Stealing<Pools> view() const {
    const bool overflow = !Pools::anybody_pushes;
    return {.pools = {ends_.data(), tasks_.data(), pools_, room_},
            .overflow = {ends_.data() + pools_, tasks_.data() + std::size_t{pools_} * room_,
                         overflow ? 1U : 0U, room_},
            .progress = progress_.data()};
  }
  [[nodiscard]] Progress progress() const { return progress_.read().front(); }
  /// Throws Error{out_of_memory} if the job stopped because its memory was full.
  void check(const std::string& app, const std::string& memory_option) const {
    switch (static_cast<Stop>(progress().error)) {
      case Stop::none: return;
      case Stop::pools_full:
        throw Error{Errc::out_of_memory,
                    app + ": all pools of tasks are full; give more than pool-room=" +
                        std::to_string(room_)};
      case Stop::memory_full: throw Error{Errc::out_of_memory, app + ": " + memory_option};
    }
  }

 private:
  std::uint32_t pools_;
  std::uint32_t room_;
  Buffer<PoolEnds> ends_;
  Buffer<std::uint32_t> tasks_;
  Buffer<Progress> progress_;
};

/// Calls `function.template operator()<Pools, order>()` with the types that `how` selects.
template <class Engine, class Function>
auto with_pools(const Engine& /*engine*/, const PoolOptions& how, Function function) {
  const bool any = how.order == KillOrder::any;
  if (how.kind == PoolOptions::Kind::mutex) {
    if constexpr (has_paper_variants<Engine>) {
      return any ? function.template operator()<MutexPools, KillOrder::any>()
                 : function.template operator()<MutexPools, KillOrder::highest_first>();
    } else {
      refuse_paper_variant();
    }
  }
  return any ? function.template operator()<DequePools, KillOrder::any>()
             : function.template operator()<DequePools, KillOrder::highest_first>();
}

}  // namespace cohort::apps
