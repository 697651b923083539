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

/// "OpenCL 3.0 PoCL HSTR: ..." is 30.
int version_of(const std::string& version) {
  const std::string_view text{version};
  constexpr std::string_view prefix = "OpenCL ";
  if (!text.starts_with(prefix) || text.size() < prefix.size() + 3) return 0;
  return (text[prefix.size()] - '0') * 10 + (text[prefix.size() + 2] - '0');
}

/// What the device lacks, in words.
std::string lacks(const cl::Device& device) {
  std::string result;
  const auto need = [&result](bool has, const char* what) {
    if (!has) result += (result.empty() ? "" : ", ") + std::string{what};
  };
  const int version = version_of(device.getInfo<CL_DEVICE_VERSION>());
  need(version >= 20, "OpenCL 2.0");
  need(device.getInfo<CL_DEVICE_COMPILER_AVAILABLE>() != 0, "a compiler");
  need(device.getInfo<CL_DEVICE_ADDRESS_BITS>() == 64, "64-bit addresses");
  need(device.getInfo<CL_DEVICE_ENDIAN_LITTLE>() != 0, "little-endian words");
  if (version < 20) return result;
  const auto svm = device.getInfo<CL_DEVICE_SVM_CAPABILITIES>();
  need((svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0, "fine-grained shared virtual memory");
  need((svm & CL_DEVICE_SVM_ATOMICS) != 0, "atomics in shared virtual memory");
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  need(extensions.find("cl_khr_int64_base_atomics") != std::string::npos, "64-bit atomics");
  if (version >= 30) {
    const auto atomics = device.getInfo<CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES>();
    need((atomics & CL_DEVICE_ATOMIC_ORDER_ACQ_REL) != 0, "acquire and release atomics");
    need((atomics & CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES) != 0, "atomics that the host sees");
  }
  return result;
}

std::vector<Found> find_all() {
  std::vector<Found> result;
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {  // there is none
    return result;
  }
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> all;
    try {
      platform.getDevices(CL_DEVICE_TYPE_ALL, &all);
    } catch (const cl::Error&) {  // without devices
      continue;
    }
    for (const cl::Device& each : all) {
      result.push_back({each,
                        {.name = each.getInfo<CL_DEVICE_NAME>(),
                         .platform = platform.getInfo<CL_PLATFORM_NAME>(),
                         .version = each.getInfo<CL_DEVICE_VERSION>(),
                         .units = each.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>(),
                         .is_cpu = (each.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) != 0,
                         .lacks = lacks(each)}});
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
  const std::uint32_t units = std::clamp(found->info.units, 1U, max_groups_limit);
  Chosen result{.device = found->device,
                .info = found->info,
                .most_groups = units,
                .usual_groups = units,
                .standard = version_of(found->info.version) >= 30 ? "CL3.0" : "CL2.0"};
  // A CPU device may have more threads than this process has CPUs: they would wait for each other.
  if (found->info.is_cpu)
    result.usual_groups = std::min(units, cpu::usable_cpus());
  return result;
}

}  // namespace cohort::opencl
