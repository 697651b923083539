#include "tenant/client.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cohort/error.hpp"
#include "cohort/kernel.hpp"
#include "cohort/platform/cpu.hpp"
#include "engine/options.hpp"

namespace cohort::tenant {
namespace {

using Clock = std::chrono::steady_clock;

// How long an engine on a busy machine may take to answer.
constexpr std::chrono::milliseconds answer_time{1000};
constexpr std::chrono::milliseconds try_time{2};  // how long handing over an idle worker may take
constexpr int again_ms = 1000;

std::optional<std::uint64_t> nanoseconds(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return {};
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count());
}

/// The name of the engine to look for; empty if the user has not named one.
std::string wanted_engine(const std::string& named) {
  if (!named.empty()) return named;
  const char* const text = std::getenv("COHORT_ENGINE");
  return text == nullptr ? "" : text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& each : names) text += (text.empty() ? "" : ", ") + each;
  return text;
}

/// The names of the engines that answer, each with its connection.
std::vector<std::pair<std::string, Peer>> living(const Descriptor& folder) {
  std::vector<std::pair<std::string, Peer>> engines;
  for (const std::string& name : names_in(folder)) {
    if (auto peer = connect(folder, name)) engines.emplace_back(name, std::move(*peer));
  }
  return engines;
}

/// The engine of that name, or the only one if no name is given. Empty if there is none. Throws if
/// there are several.
std::optional<std::pair<std::string, Peer>> find(const std::string& named) {
  const Descriptor folder = open_folder();
  if (!named.empty()) {
    auto peer = connect(folder, named);
    if (!peer) return {};
    return std::pair{named, std::move(*peer)};
  }
  auto engines = living(folder);
  if (engines.empty()) return {};
  if (engines.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [name, peer] : engines) names.push_back(name);
    throw Error{Errc::bad_options, "tenant: several engines are shared: " + joined(names) +
                                       "; name one of them, or set COHORT_ENGINE"};
  }
  return std::move(engines.front());
}

TenantOptions checked(TenantOptions options) {
  options.engine = wanted_engine(options.engine);
  if (!options.engine.empty()) check_name("tenant: engine =", options.engine);
  check_range("tenant: weight", options.weight, 1, 1000);
  if (options.priority < -100 || options.priority > 100) {
    throw Error{Errc::bad_options, "tenant: priority = " + std::to_string(options.priority) +
                                       "; it can be -100 to 100"};
  }
  if (options.name.empty()) options.name = program_invocation_short_name;
  return options;
}

}  // namespace

Client::Client(TenantOptions options) : options_(checked(std::move(options))) {}

Client::~Client() {
  if (!process_.left_behind()) return;  // otherwise close() has been called
  // In a child of fork(): the thread stayed in the parent, and the shared pages were not copied.
  static_cast<void>(thread_.release());
  if (link_ == nullptr) return;
  link_->peer.socket = Descriptor{};
  link_->peer.process = Descriptor{};
  link_->doorbell = Descriptor{};
  new std::shared_ptr<Link>{link_};  // NOLINT(cppcoreguidelines-owning-memory)
}

void Client::open() {
  // Report a bad name or folder at once: the thread would only retry.
  const bool there = find(options_.engine).has_value();
  over_event_ = Descriptor{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!over_event_.open())
    throw Error{Errc::unsupported,
                std::string{"tenant: cannot make an event: "} + std::strerror(errno)};
  // The program's signal handlers do not run in this thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::make_unique<std::thread>([this] { keep(); });
  } catch (const std::exception& error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error{Errc::unsupported, std::string{"tenant: cannot start a thread: "} + error.what()};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  Lock lock{mutex_};
  if (there) changed_.wait_for(lock, answer_time, [this] { return looked_; });
}

void Client::close() noexcept {
  if (process_.left_behind()) return;
  {
    const Lock lock{mutex_};
    open_.clear();
    ask();
  }
  over_.store(true, std::memory_order_relaxed);  // the event orders it
  SharedPlatform::notify(over_event_);
  thread_->join();
}

// ---- The thread

