#include "tenant/status.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "cohort/version.hpp"

namespace cohort::tenant {
namespace {

constexpr std::size_t most_jobs = 256;

/// Writes a JSON object, member by member.
class Object {
 public:
  Object& add(const char* name, const std::string& json) {
    text_ += (text_.empty() ? "{\"" : ", \"") + std::string{name} + "\": " + json;
    return *this;
  }
  template <class Number>
  Object& number(const char* name, Number value) {
    return add(name, std::to_string(value));
  }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  std::string text_;
};

std::string to_json(const Summary& summary) {
  return Object{}
      .number("count", summary.count)
      .number("p50", summary.p50)
      .number("p99", summary.p99)
      .number("max", summary.max)
      .text();
}

std::string to_json(const engine::JobRecord& job) {
  Object object;
  std::uint64_t run_time = job.ran_before;
  if (job.status == Status::running) run_time += engine::now() - job.started_at;
  object.number("id", job.number).add("status", json_string(to_string(job.status)));
  {
    const std::lock_guard moving{job.moves};
    object.number("groups", job.in_kernel)
        .number("share", job.share)
        .number("max_groups", job.body->max_groups)
        .number("weight", job.options.weight)
        .add("resizable", job.resizable() ? "true" : "false")
        .number("run_time_ns", run_time)
        .number("joins", job.joins);
  }
  return object.number("leaves", job.leaves).add("gather", to_json(job.gather.summary())).text();
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);  // unsigned, because char may be signed
    if (each == '"' || each == '\\') {
      result += '\\';
      result += each;
    } else if (byte < 0x20 || byte >= 0x7f) {  // includes all bytes of non-ASCII characters
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(byte));
      result += code.data();
    } else {
      result += each;
    }
  }
  return result + "\"";
}

void StatusText::begin(const std::string& name, EngineType type, std::uint64_t uptime) {
  name_ = name;
  type_ = type;
  uptime_ = uptime;
  text_ = R"({"protocol": )" + std::to_string(wire_version) + R"(, "version": )" +
          json_string(COHORT_VERSION);
}

void StatusText::add_jobs(engine::Dispatcher& dispatcher) {
  const engine::Dispatcher::Locked locked{dispatcher, "status"};
  text_ += ", \"engine\": " + Object{}
                                  .add("name", json_string(name_))
                                  .add("kind", type_ == EngineType::cpu ? "\"cpu\"" : "\"cuda\"")
                                  .number("pid", ::getpid())
                                  .number("capacity", dispatcher.units())
                                  .number("lendable", dispatcher.lendable())
                                  .number("uptime_ns", uptime_)
                                  .text();
  text_ += ", \"jobs\": [";
  const auto& jobs = dispatcher.jobs();
  for (std::size_t i = 0; i < std::min(jobs.size(), most_jobs); ++i)
    text_ += (i == 0 ? "" : ", ") + to_json(*jobs[i]);
  std::size_t running = 0;
  for (const auto& task : dispatcher.tasks().running()) running += task->body->guest ? 0 : 1;
  std::size_t all = 0;
  for (const auto& task : dispatcher.tasks().all()) all += task->body->guest ? 0 : 1;
  text_ += "], \"tasks\": " +
           Object{}.number("running", running).number("waiting", all - running).text();
}

void StatusText::begin_tenants(std::uint32_t slots, std::uint32_t queued) {
  text_ += ", \"slots\": " + std::to_string(slots) + ", \"queued\": " + std::to_string(queued) +
           ", \"tenants\": [";
}

void StatusText::add_tenant(const TenantStatus& tenant) {
  text_ +=
      (std::exchange(first_tenant_, false) ? "" : ", ") + Object{}
                                                              .number("slot", tenant.slot)
                                                              .number("pid", tenant.pid)
                                                              .add("name", json_string(tenant.name))
                                                              .number("weight", tenant.weight)
                                                              .number("priority", tenant.priority)
                                                              .number("demand", tenant.demand)
                                                              .number("limit", tenant.limit)
                                                              .number("granted", tenant.granted)
                                                              .number("leases", tenant.leases)
                                                              .number("held_ns", tenant.held)
                                                              .add("gather", to_json(tenant.gather))
                                                              .text();
}

std::string StatusText::end(std::uint64_t leases, const Summary& gather) {
  return text_ + "], \"leases\": " + std::to_string(leases) + ", \"gather\": " + to_json(gather) +
         "}";
}

}  // namespace cohort::tenant
