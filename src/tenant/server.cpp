#include "tenant/server.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "cohort/error.hpp"
#include "tenant/status.hpp"

namespace cohort::tenant {
namespace {

using engine::now;

constexpr std::size_t most_connections = 352;  // each has two descriptors, of usually 1024
constexpr std::size_t most_queued = 256;
constexpr int most_accepted = 64;  // connections accepted before other events have their turn
constexpr int turn_ms = 50;        // how often the server decides which tenant has the next turn
constexpr int pause_ms = 100;      // pause when no descriptors are left

/// The cause of an epoll event: a connection's number, and which of its descriptors.
enum class Part : std::uint8_t { socket, doorbell, process };
constexpr std::uint64_t listener_tag = 0;
constexpr std::uint64_t bell_tag = 1;
constexpr std::uint64_t tag_of(std::uint64_t id, Part part) {
  return id << 2U | static_cast<std::uint64_t>(part);
}

Descriptor make_event() {
  Descriptor event{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!event.open())
    throw Error{Errc::unsupported,
                std::string{"tenants: cannot make an event: "} + std::strerror(errno)};
  return event;
}

}  // namespace

/// A tenant in a slot.
struct Server::Guest {
  const Connection* connection = nullptr;
  std::uint32_t slot = 0;
  Mapping demand_memory;
  Mapping grant_memory;
  Descriptor doorbell;
  Demand demand;   // the demand, as last read
  Grant grant;     // the grant, as last published
  double due = 0;  // its fair share
  double arrears = 0;
  std::uint32_t limit = 0;
  std::uint32_t lent = 0;  // number of units last passed to the lender
  std::uint64_t published_at = 0;
  std::uint64_t rise_at = 0;  // time at which the current, unmet demand was first seen
  std::uint64_t leases = 0;
  std::uint64_t held = 0;  // units held over time, in unit-nanoseconds
  Samples gather;

  [[nodiscard]] const DemandPage& demand_page() const {
    return *static_cast<const DemandPage*>(demand_memory.data());
  }
  [[nodiscard]] GrantPage& grant_page() const {
    return *static_cast<GrantPage*>(grant_memory.data());
  }
};

struct Server::Connection {
  Id id = 0;
  Peer peer;
  std::optional<Hello> hello;  // only of a tenant: its first message
  bool served = false;         // the caller has asked for something
  std::unique_ptr<Guest> guest;
};

Server::Server(engine::Dispatcher& dispatcher, std::unique_ptr<Lender> lender,
               const std::string& name)
    : dispatcher_(dispatcher),
      lender_(std::move(lender)),
      loans_(lender_->loans),
      claim_(name),
      started_at_(now()),
      poll_(::epoll_create1(EPOLL_CLOEXEC)),
      bell_(make_event()) {
  if (!poll_.open())
    throw Error{Errc::unsupported, std::string{"tenants: cannot poll: "} + std::strerror(errno)};
  watch(claim_.socket(), listener_tag);
  watch(bell_.get(), bell_tag, EPOLLET);
  loans_->came = [this](std::uint32_t slot) {
    if (guests_[slot] != nullptr) publish(*guests_[slot]);
  };
  // The program's signal handlers do not run in this thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread{[this] { serve(); }};
  } catch (const std::exception& error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error{Errc::unsupported, std::string{"tenants: cannot start a thread: "} + error.what()};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Server::~Server() {
  over_.store(true, std::memory_order_relaxed);  // the bell orders it
  lendable_changed();
  thread_.join();
  {
    const std::lock_guard lock{loans_->mutex};
    loans_->came = nullptr;
    guests_ = {};
  }
  for (const auto& [id, each] : connections_) ::shutdown(each->peer.socket.get(), SHUT_RDWR);
  // The lender's destructor takes all units back.
}

void Server::lendable_changed() noexcept { SharedPlatform::notify(bell_); }

void Server::watch(int descriptor, std::uint64_t tag, std::uint32_t trigger) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | trigger;
  event.data.u64 = tag;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
    throw Error{Errc::unsupported, std::string{"tenants: cannot watch: "} + std::strerror(errno)};
}

// ---- The thread

void Server::serve() {
  while (!over_.load(std::memory_order_relaxed)) {
    try {
      serve_once();
    } catch (const std::exception&) {
      // Out of memory. Wait, so that the tenants get their units later.
      ::poll(nullptr, 0, pause_ms);
      changed_ = true;
    }
  }
}

int Server::patience() const {
  if (full_) return pause_ms;
  return short_ ? turn_ms : -1;
}

void Server::serve_once() {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()),
                                 changed_ ? 0 : patience());
  changed_ = changed_ || short_;
  if (full_) {
    watch(claim_.socket(), listener_tag);
    full_ = false;  // only reached if watch() has not thrown
  }
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    if (tag == listener_tag) {
      accept();
      continue;
    }
    if (tag == bell_tag) {
      changed_ = true;
      continue;
    }
    const auto found = connections_.find(tag >> 2U);
    if (found == connections_.end()) continue;  // an earlier event has closed this connection
    Connection& caller = *found->second;
    switch (static_cast<Part>(tag & 3U)) {
      case Part::socket: hear(caller); break;
      // The doorbell is never read: the tenant shares it, and could make a read() block. It is
      // edge-triggered, so each write causes an event.
      case Part::doorbell: changed_ = true; break;
      case Part::process: close(caller.id); break;
    }
  }
  if (changed_) arrange();
}

