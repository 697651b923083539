// cohort lease: runs any program as a tenant of a shared CPU engine. Invariant: the program
// replaces this process, so signals, exit status, streams and job control are its own. A second
// process, the keeper, holds the lease while the program runs, and binds the program's threads to
// the CPUs that the engine lends. The keeper is not a child of this process.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/process_tree.hpp"
#include "cohort/error.hpp"
#include "cohort/tenant.hpp"
#include "src/files.hpp"

namespace cohort::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Environment variable that marks the processes of a command.
constexpr const char* variable = "COHORT_LEASE";
constexpr int not_executable = 126;  // the exit status that shells use
constexpr int not_found = 127;
// Descriptor at which the keeper has its end of the pipe to the command's process.
constexpr int report_descriptor = 3;
constexpr milliseconds look{10};  // interval at which the keeper reads the grant

struct Options {
  std::optional<std::uint32_t> units;
  std::optional<double> percent;
  std::string sms;
  std::string engine;
  std::optional<double> hold;
  std::vector<std::string> before_dashes;
};

/// What a keeper knows about its command.
struct KeeperOptions {
  Options how;
  pid_t command = 0;
  std::uint64_t started = 0;  // start time of the command's process, because its id may be reused
  std::string mark;
  std::string name;
};

/// An engine's kind and capacity.
struct SharedEngine {
  std::string name;
  std::string kind;
  std::uint32_t capacity = 0;
};

/// Returns nothing if there is no engine of that name.
std::optional<SharedEngine> find_engine(const std::string& name) {
  try {
    const auto status = nlohmann::json::parse(engine_status(name));
    const auto& engine = status.at("engine");
    return SharedEngine{engine.at("name"), engine.at("kind"), engine.at("capacity")};
  } catch (const Error& error) {
    if (error.code() != Errc::engine_gone) throw;
    return {};
  }
}

/// Throws Error{bad_options} for options that this engine does not support.
void check(const Options& options, const SharedEngine& engine) {
  if (engine.kind != "cpu") {
    throw Error{Errc::unsupported, "engine '" + engine.name + "' runs on " + engine.kind +
                                       ", and `cohort lease` lends CPUs only; use cohort::Tenant "
                                       "in the program"};
  }
  if (!options.sms.empty()) {
    throw Error{Errc::bad_options, "--sms " + options.sms + ": engine '" + engine.name +
                                       "' is a CPU engine; give --units or --percent"};
  }
  if (options.units.value_or(1) > engine.capacity) {
    throw Error{Errc::bad_options, "--units " + std::to_string(*options.units) + ": engine '" +
                                       engine.name + "' has " + std::to_string(engine.capacity)};
  }
}

std::uint32_t units_of(const Options& options, std::uint32_t capacity) {
  if (!options.percent) return std::min(options.units.value_or(1), capacity);
  return std::max(1U, static_cast<std::uint32_t>(std::lround(*options.percent / 100 * capacity)));
}

// ---- the keeper

class Keeper {
 public:
  explicit Keeper(const KeeperOptions& options)
      : options_(options),
        tree_(options.command, options.started, std::string{variable} + "=" + options.mark),
        own_(CpuSet::of(options.command).value_or(CpuSet{})),
        bound_(own_),
        tenant_({.engine = options.how.engine, .name = options.name}) {}

  /// Keeps the lease until the command ends, then ends this process.
  [[noreturn]] void keep() {
    std::thread{[this] { watch(); }}.detach();
    for (;;) {
      if (!tenant_.connected()) {
        bind(own_);
        report("the engine has ended meanwhile; the command runs without a lease");
        while (!tenant_.wait_connected(std::chrono::hours{1})) {
        }
      }
      const std::string name = tenant_.engine();
      const auto engine = name.empty() ? std::nullopt : find_engine(name);
      if (engine && engine->kind == "cpu") follow(name, units_of(options_.how, engine->capacity));
      std::this_thread::sleep_for(engine && engine->kind != "cpu" ? 100 * look : look);
    }
  }

