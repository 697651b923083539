#include "tool/other_programs.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace cohort::tool {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_seconds(int who) {
  rusage usage{};
  return ::getrusage(who, &usage) == 0 ? seconds(usage.ru_utime) + seconds(usage.ru_stime) : 0;
}

}  // namespace

OtherPrograms::Sample OtherPrograms::now() {
  Sample sample{.at = std::chrono::steady_clock::now(),
                .busy = 0,
                .own = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN),
                .cpus = 0};
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return sample;
  std::ifstream file{"/proc/stat"};
  for (std::string line; std::getline(file, line);) {
    std::istringstream words{line};
    std::string name;
    words >> name;
    // The line "cpu" without a number is the sum.
    if (name.size() < 4 || !name.starts_with("cpu")) continue;
    if (!CPU_ISSET(std::stoul(name.substr(3)), &usable)) continue;
    sample.cpus += 1;
    // The columns of proc(5) are user, nice, system, idle, iowait, irq, softirq, steal. Then come
    // guests, which are already counted as user.
    double ticks = 0;
    for (int column = 0; column < 8 && words >> ticks; ++column) {
      const bool idle = column == 3 || column == 4;
      if (!idle) sample.busy += ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
  }
  return sample;
}

double OtherPrograms::share() const {
  const Sample end = now();
  const double time = std::chrono::duration<double>{end.at - begin_.at}.count() * end.cpus;
  if (time <= 0) return 0;
  return std::clamp((end.busy - begin_.busy - (end.own - begin_.own)) / time, 0.0, 1.0);
}

std::string busy_warning(double share) {
  if (share <= 0.1) return "";
  return "other programs used " + std::to_string(std::lround(share * 100)) +
         "% of the CPUs: these are not a quiet machine's figures";
}

}  // namespace cohort::tool
