#include "explore/tenants_scenarios.hpp"

#include <array>
#include <bit>
#include <deque>
#include <ostream>

#include "cohort/explore/world.hpp"
#include "cohort/protocol/tenant.hpp"

namespace cohort::test {
namespace {

using explore::World;

/// Thrown when the process of the running thread is killed.
struct Killed {};

/// Called before each store and notification.
thread_local std::function<void()> may_die;  // NOLINT: set for one run

/// The explorer's platform, on which processes die between two stores.
struct Platform : explore::Platform {
  template <class T>
  struct Atomic : explore::Atomic<T> {
    using explore::Atomic<T>::Atomic;
    void store(T value, Order order) {
      may_die();
      explore::Atomic<T>::store(value, order);
    }
  };
  static void notify(explore::Event& event) {
    may_die();
    explore::Platform::notify(event);
  }
};

using Demand = protocol::Demand;
using Grant = protocol::Grant<1>;
using Flag = explore::Atomic<std::uint32_t>;

/// A connection, as the operating system handles it.
struct Socket {
  Flag hello;   // the tenant has connected
  Flag seated;  // the engine has given it a slot
  Flag closed;  // the tenant has gone
  Flag gone;    // the engine has gone
  explore::Event answered;
  protocol::DemandPage<Platform> demand;
  protocol::GrantPage<Platform, 1> grant;
  std::vector<Grant> published{Grant{}};  // all answers, for the test's checks
};

/// An engine process, from its start to its end.
struct Life {
  explicit Life(std::uint32_t tenants) : sockets(tenants) {}
  std::vector<Socket> sockets;
  explore::Event bell;
  // Plain memory; only the user of a unit touches the unit's word.
  std::array<std::uint32_t, 4> units{};
};

class TenantsRun {
 public:
  TenantsRun(World& world, const TenantsStory& story) : world_(world), story_(story) {
    lives_.emplace_back(story.tenants);
    if (story.engine_dies) lives_.emplace_back(story.tenants);
  }

  void run() {
    may_die = [this] { decide_death(); };
    // The engine is thread 0, then come the tenants, and then the child of tenant 0.
    world_.spawn(
        0, "engine", [](void* self) { static_cast<TenantsRun*>(self)->engine(); }, this);
    for (std::uint32_t i = 0; i < story_.tenants; ++i) {
      starts_.push_back({this, i});
      world_.spawn(
          1 + i, "tenant",
          [](void* at) { static_cast<Start*>(at)->run->tenant(static_cast<Start*>(at)->tenant); },
          &starts_.back());
    }
    if (story_.late_write) {
      world_.spawn(
          1 + story_.tenants, "child", [](void* self) { static_cast<TenantsRun*>(self)->child(); },
          this);
    }
    world_.go();
    may_die = nullptr;
    if (!world_.failure().empty()) return;
    const std::uint32_t expected = (story_.tenants - (tenant_died_ ? 1 : 0)) *
                                   static_cast<std::uint32_t>(story_.leases.size());
    if (met_ < expected) world_.fail("a lease was never met");
  }
  [[nodiscard]] bool died() const { return tenant_died_ || engine_died_; }

 private:
  struct Start {
    TenantsRun* run;
    std::uint32_t tenant;
  };
  /// A slot, as the engine knows it.
  struct Seat {
    Socket* socket = nullptr;
    Socket* pages = nullptr;
    Demand demand;
    Grant grant;
  };

  void decide_death() {
    if (dying_) return;
    const std::uint32_t thread = world_.running();
    bool& died = thread == 0 ? engine_died_ : tenant_died_;
    const bool mortal = thread == 0 ? story_.engine_dies : thread == 1 && story_.tenant_dies;
    if (!mortal || died || world_.choose(8) != 1) return;
    died = true;
    throw Killed{};
  }

  // ---- The engine

  void engine() {
    try {
      serve(lives_.front());
    } catch (const Killed&) {
      // When the engine dies, the system closes its sockets.
      for (Socket& each : lives_.front().sockets) {
        each.gone.store(1, Order::release);
        explore::Platform::notify(each.answered);
      }
      serve(lives_.back());
    }
  }

