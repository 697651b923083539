// The C API: tenants, their leases, and requests to shared engines.
// Invariant: a wait ends soon after its tenant is destroyed or its lease is given back, whatever
// the engine does.
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "c/objects.hpp"
#include "cohort/c.h"
#include "cohort/tenant.hpp"
#include "tenant/client.hpp"

namespace cohort::c {

class TenantObject final : public Object {
 public:
  explicit TenantObject(TenantOptions options)
      : client_(std::make_shared<tenant::Client>(std::move(options))) {
    client_->open();
  }
  ~TenantObject() override { close(); }
  /// Closes the client, whose leases are empty from then on. The leases keep the client alive.
  void close() noexcept {
    if (!closed_.exchange(true, std::memory_order_relaxed)) client_->close();
  }
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::shared_ptr<tenant::Client>& client() const { return client_; }
  /// Whether this is a child of the process that made the tenant.
  [[nodiscard]] bool left_behind() const { return process_.left_behind(); }

 private:
  const engine::HomeProcess process_{};
  std::shared_ptr<tenant::Client> client_;
  std::atomic<bool> closed_{false};
};

namespace {

using Clock = std::chrono::steady_clock;
using Waited = tenant::Client::Waited;

/// Calls `wait(until)` until it returns true. Each call waits only for a moment, since another
/// thread may end the wait. Throws Refusal{COHORT_TIMED_OUT} at the deadline.
template <class Wait>
void wait_in_turns(const Deadline& deadline, Wait wait) {
  constexpr std::chrono::milliseconds turn{100};
  for (;;) {
    const auto now = Clock::now();
    if (wait(deadline ? std::min(*deadline, now + turn) : now + turn)) return;
    if (deadline && Clock::now() >= *deadline)
      refuse(COHORT_TIMED_OUT, "wait: the engine has not answered or lent by then");
  }
}

class TenantLeaseObject final : public LeaseObject {
 public:
  TenantLeaseObject(std::shared_ptr<tenant::Client> client, std::uint32_t units)
      : client_(std::move(client)), ticket_(client_->ask_for(units)) {}
  ~TenantLeaseObject() override { give_back(); }

  void wait(const Deadline& deadline) override {
    wait_in_turns(deadline, [&](Clock::time_point until) {
      return client_->wait(ticket_, until, false) != Waited::timed_out;
    });
  }
  /// Waits for 2 ms at most, and keeps the units that have come.
  void try_now() {
    if (client_->wait(ticket_, {}, true) != Waited::granted) give_back();
  }
  std::uint32_t units() override { return client_->units(ticket_); }
  std::vector<std::uint32_t> cpus() override { return client_->cpus(ticket_); }
  void give_back() noexcept override { client_->give_back(ticket_); }

 private:
  const std::shared_ptr<tenant::Client> client_;
  const std::uint64_t ticket_;  // not reused, so it may belong to a lease that was given back
};

}  // namespace
}  // namespace cohort::c

using namespace cohort;
using namespace cohort::c;

cohort_code cohort_tenant_create(const cohort_tenant_options* given, cohort_tenant** tenant) {
  return guarded([&] {
    cohort_tenant*& out = checked_out(tenant, "tenant");
    const auto options = options_or_default(given, "cohort_tenant_options");
    TenantOptions how{.engine = text_or(options.engine, ""),
                      .name = text_or(options.name, ""),
                      .priority = options.priority};
    if (options.weight != 0) how.weight = options.weight;
    out = handle_of<cohort_tenant>(std::make_shared<TenantObject>(std::move(how)));
  });
}

cohort_code cohort_tenant_destroy(cohort_tenant* tenant) {
  return guarded([&] { forget(tenant)->close(); });
}

cohort_code cohort_tenant_wait_connected(cohort_tenant* tenant, int64_t timeout_ns) {
  return guarded([&] {
    const auto object = object_of(tenant);
    wait_in_turns(deadline_of(timeout_ns), [&](Clock::time_point until) {
      if (object->closed()) refuse_handle(tenant);
      if (object->left_behind())
        refuse(COHORT_ENGINE_GONE,
               "wait: the tenant is in the parent of this process; make one here");
      return object->client()->wait_connected(until);
    });
  });
}

cohort_code cohort_tenant_engine(cohort_tenant* tenant, char** name) {
  return guarded([&] {
    char*& out = checked_out(name, "name");
    out = returned(object_of(tenant)->client()->engine());
  });
}

cohort_code cohort_tenant_lease(cohort_tenant* tenant, uint32_t units, cohort_lease** lease) {
  return guarded([&] {
    cohort_lease*& out = checked_out(lease, "lease");
    out = handle_of<cohort_lease>(
        std::make_shared<TenantLeaseObject>(object_of(tenant)->client(), units));
  });
}

cohort_code cohort_tenant_try_lease(cohort_tenant* tenant, uint32_t units, cohort_lease** lease) {
  return guarded([&] {
    cohort_lease*& out = checked_out(lease, "lease");
    auto object = std::make_shared<TenantLeaseObject>(object_of(tenant)->client(), units);
    object->try_now();
    out = handle_of<cohort_lease>(std::move(object));
  });
}

cohort_code cohort_lease_wait(cohort_lease* lease, int64_t timeout_ns) {
  return guarded([&] { object_of(lease)->wait(deadline_of(timeout_ns)); });
}

cohort_code cohort_lease_units(cohort_lease* lease, uint32_t* units) {
  return guarded([&] { checked_out(units, "units") = object_of(lease)->units(); });
}

cohort_code cohort_lease_cpus(cohort_lease* lease, uint32_t* cpus, uint32_t room, uint32_t* count) {
  return guarded([&] {
    std::uint32_t& out = checked_out(count, "count");
    const auto numbers = object_of(lease)->cpus();
    if (cpus == nullptr && room != 0) refuse(COHORT_BAD_OPTIONS, "cpus: the memory is null");
    std::copy_n(numbers.begin(), std::min<std::size_t>(room, numbers.size()), cpus);
    out = static_cast<std::uint32_t>(numbers.size());
  });
}

cohort_code cohort_shared_engines(char** json) {
  return guarded([&] {
    char*& out = checked_out(json, "json");
    out = returned(nlohmann::json(shared_engines()).dump());
  });
}

cohort_code cohort_shared_engine_status(const char* engine, char** json) {
  return guarded([&] {
    char*& out = checked_out(json, "json");
    out = returned(engine_status(text_or(engine, "")));
  });
}

cohort_code cohort_shared_engine_set_capacity(const char* engine, uint32_t units) {
  return guarded([&] { set_engine_capacity(text_or(engine, ""), units); });
}
