// Hostile tenants: whatever a tenant sends or writes, the engine refuses or clamps it, and
// continues.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cstring>
#include <deque>
#include <random>

#include "conformance/scale.hpp"
#include "tenant/rendezvous.hpp"
#include "tenant/wire.hpp"
#include "tenants/processes.hpp"

namespace cohort::test {
namespace {

using tenant::Demand;
using tenant::DemandPage;
using tenant::GrantPage;
using tenant::Hello;
using tenant::Received;
using tenant::Reply;
using tenant::Verdict;
using testing::AllOf;
using testing::HasSubstr;
using testing::Le;

/// The descriptors of this process, which has both the engine and the tenants.
std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
}

class Hostile : public TenantTest {
 protected:
  tenant::Peer connection() {
    auto peer = tenant::connect(tenant::open_folder(), "e");
    EXPECT_TRUE(peer.has_value());
    return std::move(*peer);
  }

  /// The engine's next message on a socket; empty at the end of the connection.
  static std::optional<Reply> reply(const tenant::Peer& peer,
                                    std::vector<Descriptor>* descriptors = nullptr) {
    for (;;) {
      pollfd wait{.fd = peer.socket.get(), .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, 60'000) <= 0) {
        ADD_FAILURE() << "no answer";
        return {};
      }
      Reply answer;
      const Received received = tenant::receive(peer.socket, &answer, sizeof answer, descriptors);
      if (received.what == Received::What::nothing) continue;
      if (received.what == Received::What::end || !tenant::well_formed(received, answer)) return {};
      return answer;
    }
  }

  /// A tenant's slot without a well-behaved client.
  struct Seat {
    tenant::Peer peer;
    std::vector<Descriptor> descriptors;
    tenant::Mapping demand;
    tenant::Mapping grant;

    void write(std::uint64_t word) const {
      static_cast<DemandPage*>(demand.data())->word.store(word, Order::release);
      const std::uint64_t one = 1;
      EXPECT_EQ(::write(descriptors[2].get(), &one, sizeof one), 8);
    }
    [[nodiscard]] tenant::Grant read() const {
      for (;;) {
        if (const auto now = protocol::read(*static_cast<const GrantPage*>(grant.data())))
          return *now;
      }
    }
  };
  Seat seat() {
    Seat seat{.peer = connection(), .descriptors = {}, .demand = {}, .grant = {}};
    const Hello hello;
    tenant::send(seat.peer.socket, &hello, sizeof hello);
    const auto answer = reply(seat.peer, &seat.descriptors);
    EXPECT_TRUE(answer && answer->verdict == Verdict::seated);
    EXPECT_EQ(seat.descriptors.size(), 3U);
    seat.demand = tenant::Mapping{seat.descriptors[0], sizeof(DemandPage), true};
    seat.grant = tenant::Mapping{seat.descriptors[1], sizeof(GrantPage), false};
    return seat;
  }