  void serve(Life& life) {
    std::vector<Seat> seats(story_.slots);
    std::vector<std::uint32_t> state(story_.tenants, 0);  // 1: connected, 2: had a seat, 3: gone
    std::uint32_t used = 0;                               // units on loan, as bits
    const auto news = [&] {
      for (std::uint32_t i = 0; i < story_.tenants; ++i) {
        if (state[i] == 0 && life.sockets[i].hello.load(Order::acquire) != 0) return true;
        if (state[i] != 3 && life.sockets[i].closed.load(Order::acquire) != 0) return true;
      }
      for (const Seat& seat : seats) {
        if (seat.socket == nullptr) continue;
        const Demand now = protocol::look(seat.pages->demand, story_.units);
        if (now.word() != seat.demand.word()) return true;
      }
      return false;
    };
    for (std::uint32_t over = 0; over < story_.tenants;) {
      explore::Platform::await(life.bell, news);
      for (std::uint32_t i = 0; i < story_.tenants; ++i) {
        Socket& socket = life.sockets[i];
        if (state[i] == 0 && socket.hello.load(Order::acquire) != 0) state[i] = 1;
        if (state[i] == 3 || socket.closed.load(Order::acquire) == 0) continue;
        for (Seat& seat : seats) {
          if (seat.socket != &socket) continue;
          take_back(life, seat, 0, used);
          seat.socket = nullptr;
        }
        state[i] = 3;
        ++over;
      }
      for (Seat& seat : seats) {
        for (std::uint32_t i = 0; i < story_.tenants && seat.socket == nullptr; ++i) {
          if (state[i] != 1) continue;
          state[i] = 2;
          const bool again = story_.reuses_pages && seat.pages != nullptr;
          seat = {.socket = &life.sockets[i],
                  .pages = again ? seat.pages : &life.sockets[i],
                  .demand = {},
                  .grant = {}};
          page_of_[i] = seat.pages;
          life.sockets[i].seated.store(1, Order::release);
          Platform::notify(life.sockets[i].answered);
        }
      }
      for (Seat& seat : seats) {
        if (seat.socket != nullptr) arrange(life, seat, used);
      }
    }
    if (used != 0) world_.fail("units of tenants that have gone did not come back");
  }

  void arrange(Life& life, Seat& seat, std::uint32_t& used) {
    seat.demand = protocol::look(seat.pages->demand, story_.units);
    if (seat.demand.units > story_.units) world_.fail("the engine believes a demand too large");
    std::uint32_t limit = seat.demand.units;
    const auto held = static_cast<std::uint32_t>(std::popcount(seat.grant.cpus[0]));
    const auto free = story_.units - static_cast<std::uint32_t>(std::popcount(used));
    limit = std::min(limit, held + free);
    if (story_.revokes && limit > 1 && world_.choose(2) == 1) limit = 1;
    if (limit < held) take_back(life, seat, limit, used);
    std::uint64_t bits = seat.grant.cpus[0];
    for (std::uint32_t unit = 0; unit < story_.units; ++unit) {
      if (static_cast<std::uint32_t>(std::popcount(bits)) >= limit) break;
      if ((used >> unit & 1U) != 0) continue;
      use(life, unit);  // the last use of the unit by a group of the job
      used |= 1U << unit;
      bits |= std::uint64_t{1} << unit;
    }
    tell(seat, limit, bits);
  }

  void tell(Seat& seat, std::uint32_t limit, std::uint64_t bits) {
    const Grant grant{.serial = seat.demand.serial,
                      .limit = limit,
                      .units = static_cast<std::uint32_t>(std::popcount(bits)),
                      .cpus = {bits}};
    if (grant == seat.grant) return;
    seat.grant = grant;
    seat.pages->published.push_back(grant);
    protocol::publish(seat.pages->grant, grant, seat.pages->answered);
  }

  void take_back(Life& life, Seat& seat, std::uint32_t limit, std::uint32_t& used) {
    const std::uint64_t before = seat.grant.cpus[0];
    std::uint64_t bits = before;
    while (static_cast<std::uint32_t>(std::popcount(bits)) > limit) bits &= bits - 1;
    if (limit != 0) tell(seat, limit, bits);
    seat.grant.cpus[0] = bits;
    for (std::uint32_t unit = 0; unit < story_.units; ++unit) {
      if (((before & ~bits) >> unit & 1U) == 0) continue;
      used &= ~(1U << unit);
      if (!story_.revokes) use(life, unit);  // after a revoke, the tenant may still be there
    }
  }

  /// Marks that the running thread uses a unit. If a unit has two users, the explorer reports a
  /// race.
  static void use(Life& life, std::uint32_t unit) {
    explore::Platform::watch(&life.units[unit], true);
  }

  // ---- Tenants

