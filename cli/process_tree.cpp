#include "cli/process_tree.hpp"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

namespace cohort::cli {
namespace {

std::string proc(pid_t process, const char* file) {
  return "/proc/" + std::to_string(process) + "/" + file;
}

/// All file names in a folder that are numbers: ids of processes or of threads.
std::vector<pid_t> numbers_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir(folder.c_str()), &::closedir};
  std::vector<pid_t> numbers;
  while (open) {
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name{entry->d_name};
    pid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

std::vector<pid_t> threads_of(pid_t process) { return numbers_in(proc(process, "task")); }

}  // namespace

CpuSet::CpuSet(const std::vector<std::uint32_t>& cpus) : CpuSet() {
  for (const std::uint32_t cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &mask_);
  }
}

std::optional<CpuSet> CpuSet::of(pid_t thread) {
  CpuSet set;
  if (::sched_getaffinity(thread, sizeof set.mask_, &set.mask_) != 0) return {};
  return set;
}

CpuSet CpuSet::first() const {
  std::uint32_t cpu = 0;
  while (cpu < CPU_SETSIZE && !has(cpu)) ++cpu;
  return CpuSet{{cpu}};
}

std::string CpuSet::text() const {
  std::string result;
  for (std::size_t from = 0; from < CPU_SETSIZE; ++from) {
    if (!CPU_ISSET(from, &mask_)) continue;
    std::size_t to = from;
    while (to + 1 < CPU_SETSIZE && CPU_ISSET(to + 1, &mask_)) ++to;
    result += (result.empty() ? "" : ",") + std::to_string(from);
    if (to > from) result += "-" + std::to_string(to);
    from = to;
  }
  return result;
}

ProcessTree::ProcessTree(pid_t root, std::uint64_t started, std::string mark)
    : mark_(std::move(mark)), first_(started) {
  if (start_of(root) == started) members_[root] = started;
}

std::optional<std::uint64_t> ProcessTree::start_of(pid_t process) {
  const auto found = read(process);
  return found ? std::optional{found->started} : std::nullopt;
}

/// Reads one process. Empty if it has ended.
std::optional<ProcessTree::Process> ProcessTree::read(pid_t id) {
  std::ifstream file{proc(id, "stat")};
  std::string line;
  std::getline(file, line);
  // The name of the program is in parentheses, and may itself contain any characters.
  const std::size_t name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return {};
  std::istringstream fields{line.substr(name_ends + 1)};
  std::string state;
  Process process;
  fields >> state >> process.parent;
  std::string skipped;
  for (int field = 5; field < 22; ++field) fields >> skipped;
  if (!(fields >> process.started) || state == "Z") return {};
  return process;
}

std::map<pid_t, ProcessTree::Process> ProcessTree::all_processes() {
  std::map<pid_t, Process> all;
  for (const pid_t id : numbers_in("/proc")) {
    if (const auto process = read(id)) all[id] = *process;
  }
  return all;
}

bool ProcessTree::has_mark(pid_t process) const {
  std::ifstream file{proc(process, "environ"), std::ios::binary};
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry == mark_) return true;
  }
  return false;
}

void ProcessTree::look() {
  const pid_t own = ::getpid();
  const auto all = all_processes();
  std::erase_if(members_, [&all](const auto& member) {
    const auto found = all.find(member.first);
    return found == all.end() || found->second.started != member.second;
  });
  // Ids are reused, so a child may have a smaller id than its parent. Repeat until no more are
  // found.
  for (bool more = true; more;) {
    more = false;
    for (const auto& [id, process] : all) {
      // If the command has the id 1, its keeper becomes its child. The keeper is not part of the
      // command.
      if (id == own || process.started < first_ || members_.contains(id)) continue;
      if (!members_.contains(process.parent) && !has_mark(id)) continue;
      members_[id] = process.started;
      more = true;
    }
  }
}

void ProcessTree::bind(const CpuSet& before, const CpuSet& now) {
  // Just before a thread is bound, it may start another thread, which keeps the old CPUs. So repeat
  // until all threads were found bound. The limit is for trees that grow without end.
  constexpr int most_passes = 100;
  bool changed = true;
  for (int pass = 0; changed && pass < most_passes; ++pass) {
    changed = false;
    look();
    for (const auto& [process, started] : members_) {
      for (const pid_t thread : threads_of(process)) {
        const auto has = CpuSet::of(thread);
        if (!has || *has == now || (*has != before && has->within(now))) continue;
        if (now.bind(thread)) changed = CpuSet::of(thread) == now || changed;
      }
    }
  }
}

std::uint64_t ProcessTree::cpu_use() {
  look();
  std::uint64_t use = 0;
  for (const auto& [process, started] : members_) {
    for (const pid_t thread : threads_of(process)) {
      std::ifstream file{proc(process, ("task/" + std::to_string(thread) + "/schedstat").c_str())};
      std::uint64_t nanoseconds = 0;
      file >> nanoseconds;
      use += nanoseconds + 1;
    }
  }
  return use;
}

}  // namespace cohort::cli