void Client::keep() {
  const Descriptor inbox{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  while (!over_.load(std::memory_order_relaxed)) {
    int patience = again_ms;
    try {
      const Descriptor folder = open_folder();
      const std::string path = "/proc/self/fd/" + std::to_string(folder.get());
      // Watch the folder before looking into it: a socket that appears later causes a message in
      // the inbox.
      const bool told = inbox.open() && ::inotify_add_watch(inbox.get(), path.c_str(),
                                                            IN_MOVED_TO | IN_DELETE_SELF) >= 0;
      if (auto found = find(options_.engine)) {
        const auto link = std::make_shared<Link>();
        link->engine = std::move(found->first);
        link->peer = std::move(found->second);
        attend(link);
        if (link->seated()) patience = 0;
      } else if (told && names_in(folder).empty()) {
        patience = -1;
      }
    } catch (const std::exception&) {
      // There may be several engines, no folder, no descriptors or no memory. Try again later.
    }
    {
      const Lock lock{mutex_};
      looked_ = true;
    }
    changed_.notify_all();
    rest(inbox, patience);
  }
}

/// Waits for changes in the folder.
void Client::rest(const Descriptor& inbox, int timeout_ms) {
  std::array<pollfd, 2> wait{{{.fd = over_event_.get(), .events = POLLIN, .revents = 0},
                              {.fd = inbox.get(), .events = POLLIN, .revents = 0}}};
  ::poll(wait.data(), wait.size(), timeout_ms);
  alignas(inotify_event) std::array<char, 4096> ignored;
  while (inbox.open() && ::read(inbox.get(), ignored.data(), ignored.size()) > 0) {
  }
}

/// Serves a connection until it ends.
void Client::attend(const std::shared_ptr<Link>& link) {
  Hello hello;
  hello.weight = options_.weight;
  hello.priority = options_.priority;
  put(hello.name, options_.name);
  bool alive = send(link->peer.socket, &hello, sizeof hello);
  std::array<pollfd, 3> wait{
      {{.fd = over_event_.get(), .events = POLLIN, .revents = 0},
       {.fd = link->peer.socket.get(), .events = POLLIN | POLLRDHUP, .revents = 0},
       {.fd = link->peer.process.get(), .events = POLLIN, .revents = 0}}};
  try {
    while (alive && !over_.load(std::memory_order_relaxed)) {
      if (::poll(wait.data(), wait.size(), -1) < 0) continue;
      if (wait[1].revents != 0) alive = hear(link);
      if (wait[2].revents != 0) alive = false;
    }
  } catch (const std::exception&) {
    // The pages cannot be mapped: do not try this engine again for a while.
  }
  lose(link);
}

/// Reads one message from the engine. Returns false if the connection is over.
bool Client::hear(const std::shared_ptr<Link>& link) {
  Reply reply;
  std::vector<Descriptor> descriptors;
  const Received received = receive(link->peer.socket, &reply, sizeof reply, &descriptors);
  if (received.what == Received::What::nothing) return true;
  if (received.what == Received::What::end || !well_formed(received, reply)) return false;
  Lock lock{mutex_};
  if (link->seated()) return false;
  if (reply.verdict == Verdict::queued) {
    link_ = link;
    state_.store(State::queued, std::memory_order_release);
  } else if (reply.verdict == Verdict::seated && descriptors.size() == 3) {
    link->demand_memory = Mapping{descriptors[0], sizeof(DemandPage), true};
    link->grant_memory = Mapping{descriptors[1], sizeof(GrantPage), false};
    link->doorbell = std::move(descriptors[2]);
    link_ = link;
    serial_ = 0;
    latest_ = {};
    ask();
    for (Open& each : open_) each.serial = serial_;
    state_.store(State::seated, std::memory_order_release);
  } else {
    return false;
  }
  looked_ = true;
  lock.unlock();
  changed_.notify_all();
  return true;
}

/// Ends a connection. After this call, no thread waits for its engine.
void Client::lose(const std::shared_ptr<Link>& link) {
  // Shut down, because a copy of the socket must not keep the connection open.
  ::shutdown(link->peer.socket.get(), SHUT_RDWR);
  // Pairs with the count of sleepers: both are in one total order (sequentially consistent).
  link->gone.store(true);
  {
    const Lock lock{mutex_};
    link_ = nullptr;
    state_.store(State::alone, std::memory_order_release);
  }
  changed_.notify_all();
  while (link->sleepers.load() != 0) {
    SharedPlatform::notify(link->grant_page().version);
    ::poll(nullptr, 0, 1);
  }
}

// ---- Leases

/// Writes the sum of the open leases into the demand. Call it with the mutex held.
void Client::ask() {
  if (link_ == nullptr || !link_->seated()) return;
  std::uint32_t units = 0;
  for (const Open& each : open_) units += each.units;
  protocol::ask(link_->demand_page(), Demand{.units = units, .serial = ++serial_}, link_->doorbell);
}

/// Reads what the engine grants. Call it with the mutex held.
Grant Client::grant() {
  if (link_ == nullptr || !link_->seated()) return {};
  if (const auto now = protocol::read(link_->grant_page())) latest_ = *now;
  return latest_;
}

/// Leases get units in the order in which they were opened. Call it with the mutex held.
Client::Part Client::part_of(std::uint64_t ticket) {
  Part part{.grant = grant()};
  for (const Open& each : open_) {
    if (each.ticket == ticket) {
      part.open = &each;
      part.units = std::min(each.units, part.grant.units - std::min(part.grant.units, part.before));
      break;
    }
    part.before += each.units;
  }
  return part;
}

/// Whether this thread holds another lease. It must then not wait for units, because it may hold
/// them itself. Call it with the mutex held.
bool Client::holds_another(std::uint64_t ticket) const {
  return std::any_of(open_.begin(), open_.end(), [ticket](const Open& each) {
    return each.ticket != ticket && each.thread == std::this_thread::get_id();
  });
}

TenantLease Client::lease(Deadline deadline, std::uint32_t units, bool tries) {
  const std::uint64_t ticket = ask_for(units);
  if (ticket == 0) return {};
  if (wait(ticket, deadline, tries) == Waited::granted)
    return TenantLease{shared_from_this(), ticket};
  give_back(ticket);
  return {};
}

std::uint64_t Client::ask_for(std::uint32_t units) {
  if (units == 0 || units > max_groups_limit)
    check_range("lease: units", units, 1, max_groups_limit);
  if (state_.load(std::memory_order_acquire) == State::alone || process_.left_behind()) return 0;
  const Lock lock{mutex_};
  if (link_ == nullptr) return 0;
  const std::uint64_t ticket = ++tickets_;
  open_.push_back(
      {.ticket = ticket, .units = units, .serial = 0, .thread = std::this_thread::get_id()});
  ask();
  open_.back().serial = serial_;
  return ticket;
}

Client::Waited Client::wait(std::uint64_t ticket, Deadline deadline, bool tries) {
  if (ticket == 0 || process_.left_behind()) return Waited::over;
  if (tries) deadline = Clock::now() + try_time;
  Lock lock{mutex_};
  for (const auto link = link_; link != nullptr && link_ == link;) {
    const std::uint32_t version =
        link->seated() ? link->grant_page().version.load(Order::acquire) : 0;
    const Part part = part_of(ticket);
    if (part.open == nullptr) break;  // given back, or the tenant is being destroyed
    if (!link->seated()) {
      if (holds_another(ticket)) break;
      const auto news = [&] { return link_ != link || link->seated(); };
      if (deadline == Deadline::max()) {
        changed_.wait(lock, news);
      } else if (!changed_.wait_until(lock, deadline, news)) {
        return Waited::timed_out;
      }
      continue;
    }
    if (part.grant.answers(part.open->serial)) {
      const bool enough = part.grant.settled() || (tries && Clock::now() >= deadline);
      if (enough && part.units != 0) return Waited::granted;
      if (part.grant.settled() && holds_another(ticket)) break;
    }
    if (Clock::now() >= deadline) return Waited::timed_out;
    link->sleepers.fetch_add(1);  // before the check of `gone`: pairs with lose()
    lock.unlock();
    if (!link->gone.load()) sleep_on(link->grant_page().version, version, nanoseconds(deadline));
    link->sleepers.fetch_sub(1);
    lock.lock();
  }
  return Waited::over;
}

/// Removes a lease from the list of open leases. Call it with the mutex held.
void Client::forget(std::uint64_t ticket) {
  if (std::erase_if(open_, [ticket](const Open& each) { return each.ticket == ticket; }) != 0)
    ask();
}

void Client::give_back(std::uint64_t ticket) noexcept {
  if (process_.left_behind()) return;
  const Lock lock{mutex_};
  forget(ticket);
}

std::uint32_t Client::units(std::uint64_t ticket) noexcept {
  if (state_.load(std::memory_order_acquire) != State::seated || process_.left_behind()) return 0;
  const Lock lock{mutex_};
  return part_of(ticket).units;
}

std::vector<std::uint32_t> Client::cpus(std::uint64_t ticket) {
  std::vector<std::uint32_t> all;
  if (state_.load(std::memory_order_acquire) != State::seated || process_.left_behind()) return all;
  const Lock lock{mutex_};
  const Part part = part_of(ticket);
  if (part.units == 0) return all;
  for (std::uint32_t cpu = 0; cpu < 64 * cpu_words; ++cpu) {
    if ((part.grant.cpus[cpu / 64] >> (cpu % 64) & 1U) != 0) all.push_back(cpu);
  }
  if (all.size() != part.grant.units) return all;
  // One CPU for each unit of this lease; earlier leases have the CPUs before these.
  const auto first = all.begin() + part.before;
  return {first, first + part.units};
}

bool Client::connected() const noexcept {
  return state_.load(std::memory_order_acquire) != State::alone && !process_.left_behind();
}

bool Client::wait_connected(Deadline deadline) {
  if (process_.left_behind()) return false;
  Lock lock{mutex_};
  const auto there = [this] { return link_ != nullptr; };
  if (deadline != Deadline::max()) return changed_.wait_until(lock, deadline, there);
  changed_.wait(lock, there);
  return true;
}

std::string Client::engine() {
  if (process_.left_behind()) return {};
  const Lock lock{mutex_};
  return link_ == nullptr ? "" : link_->engine;
}

}  // namespace cohort::tenant