void Server::accept() {
  for (int i = 0; i < most_accepted; ++i) {
    Descriptor socket{::accept4(claim_.socket(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!socket.open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // A tenant needs five descriptors. Closing a connection frees two.
      if ((errno == EMFILE || errno == ENFILE) && drop_callers(3)) continue;
      full_ = true;
      ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, claim_.socket(), nullptr);
      return;
    }
    auto peer = identify(std::move(socket));
    if (!peer) continue;
    if (connections_.size() >= most_connections && !drop_callers(1)) continue;
    const Id id = ++last_id_;
    auto caller = std::make_unique<Connection>();
    caller->id = id;
    caller->peer = std::move(*peer);
    watch(caller->peer.socket.get(), tag_of(id, Part::socket));
    if (caller->peer.process.open()) watch(caller->peer.process.get(), tag_of(id, Part::process));
    connections_.emplace(id, std::move(caller));
  }
}

/// Closes connections of callers that are not tenants: first the oldest ones that have asked for
/// nothing, then the oldest others. Returns false if there are none.
bool Server::drop_callers(int count) {
  bool any = false;
  for (; count > 0; --count) {
    auto oldest = std::find_if(connections_.begin(), connections_.end(),
                               [](const auto& each) { return !each.second->served; });
    if (oldest == connections_.end()) {
      oldest = std::find_if(connections_.begin(), connections_.end(),
                            [](const auto& each) { return !each.second->hello; });
    }
    if (oldest == connections_.end()) break;
    close(oldest->first);
    any = true;
  }
  return any;
}

/// Reads one message of a caller. Closes the connection if the message is invalid.
void Server::hear(Connection& caller) {
  Hello hello;
  const Received received = receive(caller.peer.socket, &hello, sizeof hello);
  if (received.what == Received::What::nothing) return;
  if (received.what == Received::What::end) {
    close(caller.id);
    return;
  }
  if (!well_formed(received, hello)) {
    const bool old = received.bytes >= sizeof hello.magic && hello.magic == magic;
    refuse(caller, old ? "the engine speaks version " + std::to_string(wire_version) +
                             " of the protocol, and the tenant another one"
                       : "that is not a message of a tenant");
    return;
  }
  caller.served = true;
  if (hello.kind == Kind::status && !caller.hello) {
    const std::string text = status();
    if (!send(caller.peer.socket, text.data(), text.size())) close(caller.id);
    return;
  }
  if (hello.kind == Kind::capacity && !caller.hello) {
    set_capacity(caller, hello.weight);
    return;
  }
  if (hello.kind != Kind::tenant || caller.hello) {
    refuse(caller, "an unknown request");
    return;
  }
  welcome(caller, hello);
}

void Server::refuse(Connection& caller, const std::string& why) {
  Reply reply;
  put(reply.engine, claim_.name());
  put(reply.text, why);
  send(caller.peer.socket, &reply, sizeof reply);
  close(caller.id);
}

/// Like the engine's own set_capacity(): jobs follow at their resizing points.
void Server::set_capacity(Connection& caller, std::uint32_t units) {
  try {
    dispatcher_.set_capacity(units);
  } catch (const Error& error) {
    refuse(caller, error.what());
    return;
  }
  Reply reply;
  reply.verdict = Verdict::done;
  reply.capacity = units;
  put(reply.engine, claim_.name());
  if (!send(caller.peer.socket, &reply, sizeof reply)) close(caller.id);
}

void Server::welcome(Connection& caller, const Hello& hello) {
  caller.hello = hello;
  caller.hello->weight = std::clamp(hello.weight, 1U, 1000U);
  caller.hello->priority = std::clamp(hello.priority, -100, 100);
  if (has_free_slot()) {
    seat(caller);
    return;
  }
  const auto queued = std::count_if(connections_.begin(), connections_.end(), [](const auto& each) {
    return each.second->hello && each.second->guest == nullptr;
  });
  if (queued > static_cast<std::ptrdiff_t>(most_queued)) {
    refuse(caller, "all slots and all places in the queue are taken");
    return;
  }
  Reply reply;
  reply.verdict = Verdict::queued;
  put(reply.engine, claim_.name());
  if (!send(caller.peer.socket, &reply, sizeof reply)) close(caller.id);
}

/// Gives a tenant a free slot. The slot's memory is new, because an earlier tenant of the slot, or
/// a child of that tenant, may still write into the old memory.
void Server::seat(Connection& caller) {
  for (bool again = true;; again = false) {
    try {
      auto guest = std::make_unique<Guest>();
      const Descriptor demand = make_memory("cohort-demand", sizeof(DemandPage));
      const Descriptor grant = make_memory("cohort-grant", sizeof(GrantPage));
      guest->demand_memory = Mapping{demand, sizeof(DemandPage), false};
      guest->grant_memory = Mapping{grant, sizeof(GrantPage), true};
      seal(demand, Writers::every_process);
      seal(grant, Writers::mapped_already);
      guest->doorbell = make_event();
      guest->connection = &caller;
      guest->published_at = now();
      guest->slot = static_cast<std::uint32_t>(std::find(guests_.begin(), guests_.end(), nullptr) -
                                               guests_.begin());
      watch(guest->doorbell.get(), tag_of(caller.id, Part::doorbell), EPOLLET);
      Reply reply;
      reply.verdict = Verdict::seated;
      reply.slot = guest->slot;
      reply.type = lender_->type();
      reply.capacity = dispatcher_.capacity();
      put(reply.engine, claim_.name());
      const std::array descriptors{demand.get(), grant.get(), guest->doorbell.get()};
      {
        const std::lock_guard lock{loans_->mutex};
        guests_[guest->slot] = guest.get();
      }
      caller.guest = std::move(guest);
      if (!send(caller.peer.socket, &reply, sizeof reply, descriptors)) close(caller.id);
      return;
    } catch (const Error& error) {  // most likely because descriptors have run out
      if (again && drop_callers(3)) continue;
      refuse(caller, error.what());
      return;
    }
  }
}

bool Server::has_free_slot() const {
  return std::find(guests_.begin(), guests_.end(), nullptr) != guests_.end();
}

/// Seats the next tenant of the queue. If that fails, ends its connection and tries the next one.
void Server::seat_next() {
  while (has_free_slot()) {
    const auto next = std::find_if(connections_.begin(), connections_.end(), [](const auto& each) {
      return each.second->hello && each.second->guest == nullptr;
    });
    if (next == connections_.end()) return;
    seat(*next->second);
  }
}

/// Ends a connection. A tenant's units are taken back, and the next tenant in the queue gets its
/// slot.
void Server::close(Id id) {
  const auto found = connections_.find(id);
  // Remove it from the poll first: a copy in another process would keep its descriptor there.
  Connection& caller = *found->second;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, caller.peer.socket.get(), nullptr);
  if (caller.peer.process.open())
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, caller.peer.process.get(), nullptr);
  // Shut down, because a copy of the socket must not keep the connection open.
  ::shutdown(caller.peer.socket.get(), SHUT_RDWR);
  const std::unique_ptr<Guest> guest = std::move(caller.guest);
  connections_.erase(found);
  if (guest == nullptr) return;
  ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, guest->doorbell.get(), nullptr);
  {
    const std::lock_guard lock{loans_->mutex};
    guests_[guest->slot] = nullptr;
  }
  lender_->lend(guest->slot, 0, 0);
  changed_ = true;
  seat_next();
}

