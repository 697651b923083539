// The explorer's engine, and the loop of check(): runs one schedule after another, until one fails
// or all have been tried.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "cohort/explore.hpp"
#include "cpu/memory.hpp"
#include "engine/faults.hpp"

namespace cohort::explore {

namespace detail {

std::string describe(protocol::FaultRecord fault) { return protocol::describe(fault); }

/// Memory that registers the names of its buffers with the world.
class WatchedMemory final : public cpu::HostMemory {
 public:
  /// Starts a new schedule.
  void begin(World& world) {
    world_ = &world;
    buffers_ = 0;
  }
  void touch(void* memory, std::size_t bytes) override { std::memset(memory, 0xA5, bytes); }
  void announce(const void* memory, std::size_t bytes, std::size_t element,
                std::string_view name) override {
    const std::uint32_t number = buffers_++;
    world_->name(memory, bytes, element,
                 name.empty() ? "buffer " + std::to_string(number) : std::string{name},
                 World::Owner::kernel);
  }

 private:
  World* world_ = nullptr;  // not locked, because only one engine uses it
  std::uint32_t buffers_ = 0;
};

std::string show_roster(std::uint64_t word) {
  const protocol::Roster roster{word};
  std::ostringstream out;
  out << "M " << roster.active();
  if (roster.biased()) {
    out << ", counting down to the end of " << roster.gen();
  } else {
    out << ", " << roster.arrived() << (roster.draining() ? " returned" : " arrived at ");
    if (!roster.draining()) out << roster.gen();
  }
  if (roster.gathering()) out << ", check-in";
  if (roster.faulted()) out << ", FAULT";
  return out.str();
}

}  // namespace detail

/// The job of an engine. wait() runs the job.
class Engine::Ticket final : public cohort::detail::JobControl {
 public:
  explicit Ticket(Engine& engine) : engine_(engine) {}

  Status wait_until(std::optional<std::chrono::steady_clock::time_point> /*deadline*/) override {
    if (!done_) {
      done_ = true;
      engine_.run();
      const World& world = *engine_.world_;
      engine_.result_.schedules = 1;
      engine_.result_.steps = world.steps();
      engine_.result_.ok = world.failure().empty();
      if (!world.failure().empty()) {
        engine_.result_.replay = world.schedule();
        engine_.result_.seed = world.seed();
        engine_.result_.failure = world.failure();
        engine_.result_.timeline = world.timeline();
      }
    }
    return engine_.result_.ok ? engine_.session_->status : Status::failed;
  }
  void cancel() override {}
  Status suspend() override { refuse("suspend"); }
  void resume() override { refuse("resume"); }
  void checkpoint(const std::filesystem::path& /*file*/) const override { refuse("checkpoint"); }
  void set_target(std::optional<std::uint32_t> groups) override {
    if (groups) engine_.set_target(Job{std::make_shared<Ticket>(engine_)}, *groups);
  }
  [[nodiscard]] Report report() const override {
    Report report;
    report.status = !done_               ? Status::pending
                    : engine_.result_.ok ? engine_.session_->status
                                         : Status::failed;
    report.joins = engine_.session_->joins;
    report.leaves = engine_.session_->leaves;
    report.error = engine_.result_.failure;
    return report;
  }
  void rethrow() const override { throw Error{Errc::broken_contract, engine_.result_.text()}; }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    throw Error{Errc::unsupported,
                "explore: " + what + " from outside; give Options::host a function that calls it"};
  }
  Engine& engine_;
  bool done_ = false;
};

Engine::Engine(Options options)
    : Engine(std::move(options), std::make_shared<detail::WatchedMemory>()) {}

Engine::Engine(Options options, std::shared_ptr<detail::WatchedMemory> memory)
    : BufferFactory(memory),
      options_(std::move(options)),
      world_(std::make_unique<World>(options_)),
      memory_(std::move(memory)) {
  if (options_.capacity == 0 || options_.local_size == 0) {
    throw Error{Errc::bad_options, "explore: capacity and local_size must be at least 1"};
  }
  if (!options_.replay.empty()) world_->follow(options_.replay);
  world_->log(true);
  begin();
}

