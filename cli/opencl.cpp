// cohort opencl check: tells the owner of an OpenCL device whether cohort works on it, and how
// well. Invariant: every wait ends, even on a device that ignores requests.
#include <iomanip>
#include <iostream>

#include "cli/commands.hpp"
#include "cohort/error.hpp"
#include "cohort/version.hpp"
#include "tool/app_engine.hpp"
#include "tool/load.hpp"
#include "tool/record.hpp"
#include "tool/statistics.hpp"

namespace cohort::cli {
namespace {

#ifdef COHORT_WITH_OPENCL
using namespace std::chrono_literals;

/// Time after which a run is given up.
constexpr std::chrono::seconds patience{30};
constexpr std::uint32_t repetitions = 7;
constexpr std::size_t tasks = 40;

/// A trial consists of an app and a small input. One app has barriers, another steals work.
struct Trial {
  std::string_view app;
  std::string_view input;
};
constexpr Trial trials[] = {{"bfs", "grid:200x200"}, {"octree", "particles:50000"}};

/// Runs the app once and returns its time in seconds. Throws if the result is wrong, or does not
/// come in time.
double run_once(tool::AppEngine& engine, const apps::Ready& app, bool resizable,
                tool::Load* load = nullptr) {
  apps::RunOptions how;
  how.launch.resizable = resizable;
  how.drive = [load](const Job& job) {
    if (load != nullptr) return load->drive(job, patience);
    if (!job.wait_for(patience)) job.cancel();
    return job.wait();
  };
  const apps::Outcome ran = apps::outcome(engine.run(app, how), true);
  const std::string what = std::string{app.info->name} + (resizable ? "" : ", a static launch");
  if (ran.report.status != Status::finished) {
    throw Error{Errc::device_lost, what + ": not done after " + std::to_string(patience.count()) +
                                       " s; does the device run its work-groups fairly?"};
  }
  if (ran.verified != true) throw Error{Errc::device_lost, what + ": WRONG: " + ran.difference};
  return std::chrono::duration<double>{ran.report.run_time}.count();
}

std::string in_us(double nanoseconds) {
  return std::to_string(static_cast<std::int64_t>(nanoseconds / 1e3)) + " us";
}

void line(const std::string& what, const std::string& value) {
  std::cout << "  " << std::left << std::setw(34) << what << value << std::endl;
}

std::string two_digits(double value) {
  return std::to_string(value).substr(0, std::to_string(value).find('.') + 3);
}

void check_device(std::size_t number, const opencl::Device& device) {
  tool::AppEngine engine{{.engine = "opencl", .device = std::to_string(number)}};
  const std::uint32_t units = engine.capacity();
  line("work-groups that run at a time",
       std::to_string(units) + (device.is_cpu ? ", for the CPUs of this process"
                                              : " of " + std::to_string(device.units)));
  const std::uint32_t share = std::max(1U, units / 2);
  const auto product = engine.product(64, {.groups = share, .priority = 1});
  for (const Trial& trial : trials) {
    const apps::Ready app = engine.prepare(trial.app, std::string{trial.input}, {});
    static_cast<void>(run_once(engine, app, true));  // the first run includes the device's compiler
    std::vector<double> ratios;
    for (std::uint32_t i = 0; i < repetitions; ++i) {
      const double fixed = run_once(engine, app, false);
      ratios.push_back(run_once(engine, app, true) / fixed);
    }
    tool::Load load{product, 10ms};
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (load.begun_beside() < tasks && std::chrono::steady_clock::now() < give_up)
      static_cast<void>(run_once(engine, app, true, &load));
    load.end();
    std::vector<double> gathers;
    for (const tool::TaskSample& each : load.tasks()) {
      if (each.beside) gathers.push_back(static_cast<double>(each.gather));
    }
    const std::string name = std::string{trial.app} + " on " + std::string{trial.input};
    line(name, "right, alone and next to tasks");
    line("  cost of being resizable", two_digits(tool::median(ratios)) + "x of a static launch");
    if (gathers.empty() || load.wrong() > 0)
      throw Error{Errc::device_lost, gathers.empty() ? "no task was served" : "a task is WRONG"};
    line("  " + std::to_string(share) + " of " + std::to_string(units) + " groups gathered within",
         in_us(tool::median(gathers)) + " (p99 " + in_us(tool::percentile(gathers, 99)) + "), " +
             std::to_string(gathers.size()) + " tasks");
  }
}

int check(const std::string& wanted) {
  const std::vector<opencl::Device> devices = opencl::devices();
  if (devices.empty()) {
    throw Error{Errc::unsupported,
                "opencl check: there is no OpenCL device; install the driver of yours, or PoCL "
                "(pocl-opencl-icd) for the CPU"};
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string name = devices[i].name + " " + devices[i].platform;
    if (name.find(wanted) != std::string::npos || wanted == std::to_string(i)) chosen.push_back(i);
  }
  if (chosen.empty()) {
    throw Error{Errc::bad_options,
                "opencl check: no device is called '" + wanted + "'; see `cohort list`"};
  }
  std::cout << "cohort " COHORT_VERSION " (" << tool::commit() << "), " << tool::utc_time() << '\n';
  int status = fine;
  for (const std::size_t i : chosen) {
    const opencl::Device& device = devices[i];
    std::cout << "\ndevice " << i << ": " << device.name << '\n';
    line("platform", device.platform + ", " + device.version);
    line("compute units", std::to_string(device.units));
    if (!device.lacks.empty()) {
      line("cohort does not work here", "it lacks " + device.lacks);
      continue;
    }
    try {
      check_device(i, device);
      line("cohort works here", "");
    } catch (const Error& error) {
      line("cohort does NOT work here", error.what());
      status = failed;
    }
  }
  return status;
}
#else
int check(const std::string& /*wanted*/) {
  throw Error{Errc::unsupported,
              "opencl check: not available in this build; configure with COHORT_OPENCL=ON"};
}
#endif

}  // namespace

void add_opencl(CLI::App& tool, Action& chosen) {
  CLI::App* const group = tool.add_subcommand("opencl", "Check OpenCL devices");
  group->require_subcommand(1);
  CLI::App* const command = group->add_subcommand(
      "check", "Tell whether cohort works on the OpenCL devices of this machine, and how well");
  const auto device = std::make_shared<std::string>();
  command->add_option("--device", *device, "Part of a name, or a number; all devices by default")
      ->type_name("DEVICE");
  command->callback([device, &chosen] { chosen = [device] { return check(*device); }; });
}

}  // namespace cohort::cli
