// cohort top: shows what the shared engines of this user are doing. cohort throttle: sets the
// capacity of one of them from outside.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/metrics_server.hpp"
#include "cli/options.hpp"
#include "cohort/error.hpp"
#include "cohort/tenant.hpp"

namespace cohort::cli {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Options {
  std::string name;
  bool once = false;
  bool json = false;
  double interval = 1;
  std::optional<std::uint16_t> prometheus;
};

/// The documents of all engines that answer, or only of the one called `name` if it is given.
std::vector<json> engines(const std::string& name) {
  std::vector<json> all;
  for (const std::string& each : name.empty() ? shared_engines() : std::vector{name}) {
    try {
      json status = json::parse(engine_status(each), nullptr, false);
      if (status.is_object() && status.contains("engine")) all.push_back(std::move(status));
    } catch (const Error& error) {
      if (error.code() != Errc::engine_gone) throw;  // otherwise the engine has ended meanwhile
    }
  }
  return all;
}

// ---- on a terminal, or as lines

/// Makes text printable on any terminal, because tenants choose their names.
std::string plain(const std::string& text) {
  std::string result = text;
  std::ranges::replace_if(
      result, [](char each) { return each < ' ' || each > '~'; }, '?');
  return result;
}

std::string text_of(const json& object, const char* member) {
  return plain(object.value(member, std::string{}));
}
std::uint64_t number_of(const json& object, const char* member) {
  return object.value(member, std::uint64_t{0});
}
json list_of(const json& object, const char* member) { return object.value(member, json::array()); }

/// The duration with a unit, e.g. "90.0 us".
std::string duration(std::uint64_t nanoseconds) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr std::array units{Unit{1e9, " s"}, Unit{1e6, " ms"}, Unit{1e3, " us"}};
  const auto value = static_cast<double>(nanoseconds);
  const auto unit =
      std::ranges::find_if(units, [value](const Unit& each) { return value >= each.size; });
  const Unit& chosen = unit == units.end() ? units.back() : *unit;
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value / chosen.size << chosen.name;
  return text.str();
}

std::string gather(const json& object) {
  const json summary = object.value("gather", json::object());
  if (number_of(summary, "count") == 0) return "";
  return ", gather p50 " + duration(number_of(summary, "p50")) + ", p99 " +
         duration(number_of(summary, "p99"));
}

/// Data of an engine that is kept from one sample to the next.
struct History {
  std::deque<std::uint64_t> groups;  // number of groups in kernels, over time
  std::uint64_t leases = 0;
  Clock::time_point at;
};

class View {
 public:
  /// The engines as lines of text.
  std::vector<std::string> lines(const std::vector<json>& all, const std::string& name) {
    std::vector<std::string> result;
    std::map<std::string, History> next;
    for (const json& status : all) {
      const json& engine = status["engine"];
      const std::string key =
          text_of(engine, "name") + "/" + std::to_string(number_of(engine, "pid"));
      describe(status, next[key] = std::move(histories_[key]), result);
    }
    histories_ = std::move(next);
    if (all.empty())
      result.push_back(name.empty() ? "no engine is shared" : "no engine '" + name + "' is shared");
    return result;
  }