 private:
  /// Holds a lease of an engine until the engine ends.
  void follow(const std::string& engine, std::uint32_t units) {
    TenantLease lease = tenant_.lease({.units = units});
    if (!lease) return;  // the engine has ended
    const std::chrono::duration<double> hold{options_.how.hold.value_or(0)};
    auto used_at = steady_clock::now();
    std::uint64_t use = 0;
    bool idle = false;
    while (tenant_.connected()) {
      const auto begin = steady_clock::now();
      if (options_.how.hold) {
        if (const std::uint64_t now = cpu_use(); now != use) {
          use = now;
          used_at = begin;
        }
        const bool was_idle = std::exchange(idle, begin - used_at > hold);
        if (idle && !was_idle) lease.give_back();
        if (!idle && was_idle) {
          lease = tenant_.lease({.units = units});
          if (!lease) return;
        }
      }
      if (!idle && !obey(lease)) {
        report("the CPUs of engine '" + engine + "' are not among this command's, " + own_.text() +
               "; it runs without a lease");
        lease.give_back();
        bind(own_);
        while (tenant_.connected()) std::this_thread::sleep_for(std::chrono::seconds{1});
        return;
      }
      const auto spent = steady_clock::now() - begin;  // large process trees are read less often
      std::this_thread::sleep_for(std::max<steady_clock::duration>(look, 20 * spent));
    }
  }

  /// Binds the command to the CPUs that are lent. Returns false if the command may not use any of
  /// them.
  bool obey(const TenantLease& lease) {
    const std::vector<std::uint32_t> lent = lease.cpus();
    std::vector<std::uint32_t> usable;
    std::ranges::copy_if(lent, std::back_inserter(usable),
                         [this](std::uint32_t cpu) { return own_.has(cpu); });
    if (usable.empty() && !lent.empty()) return false;
    const std::size_t units = std::min<std::size_t>(lease.units(), usable.size());
    if (units == 0) {  // all units have been taken back, but the command needs some CPU to continue
      if (tenant_.connected()) bind(bound_.first());
    } else {
      // An engine that does not pin its workers lists all its CPUs. Let different tenants begin at
      // different ones.
      const std::size_t from = static_cast<std::size_t>(options_.command) % usable.size();
      std::ranges::rotate(usable, usable.begin() + static_cast<std::ptrdiff_t>(from));
      usable.resize(units);
      bind(CpuSet{usable});
    }
    report("");
    return true;
  }

  void bind(const CpuSet& cpus) {
    const std::lock_guard lock{mutex_};
    if (!(cpus == bound_)) {
      before_ = std::exchange(bound_, cpus);
      // The second pass, one interval later, finds threads that were just being created.
      passes_ = 2;
    }
    if (passes_ == 0) return;
    --passes_;
    tree_.bind(before_, bound_);
  }

  std::uint64_t cpu_use() {
    const std::lock_guard lock{mutex_};
    return tree_.cpu_use();
  }

  /// Waits for the command's end, then ends this process. Processes that the command leaves behind
  /// get their CPUs back. The engine notices the end of this process.
  void watch() {
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, options_.command, 0));
    pollfd wait{.fd = process, .events = POLLIN, .revents = 0};
    while (ProcessTree::start_of(options_.command) == options_.started) {
      if (process < 0) {  // the system is too old for this call
        std::this_thread::sleep_for(look);
      } else if (::poll(&wait, 1, -1) > 0) {
        break;
      }
    }
    const std::lock_guard lock{mutex_};
    tree_.bind(bound_, own_);
    ::_exit(fine);
  }

  /// Lets the command begin, or tells it why not. Only the first report counts.
  void report(const std::string& text) {
    if (reported_) return;
    reported_ = true;
    const Descriptor out{report_descriptor};
    const std::string line = text + '\n';
    static_cast<void>(out.write(line.data(), line.size()));
  }

  const KeeperOptions& options_;
  std::mutex mutex_;  // guards the following members
  ProcessTree tree_;
  const CpuSet own_;  // CPUs that the command had before the lease
  CpuSet bound_;
  CpuSet before_;
  int passes_ = 0;

  Tenant tenant_;
  bool reported_ = false;
};

