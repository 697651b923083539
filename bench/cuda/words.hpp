// Formats figures for the tables and records of the CUDA scenarios.
#pragma once

#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cuda/device.hpp"
#include "bench/harness.hpp"

namespace cohort::bench {

inline nlohmann::ordered_json described() {
  const device::Description device = device::describe();
  return {{"name", device.name},
          {"sms", device.sms},
          {"driver", device.driver},
          {"runtime", device.runtime}};
}

inline double ns(std::chrono::nanoseconds time) { return static_cast<double>(time.count()); }

inline std::string in_us(double ns, int digits = 1) { return fixed(ns / 1e3, digits); }

inline nlohmann::ordered_json numbers(const std::vector<double>& ns) {
  return {{"p50", percentile(ns, 50)},
          {"p99", percentile(ns, 99)},
          {"min", percentile(ns, 0)},
          {"max", percentile(ns, 100)},
          {"samples", ns}};
}

inline void row(const std::string& name, const std::vector<double>& ns) {
  std::cout << "  " << std::left << std::setw(34) << name << std::right << std::setw(10)
            << in_us(percentile(ns, 50)) << std::setw(10) << in_us(percentile(ns, 99))
            << std::setw(10) << in_us(percentile(ns, 100)) << std::endl;
}

inline void head(const std::string& name) {
  std::cout << name << "\n  " << std::left << std::setw(34) << "" << std::right << std::setw(10)
            << "p50 us" << std::setw(10) << "p99 us" << std::setw(10) << "max us" << std::endl;
}

}  // namespace cohort::bench