 private:
  static void describe(const json& status, History& history, std::vector<std::string>& lines) {
    constexpr std::size_t columns = 40;
    const json& engine = status["engine"];
    const std::uint64_t capacity = number_of(engine, "capacity");
    const json jobs = list_of(status, "jobs");
    std::uint64_t groups = 0;
    for (const json& job : jobs) groups += number_of(job, "groups");
    history.groups.push_back(groups);
    if (history.groups.size() > columns) history.groups.pop_front();
    const std::uint64_t leases = number_of(status, "leases");
    const Clock::time_point now = Clock::now();
    std::ostringstream rate;
    if (history.at != Clock::time_point{}) {
      rate << std::fixed << std::setprecision(1) << ", "
           << static_cast<double>(leases - std::min(leases, history.leases)) /
                  Seconds{now - history.at}.count()
           << "/s";
    }
    history.leases = leases;
    history.at = now;

    lines.push_back(text_of(engine, "name") + "  " + text_of(engine, "kind") + " engine, " +
                    std::to_string(capacity) + " units, " +
                    std::to_string(number_of(engine, "lendable")) + " lendable, process " +
                    std::to_string(number_of(engine, "pid")) + ", up " +
                    duration(number_of(engine, "uptime_ns")));
    lines.push_back("  groups  " + sparkline(history.groups, capacity) + " " +
                    std::to_string(groups) + " of " + std::to_string(capacity) + "; leases " +
                    std::to_string(leases) + rate.str() + gather(status));
    for (const json& job : jobs) {
      lines.push_back("  job " + std::to_string(number_of(job, "id")) + "  " +
                      text_of(job, "status") + ", " + std::to_string(number_of(job, "groups")) +
                      " of at most " + std::to_string(number_of(job, "max_groups")) +
                      " groups, weight " + std::to_string(number_of(job, "weight")) + ", " +
                      std::to_string(number_of(job, "joins")) + " joined, " +
                      std::to_string(number_of(job, "leaves")) + " left" + gather(job));
    }
    const json tasks = status.value("tasks", json::object());
    if (number_of(tasks, "running") + number_of(tasks, "waiting") > 0) {
      lines.push_back("  tasks  " + std::to_string(number_of(tasks, "running")) + " running, " +
                      std::to_string(number_of(tasks, "waiting")) + " waiting");
    }
    for (const json& tenant : list_of(status, "tenants")) {
      lines.push_back("  tenant " + text_of(tenant, "name") + "  process " +
                      std::to_string(number_of(tenant, "pid")) + ", wants " +
                      std::to_string(number_of(tenant, "demand")) + ", has " +
                      std::to_string(number_of(tenant, "granted")) + ", weight " +
                      std::to_string(number_of(tenant, "weight")) + ", " +
                      std::to_string(number_of(tenant, "leases")) + " leases" + gather(tenant));
    }
    if (const std::uint64_t queued = number_of(status, "queued"); queued > 0)
      lines.push_back("  " + std::to_string(queued) + " more tenants wait for a slot");
  }

  static std::string sparkline(const std::deque<std::uint64_t>& values, std::uint64_t most) {
    constexpr std::array bars{"\u2581", "\u2582", "\u2583", "\u2584",
                              "\u2585", "\u2586", "\u2587", "\u2588"};
    std::string line;
    for (const std::uint64_t each : values) {
      const std::uint64_t height = most == 0 ? 0 : std::min(each, most) * (bars.size() - 1) / most;
      line += bars.at(height);
    }
    return line;
  }

  std::map<std::string, History> histories_;
};

/// Switches to the terminal's alternate screen, until the end of the scope.
class Screen {
 public:
  Screen() { std::cout << "\033[?1049h\033[?25l" << std::flush; }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { std::cout << "\033[?25h\033[?1049l" << std::flush; }

  static void show(const std::vector<std::string>& lines) {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const std::size_t rows = known ? size.ws_row : 24;
    std::string all = "\033[H";
    for (std::size_t i = 0; i < std::min(rows, lines.size()); ++i)
      all += (i == 0 ? "" : "\n") + cut(lines[i], known ? size.ws_col : 80) + "\033[K";
    std::cout << all << "\033[J" << std::flush;
  }

 private:
  /// The first `columns` characters of a line.
  static std::string cut(const std::string& line, std::size_t columns) {
    std::size_t characters = 0;
    for (std::size_t at = 0; at < line.size(); ++at) {
      const bool begins = (static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U;
      if (begins && characters++ == columns) return line.substr(0, at);
    }
    return line;
  }
};

// ---- for Prometheus

/// Collects families of metrics, in Prometheus' text format 0.0.4.
class Metrics {
 public:
  using Labels = std::vector<std::pair<const char*, std::string>>;