int keep(const KeeperOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  Keeper{options}.keep();
}

/// Starts the keeper as a process that is not a child of this one, which will become the command.
/// Returns the pipe on which the keeper reports.
Descriptor start_keeper(const Options& options, std::uint64_t started, const std::string& mark,
                        const std::string& name) {
  std::vector<std::string> words{"cohort",
                                 "lease-keeper",
                                 std::to_string(::getpid()),
                                 std::to_string(started),
                                 mark,
                                 "--called",
                                 name};
  const auto add = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (!options.engine.empty()) add("--name", options.engine);
  if (options.units) add("--units", std::to_string(*options.units));
  if (options.percent) add("--percent", std::to_string(*options.percent));
  if (options.hold) add("--hold", std::to_string(*options.hold));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "cannot make a pipe"};
  Descriptor reading{ends[0]};
  const Descriptor writing{ends[1]};
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "cannot start a process"};
  if (child == 0) {
    // This makes only calls that are safe after fork() in a program with threads. The keeper closes
    // the command's terminal and files.
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    ::dup2(ends[1], report_descriptor + 1);
    // Dup2 to another number first, so that the descriptor stays open in exec.
    ::dup2(report_descriptor + 1, report_descriptor);
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int stream = 0; stream < report_descriptor; ++stream) ::dup2(nothing, stream);
    ::syscall(SYS_close_range, report_descriptor + 1, ~0U, 0);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(failed);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return reading;
}

/// Waits for the keeper's report. Returns its text; empty if all is well.
std::string hear(const Descriptor& keeper, const std::string& engine) {
  std::string said;
  for (int patience = 1000;; patience = -1) {
    pollfd wait{.fd = keeper.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, patience);
    if (ready == 0) {
      std::cerr << "cohort: waiting for engine '" << engine << "' to lend a CPU\n";
      continue;
    }
    std::array<char, 512> buffer{};
    const ssize_t got = ::read(keeper.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(got));
    // Stops at the line's end, because another process may have a copy of the keeper's end.
    if (said.ends_with('\n')) break;
  }
  if (said.empty()) return "the lease failed; the command runs without one";
  said.pop_back();
  return said;
}

// ---- the command

/// The error that execvp() would report for the program: 0, ENOENT or EACCES.
int error_of(const std::string& program) {
  const auto check_file = [](const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return errno == EACCES ? EACCES : ENOENT;
    return S_ISREG(status.st_mode) && ::access(file.c_str(), X_OK) == 0 ? 0 : EACCES;
  };
  if (program.empty()) return ENOENT;
  if (program.find('/') != std::string::npos) return check_file(program);
  const char* const variable_path = std::getenv("PATH");
  const std::string path = variable_path == nullptr ? "/bin:/usr/bin" : variable_path;
  int error = ENOENT;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t end = std::min(path.find(':', from), path.size());
    const std::string folder = path.substr(from, end - from);
    const int its = check_file((folder.empty() ? "." : folder) + "/" + program);
    if (its == 0) return 0;
    if (its == EACCES) error = EACCES;
    from = end + 1;
  }
  return error;
}

int cannot_start(const std::string& program, int error) {
  if (error == ENOENT) {
    std::cerr << "cohort: '" << program << "': command not found\n";
    return not_found;
  }
  std::cerr << "cohort: '" << program
            << "': cannot be executed: " << std::generic_category().message(error) << '\n';
  return not_executable;
}

/// The mark of the processes of a command. The start time distinguishes it from a later process
/// with the same id.
std::string mark_of(pid_t command, std::uint64_t started) {
  return std::to_string(command) + "-" + std::to_string(started);
}

/// Whether this process already runs under a lease.
bool leased() {
  const char* const mark = std::getenv(variable);
  pid_t command = 0;
  if (mark == nullptr) return false;
  static_cast<void>(std::from_chars(mark, mark + std::string_view{mark}.size(), command));
  const auto started = ProcessTree::start_of(command);
  return started && mark == mark_of(command, *started);
}