// ---- Units

/// Reads all demands and decides how many units each tenant has.
void Server::arrange() {
  changed_ = false;
  struct Order {
    std::uint32_t slot;
    std::uint32_t units;
    int priority;
    bool fewer;
  };
  std::vector<Order> orders;
  {
    const std::uint32_t capacity = dispatcher_.capacity();
    const std::lock_guard lock{loans_->mutex};
    const std::uint64_t at = now();
    const double passed = static_cast<double>(at - std::exchange(arranged_at_, at)) / 1e9;
    std::vector<Guest*> guests;
    std::vector<scheduler::TenantClaim> claims;
    for (Guest* const guest : guests_) {
      if (guest == nullptr) continue;
      const Demand demand = protocol::look(guest->demand_page(), capacity);
      const bool rises = demand.units > guest->demand.units ||
                         // The demand was lower in between.
                         demand.serial - guest->demand.serial > 1;
      if (demand.units == 0) {
        guest->rise_at = 0;
        guest->arrears = 0;
      } else if (rises && guest->rise_at == 0) {
        guest->rise_at = at;
      }
      const double missed = (guest->due - guest->grant.units) * passed;
      if (demand.units != 0 && guest->demand.units != 0) {
        constexpr double most = 4 * scheduler::patience_of_tenants;
        guest->arrears = std::clamp(guest->arrears + missed, -most, most);
      }
      guest->demand = demand;
      guests.push_back(guest);
      claims.push_back({.demand = demand.units,
                        .weight = guest->connection->hello->weight,
                        .priority = guest->connection->hello->priority,
                        .held = guest->limit,
                        .arrears = guest->arrears});
    }
    const std::vector<scheduler::Loan> loans = scheduler::lend(dispatcher_.lendable(), claims);
    short_ = false;
    for (std::size_t i = 0; i < guests.size(); ++i) {
      Guest& guest = *guests[i];
      guest.limit = loans[i].units;
      guest.due = loans[i].due;
      short_ = short_ || loans[i].due > loans[i].units + 1e-6;
      publish(guest);
      if (guest.limit != guest.lent)
        orders.push_back({guest.slot, guest.limit, claims[i].priority, guest.limit < guest.lent});
    }
  }
  // First the orders that give units back, then the ones that ask for units.
  std::stable_partition(orders.begin(), orders.end(), [](const Order& each) { return each.fewer; });
  for (const Order& each : orders) {
    lender_->lend(each.slot, each.units, each.priority);
    guests_[each.slot]->lent = each.units;
    if (!each.fewer) continue;
    const std::lock_guard lock{loans_->mutex};
    publish(*guests_[each.slot]);  // its grant lists fewer CPUs now
  }
}