  void add(const char* name, const char* type, const char* help, const Labels& labels,
           double value) {
    std::ostringstream& family = families_[name];
    if (family.str().empty())
      family << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
    family << name << '{';
    const char* comma = "";
    for (const auto& [label, text] : labels) {
      family << std::exchange(comma, ",") << label << "=\"" << escaped(text) << '"';
    }
    family << "} " << std::setprecision(17) << value << '\n';
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& [name, family] : families_) all += family.str();
    return all;
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char each : plain(text)) {
      if (each == '\\' || each == '"') result += '\\';
      result += each;
    }
    return result;
  }

  std::map<std::string, std::ostringstream> families_;
};

std::string metrics(const std::vector<json>& all) {
  Metrics result;
  const auto seconds = [](const json& object, const char* member) {
    return static_cast<double>(number_of(object, member)) / 1e9;
  };
  for (const json& status : all) {
    const json& engine = status["engine"];
    const std::string name = text_of(engine, "name");
    const Metrics::Labels its{{"engine", name}};
    const auto gauge = [&](const char* metric, const char* help, const json& object,
                           const char* member, const Metrics::Labels& labels) {
      result.add(metric, "gauge", help, labels, static_cast<double>(number_of(object, member)));
    };
    const auto counter = [&](const char* metric, const char* help, const json& object,
                             const char* member, const Metrics::Labels& labels) {
      result.add(metric, "counter", help, labels, static_cast<double>(number_of(object, member)));
    };
    gauge("cohort_engine_capacity", "Units of the engine", engine, "capacity", its);
    gauge("cohort_engine_lendable", "Units that tenants may hold together", engine, "lendable",
          its);
    gauge("cohort_tenants_queued", "Tenants that wait for a slot", status, "queued", its);
    counter("cohort_leases_total", "Demands of tenants that were met", status, "leases", its);
    const json times = status.value("gather", json::object());
    for (const auto& [quantile, member] : {std::pair{"0.5", "p50"}, std::pair{"0.99", "p99"}}) {
      result.add("cohort_gather_seconds", "gauge", "Time from a demand until it was met",
                 {{"engine", name}, {"quantile", quantile}}, seconds(times, member));
    }
    for (const json& job : list_of(status, "jobs")) {
      const Metrics::Labels labels{{"engine", name}, {"job", std::to_string(number_of(job, "id"))}};
      gauge("cohort_job_groups", "Groups in the kernel", job, "groups", labels);
      gauge("cohort_job_share", "Groups that the scheduler gives the job", job, "share", labels);
      counter("cohort_job_joins_total", "Groups that joined", job, "joins", labels);
      counter("cohort_job_leaves_total", "Groups that left", job, "leaves", labels);
    }
    for (const json& tenant : list_of(status, "tenants")) {
      const Metrics::Labels labels{{"engine", name},
                                   {"slot", std::to_string(number_of(tenant, "slot"))},
                                   {"tenant", text_of(tenant, "name")},
                                   {"pid", std::to_string(number_of(tenant, "pid"))}};
      gauge("cohort_tenant_demand", "Units wanted", tenant, "demand", labels);
      gauge("cohort_tenant_granted", "Units held", tenant, "granted", labels);
      counter("cohort_tenant_leases_total", "Demands that were met", tenant, "leases", labels);
      result.add("cohort_tenant_held_seconds_total", "counter", "Time held, summed over units",
                 labels, seconds(tenant, "held_ns"));
    }
  }
  return result.text();
}

int serve(const Options& options, const std::stop_token& stop) {
  MetricsServer server{*options.prometheus};
  std::cout << "metrics on http://127.0.0.1:" << server.port() << "/metrics" << std::endl;
  const auto page = [&options] {
    try {
      return metrics(engines(options.name));
    } catch (const std::exception&) {  // the engine has another version
      return std::string{};
    }
  };
  while (!stop.stop_requested())
    server.serve_until(Clock::now() + std::chrono::milliseconds{50}, page);
  return fine;
}

