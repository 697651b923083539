// OpenCL's C++ bindings. They report errors by exceptions, which the engine translates to Error
// where it catches them.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 200
#include <CL/opencl.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "cohort/error.hpp"

namespace cohort::opencl {

/// Calls `call`. An OpenCL exception becomes an Error that begins with `doing`.
template <class Call>
auto checked_call(const std::string& doing, Call call) {
  try {
    return call();
  } catch (const cl::Error& error) {
    throw Error{Errc::device_lost, "opencl: " + doing + ": " + error.what() + " gave error " +
                                       std::to_string(error.err())};
  }
}

/// Waits for the end of a command that flush() has submitted. Returns false on a timeout.
inline bool completed(const cl::Event& event, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const auto status = [&] { return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(); };
  while (checked_call("waiting for a command", status) > CL_COMPLETE) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds{50});
  }
  return true;
}

}  // namespace cohort::opencl
