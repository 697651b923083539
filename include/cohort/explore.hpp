// The explorer: runs a kernel, with the same protocol code as every engine, under schedules that it
// chooses, and checks each run.
// Invariant: a run is a function of the kernel and the schedule, so every finding can be
// reproduced.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cohort/buffer.hpp"
#include "cohort/error.hpp"
#include "cohort/explore/options.hpp"
#include "cohort/explore/session.hpp"
#include "cohort/explore/world.hpp"
#include "cohort/job.hpp"

namespace cohort::explore {

namespace detail {
class WatchedMemory;
}

/// Runs cooperative kernels under one schedule after another. The threads of all groups are fibres
/// of the calling thread. Launch one kernel, then wait for it: that runs it under the seed's
/// schedule. wait() throws Error{broken_contract} with the whole report if anything was wrong.
///
/// Memory that a kernel has to set before it reads it (allocate) holds a pattern until then.
class Engine : public cohort::detail::BufferFactory {
 public:
  explicit Engine(Options options = {});
  ~Engine();

  template <class Kernel>
  Job launch(Kernel kernel, const LaunchOptions& launch = {}) {
    const Options with = options_for(launch);
    session_ =
        launch.resizable
            ? detail::make_session<Platform, Kernel, protocol::Role::member>(*world_, kernel, with)
            : detail::make_session<Platform, Kernel, protocol::Role::fixed>(*world_, kernel, with);
    session_->pins = &pins_;
    session_->tracer = launch.tracer;
    if (launch.target) session_->first_target = launch.target;
    return Job{ticket()};
  }

  /// Step kernels only. Calls `action` when group 0 is about to end the step before `step`.
  /// Requests that `action` makes of the scheduler are in place at the barrier between the two
  /// steps.
  void before_step(std::uint32_t step, std::function<void()> action);
  /// Sets the job's target from now on. Only for actions of before_step. When this returns, groups
  /// that are about to join are in the lobby.
  void set_target(const Job& job, std::uint32_t groups);
  /// The schedule that was run, in the format of Options::replay.
  [[nodiscard]] std::string replay() const;
  /// What was wrong in that schedule, with its timeline. Empty if nothing was.
  [[nodiscard]] const Result& result() const { return result_; }

  [[nodiscard]] std::uint32_t capacity() const { return options_.capacity; }

  /// Used by check(): begins a new schedule, sets its contents, and runs it.
  World& world() { return *world_; }
  void begin();
  template <class P, class Kernel>
  void prepare(const Kernel& kernel) {
    session_ = detail::make_session<P, Kernel, protocol::Role::member>(*world_, kernel, options_);
  }
  void run();
  [[nodiscard]] const detail::Session* session() const { return session_.get(); }

 private:
  class Ticket;

  [[nodiscard]] Options options_for(const LaunchOptions& launch) const;
  std::shared_ptr<cohort::detail::JobControl> ticket();

  explicit Engine(Options options, std::shared_ptr<detail::WatchedMemory> memory);

  Options options_;
  std::unique_ptr<World> world_;
  std::shared_ptr<detail::WatchedMemory> memory_;
  std::unique_ptr<detail::Session> session_;
  detail::Pins pins_;
  Result result_;
};

/// The end of a run in which nothing went wrong.
struct Outcome {
  Status status = Status::finished;
  std::uint32_t joins = 0;
  std::uint32_t leaves = 0;
};

namespace detail {

/// One schedule of an exploration: sets everything up, runs it and judges it. Returns what is
/// wrong; empty if nothing is.
using Trial = std::function<std::string(Engine& engine)>;
[[nodiscard]] Result explore(const Options& options, const Trial& trial);

template <class Oracle>
std::string ask(Oracle& oracle, const Outcome& outcome) {
  const auto call = [&] {
    if constexpr (std::is_invocable_v<Oracle&, const Outcome&>) {
      return oracle(outcome);
    } else {
      return oracle();
    }
  };
  using Answer = decltype(call());
  if constexpr (std::is_same_v<Answer, bool>) {
    return call() ? std::string{} : "the result is wrong";
  } else if constexpr (std::is_convertible_v<Answer, std::string>) {
    return call();
  } else {
    return call().value_or(std::string{});
  }
}

}  // namespace detail

/// Explores the schedules of a kernel. `make(engine)` makes the kernel and its memory anew for each
/// schedule. `oracle(outcome)` or `oracle()` judges each run that has finished. It returns a bool,
/// a string that says what is wrong, or an optional string. Use the result in a test: `const auto
/// result = explore::check(...); EXPECT_TRUE(result.ok) << result;` `check<FencedPlatform>(...)`
/// uses the protocol's branches for GPUs.
template <class P = Platform, class Make, class Oracle>
[[nodiscard]] Result check(Make make, Oracle oracle, const Options& options = {}) {
  return detail::explore(options, [&](Engine& engine) {
    engine.prepare<P>(make(engine));
    engine.run();
    const detail::Session& session = *engine.session();
    if (!engine.world().failure().empty()) return engine.world().failure();
    if (session.status != Status::finished) return std::string{};
    return detail::ask(oracle, {session.status, session.joins, session.leaves});
  });
}

/// Explores a whole host program. `run(engine)` allocates, launches kernels one after another,
/// waits for each, and judges the results as an oracle does.
template <class Run>
[[nodiscard]] Result check_program(Run run, const Options& options = {}) {
  return detail::explore(options, [&](Engine& engine) {
    const auto judged = [&] { return run(engine); };
    try {
      const std::string wrong = detail::ask(judged, {});
      return engine.world().failure().empty() ? wrong : engine.world().failure();
    } catch (const Error& error) {
      if (error.code() == Errc::bad_options) throw;
      const std::string& failure = engine.world().failure();
      return failure.empty() ? std::string{error.what()} : failure;
    }
  });
}

}  // namespace cohort::explore