int lease(const Options& options, std::vector<std::string> command, Interrupt& interrupt) {
  if (!options.before_dashes.empty()) {
    throw Error{Errc::bad_options, "lease " + options.before_dashes.front() +
                                       ": put -- before the command, as in `cohort lease -- " +
                                       options.before_dashes.front() + "`"};
  }
  if (command.empty()) {
    throw Error{
        Errc::bad_options,
        "lease: no command given; give it after --, as in `cohort lease --units 2 -- make`"};
  }
  if (const int error = error_of(command[0]); error != 0) return cannot_start(command[0], error);
  const std::string program = command[0].substr(command[0].rfind('/') + 1);
  if (leased()) {
    std::cerr << "cohort: this is under a lease already; " << program << " shares it\n";
  } else {
    const auto engine = find_engine(options.engine);
    if (engine) check(options, *engine);
    const std::uint64_t started = ProcessTree::start_of(::getpid()).value_or(0);
    const std::string mark = mark_of(::getpid(), started);
    const Descriptor keeper = start_keeper(options, started, mark, program.substr(0, 63));
    ::setenv(variable, mark.c_str(), 1);
    if (!engine) {
      std::cerr << "cohort: no engine "
                << (options.engine.empty() ? "is shared" : "'" + options.engine + "' is shared")
                << "; " << program << " starts without a lease\n";
    } else if (const std::string said = hear(keeper, engine->name); !said.empty()) {
      std::cerr << "cohort: " << said << '\n';
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::signal(SIGXFSZ, SIG_DFL);  // undoes main(), which ignores the signal
  interrupt.restore_signals();
  ::execvp(arguments[0], arguments.data());
  return cannot_start(command[0], errno);
}

void add_amounts(CLI::App& command, Options& options) {
  auto* const units = add_number(command, "--units", options.units, 1, max_groups_limit,
                                 "CPUs to lease from a CPU engine (default: 1)");
  add_value(command, "--percent", options.percent, "P", "The same in percent of the engine's CPUs")
      ->check(positive_number("--percent", 100))
      ->excludes(units);
  add_value(command, "--name", options.engine, "NAME",
            "The engine's name (default: $COHORT_ENGINE, or the only engine that is shared)");
  add_value(command, "--hold", options.hold, "SECONDS",
            "Give the lease back when the command has not used a CPU for that long, and take a new "
            "one when it does (default: keep it until the end)")
      ->check(positive_number("--hold", 1e6));
}

/// A hidden command, which start_keeper() runs.
void add_keeper(CLI::App& tool, Action& chosen) {
  CLI::App* const command = tool.add_subcommand("lease-keeper")->group("");
  const auto options = std::make_shared<KeeperOptions>();
  command->add_option("pid", options->command)->required();
  command->add_option("started", options->started)->required();
  command->add_option("mark", options->mark)->required();
  command->add_option("--called", options->name);
  add_amounts(*command, options->how);
  command->callback([options, &chosen] { chosen = [options] { return keep(*options); }; });
}

}  // namespace

void add_lease(CLI::App& tool, Action& chosen, Interrupt& interrupt,
               const std::vector<std::string>& words) {
  CLI::App* const command = tool.add_subcommand(
      "lease", "Run any program on CPUs that a shared engine lends, while its job continues");
  const auto options = std::make_shared<Options>();
  add_amounts(*command, *options);
  add_value(*command, "--sms", options->sms, "K", "SMs of a GPU; not with a CPU engine")->group("");
  command->add_option("command", options->before_dashes, "The command and its arguments, after --");
  command->footer(
      "The command starts when the engine has lent a CPU, and may use those that are lent. "
      "Without\n"
      "an engine it starts at once, with all CPUs. Its exit status is that of the command; 127: "
      "not\n"
      "found, 126: cannot be executed.\n\n"
      "  cohort run mis --input rmat:22 --repeat 100 --share=night &\n"
      "  cohort lease --units 2 --name night -- make -j 2");
  command->callback([options, words, &chosen, &interrupt] {
    chosen = [options, words, &interrupt] { return lease(*options, words, interrupt); };
  });
  add_keeper(tool, chosen);
}

}  // namespace cohort::cli