// The public handles.

namespace cohort {

TenantLease::TenantLease(TenantLease&& other) noexcept
    : client_(std::move(other.client_)), ticket_(other.ticket_) {}

TenantLease& TenantLease::operator=(TenantLease&& other) noexcept {
  if (this != &other) {
    give_back();
    client_ = std::move(other.client_);
    ticket_ = other.ticket_;
  }
  return *this;
}

TenantLease::~TenantLease() { give_back(); }

std::uint32_t TenantLease::units() const noexcept {
  return client_ == nullptr ? 0 : client_->units(ticket_);
}

std::vector<std::uint32_t> TenantLease::cpus() const {
  return client_ == nullptr ? std::vector<std::uint32_t>{} : client_->cpus(ticket_);
}

void TenantLease::give_back() noexcept {
  if (client_ == nullptr) return;
  client_->give_back(ticket_);
  client_.reset();
}

Tenant::Tenant(TenantOptions options)
    : client_(std::make_shared<tenant::Client>(std::move(options))) {
  client_->open();
}

Tenant::~Tenant() { client_->close(); }

TenantLease Tenant::lease_until(Deadline deadline, TenantLeaseOptions options) const {
  return client_->lease(deadline, options.units, false);
}

TenantLease Tenant::try_lease(TenantLeaseOptions options) const {
  return client_->lease(Deadline::max(), options.units, true);
}

bool Tenant::connected() const noexcept { return client_->connected(); }

bool Tenant::wait_connected_until(Deadline deadline) const {
  return client_->wait_connected(deadline);
}

std::string Tenant::engine() const { return client_->engine(); }

std::vector<std::string> shared_engines() {
  std::vector<std::string> names;
  for (const auto& [name, peer] : tenant::living(tenant::open_folder())) names.push_back(name);
  return names;
}

namespace tenant {
namespace {

/// Sends a request to an engine. Returns the answer, at most `room` bytes, and the engine's name.
/// `what` begins the messages of errors.
std::pair<std::string, std::string> request(const std::string& what, const std::string& engine,
                                            const Hello& hello, std::size_t room) {
  const std::string named = wanted_engine(engine);
  if (!named.empty()) check_name(what + ": engine =", named);
  const auto found = find(named);
  if (!found) {
    throw Error{Errc::engine_gone, what + ": no shared engine" +
                                       (named.empty() ? "" : " '" + named + "'") +
                                       " answers; share one with `cohort run --share` or the "
                                       "option `share`"};
  }
  const Descriptor& socket = found->second.socket;
  std::string answer(room, '\0');
  Received received;
  if (send(socket, &hello, sizeof hello)) {
    pollfd wait{.fd = socket.get(), .events = POLLIN, .revents = 0};
    const auto deadline = Clock::now() + 5 * answer_time;
    int left = 1;
    do {
      left = static_cast<int>(
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count());
    } while (left > 0 && ::poll(&wait, 1, left) < 0 && errno == EINTR);
    received = receive(socket, answer.data(), answer.size());
  }
  if (received.what != Received::What::message || received.bytes > answer.size()) {
    throw Error{Errc::engine_gone,
                what + ": the engine '" + found->first + "' does not answer; has it stopped?"};
  }
  answer.resize(received.bytes);
  return {std::move(answer), found->first};
}

}  // namespace
}  // namespace tenant

std::string engine_status(const std::string& engine) {
  tenant::Hello hello;
  hello.kind = tenant::Kind::status;
  auto [text, name] = tenant::request("status", engine, hello, std::size_t{1} << 18U);
  if (!text.starts_with('{'))
    throw Error{Errc::engine_gone, "status: the engine '" + name + "' is of another version"};
  return text;
}

void set_engine_capacity(const std::string& engine, std::uint32_t units) {
  tenant::Hello hello;
  hello.kind = tenant::Kind::capacity;
  hello.weight = units;
  const auto [text, name] = tenant::request("capacity", engine, hello, sizeof(tenant::Reply));
  tenant::Reply reply;
  if (text.size() == sizeof reply) std::memcpy(&reply, text.data(), sizeof reply);
  if (text.size() != sizeof reply || reply.magic != tenant::magic ||
      reply.version != tenant::wire_version)
    throw Error{Errc::engine_gone, "capacity: the engine '" + name + "' is of another version"};
  if (reply.verdict != tenant::Verdict::done)
    throw Error{Errc::bad_options, "engine '" + name + "': " + tenant::get(reply.text)};
}

}  // namespace cohort