// ---- the commands

std::string as_json(const std::vector<json>& all, int indent) {
  json document;
  document["engines"] = all;
  return document.dump(indent, ' ', false, json::error_handler_t::replace);
}

int top(const Options& options, Interrupt& interrupt) {
  const Interrupt::Graceful graceful{interrupt};
  const std::stop_token stop = interrupt.token();
  if (options.prometheus) return serve(options, stop);
  if (options.once) {
    const auto all = engines(options.name);
    if (!options.name.empty() && all.empty())
      throw Error{Errc::engine_gone, "no engine '" + plain(options.name) + "' is shared"};
    if (options.json) {
      std::cout << as_json(all, 2) << '\n';
    } else {
      for (const std::string& line : View{}.lines(all, options.name)) std::cout << line << '\n';
    }
    return fine;
  }
  std::optional<Screen> screen;
  if (!options.json && ::isatty(STDOUT_FILENO) == 1) screen.emplace();
  View view;
  std::mutex mutex;
  std::condition_variable_any changed;
  while (!stop.stop_requested() && std::cout) {
    const auto all = engines(options.name);
    if (options.json) {
      std::cout << as_json(all, -1) << std::endl;
    } else if (const auto lines = view.lines(all, options.name); screen) {
      Screen::show(lines);
    } else {
      for (const std::string& line : lines) std::cout << line << '\n';
      std::cout << std::endl;
    }
    std::unique_lock lock{mutex};
    changed.wait_for(lock, stop, Seconds{options.interval}, [] { return false; });
  }
  return fine;
}

}  // namespace

void add_top(CLI::App& tool, Action& chosen, Interrupt& interrupt) {
  CLI::App* const command =
      tool.add_subcommand("top", "Show the shared engines of this user, their jobs and tenants");
  const auto options = std::make_shared<Options>();
  command->add_option("name", options->name, "Only the engine of this name");
  auto* const once = command->add_flag("--once", options->once, "Show them once, and exit");
  auto* const as_json =
      command->add_flag("--json", options->json,
                        "Print JSON: one document with --once, otherwise one line each time");
  auto* const interval =
      add_value(*command, "--interval", options->interval, "SECONDS", "Time between two looks");
  interval->check(positive_number("--interval", 3600))->capture_default_str()->excludes(once);
  add_number(*command, "--prometheus", options->prometheus, 0, 65535,
             "Serve metrics for Prometheus at http://127.0.0.1:N/metrics; 0 takes a free port")
      ->excludes(once)
      ->excludes(as_json)
      ->excludes(interval);
  command->footer(
      "  cohort top                        a live view; end it with Ctrl-C\n"
      "  cohort top --once --json          for scripts\n"
      "  cohort top --prometheus 9464      for Prometheus on this machine");
  command->callback([options, &chosen, &interrupt] {
    chosen = [options, &interrupt] { return top(*options, interrupt); };
  });
}

void add_throttle(CLI::App& tool, Action& chosen) {
  struct Throttle {
    std::string name;
    std::uint32_t units = 1;
  };
  CLI::App* const command = tool.add_subcommand(
      "throttle", "Set the number of units that a shared engine uses, while its jobs run");
  const auto options = std::make_shared<Throttle>();
  command->add_option("name", options->name, "The engine's name; see `cohort top`")->required();
  command->add_option("units", options->units, "Workers of a CPU engine, work-groups, or SMs")
      ->check(whole_number("units", 1, max_groups_limit))
      ->required();
  command->callback([options, &chosen] {
    chosen = [options] {
      set_engine_capacity(options->name, options->units);
      return fine;
    };
  });
}

}  // namespace cohort::cli