Engine::~Engine() = default;

Options Engine::options_for(const LaunchOptions& launch) const {
  Options with = options_;
  if (launch.max_groups) with.max_groups = launch.max_groups;
  if (launch.start_groups) with.start_groups = launch.start_groups;
  if (launch.local_size) with.local_size = *launch.local_size;
  if (!with.max_groups) with.max_groups = with.capacity;
  return with;
}

std::shared_ptr<cohort::detail::JobControl> Engine::ticket() {
  return std::make_shared<Ticket>(*this);
}

void Engine::before_step(std::uint32_t step, std::function<void()> action) {
  pins_.before_step.emplace_back(step, std::move(action));
}

void Engine::set_target(const Job& /*job*/, std::uint32_t groups) {
  session_->set_target(groups);
  session_->wait_for_joiners();
}

std::string Engine::replay() const { return world_->schedule(); }

void Engine::begin() {
  memory_->begin(*world_);
  world_->begin();
}

void Engine::run() { session_->run(); }

namespace detail {
namespace {

/// The kind of a failure: its sentence up to the first colon or number.
std::string kind(const std::string& failure) {
  return failure.substr(0, failure.find_first_of(":0123456789"));
}

/// Shortens a failing list of choices: replaces unusual choices by usual ones, in ever smaller
/// pieces, as long as the run still fails with the same kind of failure.
std::vector<std::uint8_t> shrink(
    std::vector<std::uint8_t> choices, const std::string& failure,
    const std::function<std::string(const std::vector<std::uint8_t>&, std::vector<std::uint8_t>&)>&
        fails) {
  std::uint32_t attempts = 600;
  const auto unusual = [](const std::vector<std::uint8_t>& list) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] != World::usual) places.push_back(i);
    }
    return places;
  };
  std::size_t piece = std::max<std::size_t>(unusual(choices).size() / 2, 1);
  for (;;) {
    bool shorter = false;
    for (std::size_t at = 0;;) {
      const std::vector<std::size_t> places = unusual(choices);
      if (at >= places.size() || attempts == 0) break;
      std::vector<std::uint8_t> without = choices;
      for (std::size_t i = at; i < std::min(at + piece, places.size()); ++i) {
        without[places[i]] = World::usual;
      }
      --attempts;
      std::vector<std::uint8_t> made;
      if (kind(fails(without, made)) == kind(failure) && unusual(made).size() < places.size()) {
        choices = std::move(made);
        shorter = true;
      } else {
        at += piece;
      }
    }
    if (attempts == 0 || (piece == 1 && !shorter)) return choices;
    if (piece > 1) piece /= 2;
  }
}

}  // namespace

Result explore(const Options& options, const Trial& trial) {
  Result result;
  std::vector<std::uint8_t> failing;
  {
    Engine engine{options};
    World& world = engine.world();
    world.log(false);
    bool more = true;
    while (more && (options.schedules == 0 || result.schedules < options.schedules)) {
      engine.begin();
      std::string wrong = trial(engine);
      ++result.schedules;
      if (!wrong.empty()) {
        result.ok = false;
        result.failure = std::move(wrong);
        result.seed = world.seed();
        failing = world.choices();
        break;
      }
      more = world.next();
    }
    result.steps = world.steps();
    result.complete = !more && options.search == Search::exhaustive;
  }
  if (result.ok) return result;

  Options again = options;
  again.replay.assign(1, '0');
  Engine engine{again};
  World& world = engine.world();
  const auto fails = [&](const std::vector<std::uint8_t>& choices,
                         std::vector<std::uint8_t>& made) {
    world.follow(choices);
    engine.begin();
    std::string wrong = trial(engine);
    made = world.choices();
    return wrong;
  };
  world.log(false);
  if (options.shrink) failing = shrink(failing, result.failure, fails);
  world.log(true);
  std::vector<std::uint8_t> made;
  const std::string seen = fails(failing, made);
  if (!seen.empty()) result.failure = seen;
  result.replay = world.schedule();
  result.timeline = world.timeline();
  return result;
}

}  // namespace detail
}  // namespace cohort::explore
