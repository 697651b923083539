// The JSON document about a shared engine. docs/tenants.md describes its shape. Invariant: it is
// valid JSON whatever a tenant's name contains, and short enough for one message.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "cohort/samples.hpp"
#include "engine/dispatcher.hpp"
#include "tenant/wire.hpp"

namespace cohort::tenant {

struct TenantStatus {
  std::uint32_t slot = 0;
  pid_t pid = 0;
  std::string name;
  std::uint32_t weight = 0;
  int priority = 0;
  std::uint32_t demand = 0;
  std::uint32_t limit = 0;
  std::uint32_t granted = 0;
  std::uint64_t leases = 0;
  std::uint64_t held = 0;
  Summary gather;
};

/// Writes the document, from its first member to its last.
class StatusText {
 public:
  void begin(const std::string& name, EngineType type, std::uint64_t uptime);
  /// Adds the engine's jobs. Takes the dispatcher's mutex.
  void add_jobs(engine::Dispatcher& dispatcher);
  void begin_tenants(std::uint32_t slots, std::uint32_t queued);
  void add_tenant(const TenantStatus& tenant);
  [[nodiscard]] std::string end(std::uint64_t leases, const Summary& gather);

 private:
  std::string text_;
  EngineType type_ = EngineType::cpu;
  std::string name_;
  std::uint64_t uptime_ = 0;
  bool first_tenant_ = true;
};

/// The text as a JSON string, with quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace cohort::tenant