/// Publishes a tenant's grant. Call it with the mutex held.
void Server::publish(Guest& guest) {
  const Lender::Held held = lender_->held(guest.slot);
  Grant grant{.serial = guest.demand.serial,
              .limit = guest.limit,
              .units = std::min(held.units, guest.limit),
              .cpus = held.cpus};
  if (grant == guest.grant) return;
  const std::uint64_t at = now();
  guest.held += std::uint64_t{guest.grant.units} * (at - guest.published_at);
  guest.published_at = at;
  guest.grant = grant;
  protocol::publish(guest.grant_page(), grant, guest.grant_page().version);
  if (guest.rise_at == 0 || grant.limit == 0 || !grant.settled()) return;
  const std::uint64_t took = at - std::exchange(guest.rise_at, 0);
  guest.gather.add(took);
  all_gather_.add(took);
  ++guest.leases;
  ++leases_;
}

// ---- Status

std::string Server::status() {
  StatusText text;
  text.begin(claim_.name(), lender_->type(), now() - started_at_);
  text.add_jobs(dispatcher_);
  std::uint32_t queued = 0;
  for (const auto& [id, each] : connections_) queued += each->hello && !each->guest ? 1 : 0;
  const std::lock_guard lock{loans_->mutex};
  text.begin_tenants(slots, queued);
  const std::uint64_t at = now();
  for (const Guest* const guest : guests_) {
    if (guest == nullptr) continue;
    text.add_tenant({.slot = guest->slot,
                     .pid = guest->connection->peer.pid,
                     .name = get(guest->connection->hello->name),
                     .weight = guest->connection->hello->weight,
                     .priority = guest->connection->hello->priority,
                     .demand = guest->demand.units,
                     .limit = guest->limit,
                     .granted = guest->grant.units,
                     .leases = guest->leases,
                     .held = guest->held + guest->grant.units * (at - guest->published_at),
                     .gather = guest->gather.summary()});
  }
  return text.end(leases_, all_gather_.summary());
}

}  // namespace cohort::tenant