  void tenant(std::uint32_t number) {
    std::uint32_t done = 0;
    for (Life& life : lives_) {
      Socket& socket = life.sockets[number];
      socket.hello.store(1, Order::release);
      explore::Platform::notify(life.bell);
      try {
        if (done < story_.leases.size()) borrow(life, number, done);
      } catch (const Killed&) {
        done = static_cast<std::uint32_t>(story_.leases.size());
      }
      socket.closed.store(1, Order::release);  // the tenant closes it, or the system does
      explore::Platform::notify(life.bell);
    }
  }

  void borrow(Life& life, std::uint32_t number, std::uint32_t& done) {
    Socket& socket = life.sockets[number];
    const auto gone = [&] { return socket.gone.load(Order::acquire) != 0; };
    explore::Platform::await(socket.answered,
                             [&] { return socket.seated.load(Order::acquire) != 0 || gone(); });
    if (gone()) return;
    Socket& pages = *page_of_[number];
    for (std::uint32_t serial = 0; done < story_.leases.size();) {
      const std::uint32_t units = story_.leases[done];
      protocol::ask(pages.demand, Demand{.units = units, .serial = ++serial}, life.bell);
      std::optional<Grant> grant;
      explore::Platform::await(pages.answered, [&] {
        grant = protocol::read(pages.grant);
        if (grant && !known(pages, *grant)) world_.fail("an answer was read that was never given");
        if (grant && grant->serial > serial)
          world_.fail("a demand was answered before it was made");
        return (grant && grant->answers(serial) && grant->units != 0 && grant->settled()) || gone();
      });
      if (!grant || !grant->answers(serial) || grant->units == 0) return;  // the engine is gone
      if (grant->units > units) world_.fail("a tenant got more units than it asked for");
      for (std::uint32_t unit = 0; unit < story_.units && !story_.revokes; ++unit) {
        if ((grant->cpus[0] >> unit & 1U) != 0) use(life, unit);
      }
      ++done;
      ++met_;
      protocol::ask(pages.demand, Demand{.units = 0, .serial = ++serial}, life.bell);
    }
  }

  static bool known(const Socket& pages, const Grant& grant) {
    return std::find(pages.published.begin(), pages.published.end(), grant) !=
           pages.published.end();
  }

  /// A child process of tenant 0, which still has the tenant's pages.
  void child() {
    Life& life = lives_.front();
    Socket& socket = life.sockets[0];
    explore::Platform::await(life.bell, [&] { return socket.closed.load(Order::acquire) != 0; });
    dying_ = true;  // the child itself does not die
    protocol::ask(socket.demand, Demand{.units = 2, .serial = 77}, life.bell);
  }

  World& world_;
  const TenantsStory& story_;
  std::deque<Life> lives_;
  std::deque<Start> starts_;
  std::array<Socket*, 4> page_of_{};
  bool tenant_died_ = false;
  bool engine_died_ = false;
  bool dying_ = false;
  std::uint32_t met_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const TenantsStory& story) { return out << story.name; }

const std::vector<TenantsStory>& tenants_stories() {
  static const std::vector<TenantsStory> stories{
      {.name = "one tenant", .tenants = 1, .slots = 1, .leases = {1, 2}},
      {.name = "more than there is", .tenants = 1, .slots = 1, .leases = {9, ~0U}},
      {.name = "two slots", .tenants = 2, .slots = 2, .leases = {1, 1}},
      {.name = "units are taken back", .tenants = 1, .slots = 1, .leases = {2, 2}, .revokes = true},
      {.name = "a slot is handed over", .tenants = 3, .slots = 1, .leases = {2}},
      {.name = "a tenant dies",
       .tenants = 2,
       .slots = 1,
       .leases = {1, 2},
       .tenant_dies = true,
       .late_write = true},
      {.name = "the engine dies", .tenants = 2, .slots = 1, .leases = {1, 2}, .engine_dies = true},
  };
  return stories;
}

explore::Result explore_tenants(const TenantsStory& story, const explore::Options& options) {
  explore::Result result;
  World world{options};
  std::uint64_t deaths = 0;
  for (bool more = true; more && result.schedules < options.schedules;) {
    world.begin();
    TenantsRun run{world, story};
    run.run();
    ++result.schedules;
    if (!world.failure().empty()) {
      result.ok = false;
      result.failure = world.failure();
      result.seed = world.seed();
      result.replay = world.schedule();
      return result;
    }
    deaths += run.died() ? 1 : 0;
    more = world.next();
  }
  if ((story.tenant_dies || story.engine_dies) && deaths < result.schedules / 10) {
    result.ok = false;
    result.failure = "only " + std::to_string(deaths) + " processes died";
  }
  return result;
}

}  // namespace cohort::test