  cpu::Engine engine{{.capacity = 4, .share = "e"}};
};

TEST_F(Hostile, NonsenseInTheDemandWordIsClamped) {
  const EndlessJob job{engine};
  const Seat hostile = seat();
  std::mt19937_64 random{1};
  std::uint32_t serial = 0;
  for (std::uint32_t i = 0; i < scaled(300, 30); ++i) {
    serial += static_cast<std::uint32_t>(random());
    hostile.write(Demand{.units = ~0U - i % 3, .serial = serial}.word());
    ASSERT_TRUE(eventually([&] { return hostile.read().serial == serial; }));
    EXPECT_THAT(hostile.read().limit, Le(3U));
    hostile.write(random());  // may or may not cause an answer
  }
  hostile.write(Demand{.units = ~0U, .serial = ++serial}.word());
  EXPECT_TRUE(eventually([&] { return hostile.read().units == 3 && job.groups() == 1; }));
  // Another tenant still gets its share.
  const Tenant modest;
  const auto lease = modest.lease_for(std::chrono::minutes{1}, {.units = 1});
  EXPECT_EQ(lease.units(), 1U);
  EXPECT_TRUE(eventually([&] { return hostile.read().units == 2; }));
}

TEST_F(Hostile, TheEnginesPageCannotBeWritten) {
  const Seat hostile = seat();
  const int grant = hostile.descriptors[1].get();
  EXPECT_EQ(::mmap(nullptr, sizeof(GrantPage), PROT_READ | PROT_WRITE, MAP_SHARED, grant, 0),
            MAP_FAILED);
  EXPECT_NE(::mprotect(hostile.grant.data(), sizeof(GrantPage), PROT_READ | PROT_WRITE), 0);
  const char byte = 1;
  EXPECT_LT(::pwrite(grant, &byte, 1, 0), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(grant);
  const Descriptor again{::open(path.c_str(), O_RDWR)};
  EXPECT_EQ(::mmap(nullptr, sizeof(GrantPage), PROT_READ | PROT_WRITE, MAP_SHARED, again.get(), 0),
            MAP_FAILED);
}

TEST_F(Hostile, TheMemoryCannotBeTakenAwayUnderTheEngine) {
  const Seat hostile = seat();
  for (const int memory : {hostile.descriptors[0].get(), hostile.descriptors[1].get()}) {
    EXPECT_NE(::ftruncate(memory, 0), 0);
    EXPECT_NE(::ftruncate(memory, 1 << 20), 0);
    EXPECT_NE(::fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
  }
  hostile.write(Demand{.units = 1, .serial = 1}.word());
  EXPECT_TRUE(eventually([&] { return hostile.read().units == 1; }));
}

TEST_F(Hostile, GarbageOnTheSocketIsRefused) {
  std::mt19937 random{2};
  for (std::uint32_t i = 0; i < scaled(200, 50); ++i) {
    const tenant::Peer peer = connection();
    std::vector<unsigned char> bytes(random() % 500);
    for (unsigned char& each : bytes) each = static_cast<unsigned char>(random());
    if (i % 4 == 0 && bytes.size() > 8) std::copy_n(tenant::magic.begin(), 8, bytes.begin());
    if (i % 8 == 1) bytes.resize(sizeof(Hello));
    tenant::send(peer.socket, bytes.data(), bytes.size());
    const auto answer = reply(peer);
    if (!answer) continue;  // the engine has closed the connection
    EXPECT_EQ(answer->verdict, Verdict::refused);
    EXPECT_FALSE(reply(peer)) << "it closes the connection";
  }
  EXPECT_EQ(seated(), 0U);
}

TEST_F(Hostile, MessagesOfOtherVersionsAndKindsAreRefused) {
  const auto refusal = [this](const Hello& hello) {
    const tenant::Peer peer = connection();
    tenant::send(peer.socket, &hello, sizeof hello);
    const auto answer = reply(peer);
    return answer && answer->verdict == Verdict::refused ? tenant::get(answer->text) : "";
  };
  Hello hello;
  hello.version = 2;
  EXPECT_THAT(refusal(hello), HasSubstr("version 1"));
  hello = {};
  hello.kind = static_cast<tenant::Kind>(77);
  EXPECT_THAT(refusal(hello), HasSubstr("unknown request"));
  hello = {};
  hello.magic[3] = 'x';
  EXPECT_THAT(refusal(hello), HasSubstr("not a message"));
}

TEST_F(Hostile, ASecondHelloEndsTheSlot) {
  const Seat hostile = seat();
  EXPECT_EQ(seated(), 1U);
  const Hello hello;
  tenant::send(hostile.peer.socket, &hello, sizeof hello);
  EXPECT_EQ(reply(hostile.peer)->verdict, Verdict::refused);
  EXPECT_TRUE(eventually([] { return seated() == 0; }));
}

TEST_F(Hostile, NumbersInAHelloAreClamped) {
  const tenant::Peer peer = connection();
  Hello hello;
  hello.weight = ~0U;
  hello.priority = std::numeric_limits<std::int32_t>::min();
  hello.name.fill('\xff');
  tenant::send(peer.socket, &hello, sizeof hello);
  EXPECT_EQ(reply(peer)->verdict, Verdict::seated);
  EXPECT_THAT(engine_status(), HasSubstr(R"("weight": 1000, "priority": -100)"));
}

TEST_F(Hostile, ADoorbellThatBlocksDoesNotStopTheEngine) {
  const EndlessJob job{engine};
  const Seat hostile = seat();
  // Both processes use the same open file description, so its flags are shared too.
  const int bell = hostile.descriptors[2].get();
  ASSERT_EQ(::fcntl(bell, F_SETFL, 0), 0);
  std::atomic<bool> over{false};
  std::jthread reader{[&] {
    for (std::uint64_t count = 0; !over.load();)
      EXPECT_EQ(::read(bell, &count, sizeof count), 8);  // waits until the bell rings
  }};
  const std::uint32_t rings = scaled(300, 30);
  for (std::uint32_t i = 1; i <= rings; ++i)
    hostile.write(Demand{.units = i % 2, .serial = i}.word());
  const Tenant tenant;
  EXPECT_EQ(tenant.lease_for(std::chrono::minutes{1}, {.units = 1}).units(), 1U);
  over = true;
  // Ends the other thread's last read().
  hostile.write(Demand{.units = 0, .serial = rings + 1}.word());
}

/// The number of descriptors that most processes may have.
class Crowded : public Hostile {
 protected:
  Crowded() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    limit(1024);
  }
  ~Crowded() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  void limit(rlim_t descriptors) const {
    rlimit now = before_;
    now.rlim_cur = std::min(now.rlim_cur, descriptors);
    ::setrlimit(RLIMIT_NOFILE, &now);
  }

 private:
  rlimit before_{};
};

TEST_F(Crowded, SilentConnectionsDoNotLockOthersOut) {
  Child crowd{{"connect", "e", "600"}};
  ASSERT_EQ(crowd.line(), "connected 600");
  const Tenant tenant;
  EXPECT_EQ(tenant.lease_for(std::chrono::minutes{1}).units(), 1U);
}

TEST_F(Crowded, ConnectionsThatHaveAskedDoNotLockOthersOut) {
  Child crowd{{"connect", "e", "600", "status"}};
  ASSERT_EQ(crowd.line(), "connected 600");
  const Tenant tenant;
  EXPECT_EQ(tenant.lease_for(std::chrono::minutes{1}).units(), 1U);
}

TEST_F(Crowded, ConnectionsGiveWayWhenDescriptorsRunOut) {
  Child crowd{{"connect", "e", "300", "status"}};
  ASSERT_EQ(crowd.line(), "connected 300");
  Child holder{{"hold", "e", "1"}};
  limit(200);  // the limit probably comes before its connection
  EXPECT_EQ(holder.line(), "held 1");
}

TEST_F(Hostile, DescriptorsThatComeUnaskedAreClosed) {
  const tenant::Peer peer = connection();
  Hello hello;
  hello.kind = tenant::Kind::status;
  std::ptrdiff_t before = 0;
  for (int i = 0; i < 20; ++i) {
    if (i == 1) before = open_descriptors();  // the engine has accepted the connection
    const std::array sent{0, 0, 0};
    ASSERT_TRUE(tenant::send(peer.socket, &hello, sizeof hello, sent));
    pollfd wait{.fd = peer.socket.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&wait, 1, 60'000), 1);
    std::vector<char> text(1 << 18);
    ASSERT_EQ(tenant::receive(peer.socket, text.data(), text.size()).what, Received::What::message);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(Hostile, ACallerThatDoesNotReadIsDropped) {
  const tenant::Peer peer = connection();
  Hello hello;
  hello.kind = tenant::Kind::status;
  for (int i = 0; i < 5000; ++i) {
    pollfd wait{.fd = peer.socket.get(), .events = POLLOUT, .revents = 0};
    ::poll(&wait, 1, 10);
    if ((wait.revents & POLLHUP) != 0) break;
    tenant::send(peer.socket, &hello, sizeof hello);
  }
  EXPECT_THAT(engine_status(), HasSubstr("\"tenants\""));
}

TEST_F(Hostile, NonsenseAsACapacityIsRefused) {
  const auto answer_to = [this](std::uint32_t units) {
    const tenant::Peer peer = connection();
    Hello hello;
    hello.kind = tenant::Kind::capacity;
    hello.weight = units;
    tenant::send(peer.socket, &hello, sizeof hello);
    const auto answer = reply(peer);
    return answer ? *answer : Reply{};
  };
  std::mt19937 random{3};
  for (std::uint32_t i = 0; i < scaled(100, 20); ++i) {
    const std::uint32_t large = max_groups_limit + 1 + static_cast<std::uint32_t>(random()) / 2;
    const Reply answer = answer_to(i % 4 == 0 ? 0 : i % 4 == 1 ? ~0U : large);
    ASSERT_EQ(answer.verdict, Verdict::refused);
    EXPECT_THAT(tenant::get(answer.text), HasSubstr("capacity"));
    EXPECT_EQ(engine.capacity(), 4U);
  }
  EXPECT_EQ(answer_to(3).verdict, Verdict::done);
  EXPECT_EQ(engine.capacity(), 3U);
}

TEST_F(Hostile, ATenantsConnectionSetsNoCapacity) {
  const Seat hostile = seat();
  Hello hello;
  hello.kind = tenant::Kind::capacity;
  tenant::send(hostile.peer.socket, &hello, sizeof hello);
  EXPECT_EQ(reply(hostile.peer)->verdict, Verdict::refused);
  EXPECT_EQ(engine.capacity(), 4U);
}

/// The messages of a random caller: almost right, cut, long, empty or noise, some with descriptors.
/// The caller may close either half of its socket in between.
void send_at_random(const tenant::Peer& peer, std::mt19937& random) {
  const auto pick = [&random](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (std::uint32_t messages = 1 + pick(4); messages > 0; --messages) {
    Hello hello;
    hello.kind = static_cast<tenant::Kind>(1 + pick(3));
    hello.weight = pick(2) == 0 ? pick(6) : static_cast<std::uint32_t>(random());
    hello.priority = static_cast<std::int32_t>(random());
    for (char& each : hello.name) each = static_cast<char>(random());
    std::vector<unsigned char> bytes(sizeof hello);
    std::memcpy(bytes.data(), &hello, sizeof hello);
    switch (pick(6)) {
      case 0:
        for (std::uint32_t i = 0; i < 3; ++i)
          bytes[pick(sizeof hello)] = static_cast<unsigned char>(random());
        break;
      case 1: bytes.resize(pick(2 * sizeof hello)); break;
      case 2: bytes.resize(1 + pick(100'000)); break;
      case 3:
        for (unsigned char& each : bytes) each = static_cast<unsigned char>(random());
        break;
      default: break;  // sends a correct message
    }
    const std::array descriptors{peer.socket.get(), 0, 1, 2};
    tenant::send(peer.socket, bytes.data(), bytes.size(),
                 std::span{descriptors}.first(pick(4) == 0 ? 1 + pick(4) : 0));
    if (pick(8) == 0) ::shutdown(peer.socket.get(), pick(2) == 0 ? SHUT_RD : SHUT_WR);
  }
}

TEST_F(Hostile, RandomMessagesLeaveTheEngineAsItWas) {
  const EndlessJob job{engine};
  std::mt19937 random{4};
  std::deque<tenant::Peer> open;
  std::ptrdiff_t before = 0;
  for (std::uint32_t i = 0; i < scaled(3000, 300); ++i) {
    auto peer = tenant::connect(tenant::open_folder(), "e");
    ASSERT_TRUE(peer) << "after " << i << " callers";
    send_at_random(*peer, random);
    open.push_back(std::move(*peer));
    if (open.size() > 20) open.pop_front();
  }
  open.clear();
  EXPECT_TRUE(eventually([] { return seated() == 0; }));
  set_engine_capacity("e", 4);
  const Tenant tenant;
  EXPECT_EQ(tenant.lease_for(std::chrono::minutes{1}, {.units = 3}).units(), 3U);
  EXPECT_TRUE(eventually([&] { return job.groups() == 4; }));
  before = open_descriptors();
  for (std::uint32_t i = 0; i < 30; ++i) send_at_random(connection(), random);
  EXPECT_TRUE(eventually([&] { return seated() == 1 && open_descriptors() <= before; }));
}

TEST_F(Hostile, AFloodOfStatusRequestsHoldsNobodyUp) {
  const EndlessJob job{engine};
  std::atomic<bool> over{false};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&over] {
      while (!over.load()) EXPECT_THAT(engine_status("e"), HasSubstr("tenants"));
    });
  }
  const Tenant tenant;
  for (std::uint32_t i = 0; i < scaled(100, 10); ++i)
    EXPECT_TRUE(tenant.lease_for(std::chrono::minutes{1}, {.units = 1}));
  over = true;
}

// ---- An engine that is not one.

/// Answers one connection at a time by calling `answer`, and closes it.
class FalseEngine : public TenantTest {
 protected:
  /// Waits until `done()` returns true. `done()` connects, so this serves connections meanwhile.
  template <class Answer, class Done>
  void serve(Answer answer, Done done) {
    const tenant::Claim claim{"false"};
    std::atomic<bool> over{false};
    std::jthread server{[&] {
      while (!over.load()) {
        pollfd wait{.fd = claim.socket(), .events = POLLIN, .revents = 0};
        if (::poll(&wait, 1, 10) <= 0) continue;
        auto peer = tenant::identify(Descriptor{::accept4(claim.socket(), nullptr, nullptr, 0)});
        if (!peer) continue;
        // A connection that only checks whether there is an engine sends nothing.
        pollfd hello{.fd = peer->socket.get(), .events = POLLIN, .revents = 0};
        if (::poll(&hello, 1, 60'000) > 0) answer(*peer);
      }
    }};
    done();
    over = true;
  }
};

TEST_F(FalseEngine, WithRandomAnswersLendsNothing) {
  std::mt19937 random{5};
  const Descriptor small = tenant::make_memory("small", 1);
  const Descriptor unsealed{::memfd_create("unsealed", MFD_CLOEXEC)};
  ASSERT_EQ(::ftruncate(unsealed.get(), 4096), 0);
  const auto answer = [&](const tenant::Peer& peer) {
    const auto pick = [&random](std::uint32_t below) {
      return static_cast<std::uint32_t>(random() % below);
    };
    for (std::uint32_t messages = pick(4); messages > 0; --messages) {
      Reply reply;
      reply.verdict = static_cast<Verdict>(pick(6));
      reply.slot = static_cast<std::uint32_t>(random());
      reply.text.fill('x');
      reply.engine.fill('\xff');
      std::vector<unsigned char> bytes(sizeof reply);
      std::memcpy(bytes.data(), &reply, sizeof reply);
      switch (pick(6)) {
        case 0: bytes[pick(24)] = static_cast<unsigned char>(random()); break;
        case 1: bytes.resize(pick(2 * sizeof reply)); break;
        case 2: bytes.resize(1 + pick(100'000)); break;
        default: break;
      }
      const std::array descriptors{pick(2) == 0 ? small.get() : unsealed.get(), unsealed.get(), 0};
      tenant::send(peer.socket, bytes.data(), bytes.size(), std::span{descriptors}.first(pick(4)));
    }
  };
  std::ptrdiff_t before = 0;
  serve(answer, [&] {
    for (std::uint32_t i = 0; i < scaled(200, 30); ++i) {
      if (i == 10) before = open_descriptors();
      const Tenant tenant{{.engine = "false"}};
      EXPECT_EQ(tenant.lease_for(std::chrono::milliseconds{1}).units(), 0U);
      EXPECT_EQ(tenant.try_lease().cpus().size(), 0U);
      // It may also say that the capacity is set.
      for (const bool status : {true, false}) {
        try {
          status ? static_cast<void>(engine_status("false")) : set_engine_capacity("false", 2);
        } catch (const Error& error) {
          EXPECT_TRUE(error.code() == Errc::engine_gone || error.code() == Errc::bad_options);
        }
      }
    }
    EXPECT_TRUE(eventually([&] { return open_descriptors() <= before; }));
  });
}

TEST_F(Hostile, AFloodOfRingsHoldsNobodyUp) {
  const Seat hostile = seat();
  std::atomic<bool> over{false};
  std::jthread flood{[&] {
    for (std::uint32_t i = 1; !over.load(); ++i)
      hostile.write(Demand{.units = i % 5, .serial = i}.word());
  }};
  const Tenant tenant;
  for (std::uint32_t i = 0; i < scaled(100, 10); ++i)
    EXPECT_TRUE(tenant.lease_for(std::chrono::minutes{1}, {.units = 1}));
  over = true;
}

}  // namespace
}  // namespace cohort::test
