#include "opencl/device.hpp"

#include <algorithm>
#include <charconv>

#include "cohort/cpu.hpp"

namespace cohort::opencl {
namespace {

struct Found {
  cl::Device device;
  Device info;
};

/// The version as a number: 30 for "OpenCL 3.0 PoCL HSTR: ...".
int version_of(const std::string& version) {
  const std::string_view text{version};
  constexpr std::string_view prefix = "OpenCL ";
  if (!text.starts_with(prefix) || text.size() < prefix.size() + 3) return 0;
  return (text[prefix.size()] - '0') * 10 + (text[prefix.size() + 2] - '0');
}

Features features_of(const cl::Device& device) {
  Features result;
  result.version = version_of(device.getInfo<CL_DEVICE_VERSION>());
  result.compiler = device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() != 0;
  result.wide = device.getInfo<CL_DEVICE_ADDRESS_BITS>() == 64;
  result.little_endian = device.getInfo<CL_DEVICE_ENDIAN_LITTLE>() != 0;
  if (result.version < 20) return result;  // these queries need OpenCL 2
  const auto svm = device.getInfo<CL_DEVICE_SVM_CAPABILITIES>();
  result.shared_memory = (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
  result.shared_atomics = (svm & CL_DEVICE_SVM_ATOMICS) != 0;
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  result.wide_atomics = extensions.find("cl_khr_int64_base_atomics") != std::string::npos;
  result.ordered_atomics = result.host_atomics = true;  // both are part of OpenCL 2
  if (result.version < 30) return result;
  const auto atomics = device.getInfo<CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES>();
  result.ordered_atomics = (atomics & CL_DEVICE_ATOMIC_ORDER_ACQ_REL) != 0;
  result.host_atomics = (atomics & CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES) != 0;
  return result;
}

std::vector<Found> find_all() {
  std::vector<Found> result;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {  // there is no platform
    return result;
  }
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> all;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &all);
    } catch (const cl::Error&) {  // the platform has no devices
      continue;
    }
    for (const cl::Device& each : all) {
      result.push_back({each,
                        {.name = each.getInfo<CL_DEVICE_NAME>(),
                         .platform = platform.getInfo<CL_PLATFORM_NAME>(),
                         .version = each.getInfo<CL_DEVICE_VERSION>(),
                         .units = each.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>(),
                         .is_cpu = (each.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0,
                         .lacks = missing(features_of(each))}});
    }
  }
  return result;
}

bool matches(const Found& found, std::size_t number, const std::string& wanted) {
  std::size_t parsed = 0;
  const char* const end = wanted.data() + wanted.size();
  const auto [stopped, error] = std::from_chars(wanted.data(), end, parsed);
  if (error == std::errc{} && stopped == end) return parsed == number;
  return found.info.name.find(wanted) != std::string::npos ||
         found.info.platform.find(wanted) != std::string::npos;
}

std::string list(const std::vector<Found>& all) {
  std::string result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    result += (i == 0 ? "" : "; ") + std::to_string(i) + " " + all[i].info.name + " (" +
              all[i].info.platform + ")";
    if (!all[i].info.lacks.empty()) result += " lacks " + all[i].info.lacks;
  }
  return result;
}

}  // namespace

std::string missing(const Features& features) {
  std::string result;
  const auto need = [&result](bool has, const char* what) {
    if (!has) result.append(result.empty() ? "" : ", ").append(what);
  };
  need(features.version >= 20, "OpenCL 2.0");
  need(features.compiler, "a compiler");
  need(features.wide, "64-bit addresses");
  need(features.little_endian, "little-endian words");
  if (features.version < 20) return result;
  need(features.shared_memory, "fine-grained shared virtual memory");
  need(features.shared_atomics, "atomics in shared virtual memory");
  need(features.wide_atomics, "64-bit atomics");
  need(features.ordered_atomics, "acquire and release atomics");
  need(features.host_atomics, "atomics that the host sees");
  return result;
}

std::vector<Device> devices() {
  std::vector<Device> result;
  for (const Found& each : find_all()) result.push_back(each.info);
  return result;
}

Chosen choose_device(const std::string& wanted) {
  const std::vector<Found> all = find_all();
  if (all.empty()) {
    throw Error{Errc::unsupported,
                "opencl engine: there is no OpenCL device; install a driver, for this machine's "
                "CPU pocl-opencl-icd"};
  }
  const Found* found = nullptr;
  for (std::size_t i = 0; i < all.size() && found == nullptr; ++i) {
    if (wanted.empty() ? all[i].info.lacks.empty() : matches(all[i], i, wanted)) found = &all[i];
  }
  if (found == nullptr) {
    throw Error{wanted.empty() ? Errc::unsupported : Errc::bad_options,
                (wanted.empty() ? std::string{"opencl engine: no device has what it needs"}
                                : "opencl engine: no device '" + wanted + "'") +
                    "; there is " + list(all)};
  }
  if (!found->info.lacks.empty()) {
    throw Error{Errc::unsupported,
                "opencl engine: " + found->info.name + " lacks " + found->info.lacks};
  }
  // A CPU device runs one group on each of its threads. A compute unit of a GPU may run several.
  constexpr std::uint32_t groups_on_a_unit = 32;
  const std::uint32_t units = std::clamp(
      found->info.units * (found->info.is_cpu ? 1 : groups_on_a_unit), 1U, max_groups_limit);
  Chosen result{.device = found->device,
                .info = found->info,
                .most_groups = units,
                .usual_groups = units,
                .standard = version_of(found->info.version) >= 30 ? "CL3.0" : "CL2.0"};
  // A CPU device may have more threads than this process has CPUs. The extra threads would only
  // wait for each other.
  if (found->info.is_cpu) result.usual_groups = std::min(units, cpu::usable_cpus());
  return result;
}

}  // namespace cohort::opencl
