// OpenCL's C++ bindings, as we use them: errors are exceptions, turned into ours where they are met.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 200
#include <CL/opencl.hpp>
#include <string>

#include "cohort/error.hpp"

namespace cohort::opencl {

/// Calls `call`; what OpenCL throws becomes an Error that begins with `doing`.
template <class Call>
auto checked_call(const std::string& doing, Call call) {
  try {
    return call();
  } catch (const cl::Error& error) {
    throw Error{Errc::device_lost, "opencl: " + doing + ": " + error.what() + " gave error " +
                                       std::to_string(error.err())};
  }
}

}  // namespace cohort::opencl
