// Runs the same programs without cohortc: the device's compiler compiles them as plain OpenCL C.
// One thread stands for all groups, so nothing has to wait.
#pragma once

#include <string>
#include <vector>

#include "opencl/cl.hpp"
#include "opencl/device.hpp"
#include "random/runs.hpp"

namespace cohort::test {

class PlainProgram {
 public:
  /// Throws std::runtime_error with the device's messages if the program does not compile.
  explicit PlainProgram(const std::string& text)
      : chosen_(opencl::choose_device("")),
        device_(chosen_.device),
        context_(device_),
        queue_(context_, device_),
        program_(context_, words + text) {
    try {
      program_.build(("-w -cl-std=" + chosen_.standard).c_str());
    } catch (const cl::Error&) {
      throw std::runtime_error{program_.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_)};
    }
  }

  struct Argument {
    void* data;
    std::size_t size;
    bool buffer = false;  ///< a buffer; otherwise a value, or local memory if there is no data
  };
  template <class T>
  static Argument value(T& value) {
    return {&value, sizeof(T)};
  }
  template <class T>
  static Argument buffer(std::vector<T>& words) {
    return {words.data(), words.size() * sizeof(T), true};
  }

  /// Runs a kernel and copies the contents of its buffers back.
  void run(const std::string& name, const std::vector<Argument>& arguments) {
    cl::Kernel kernel{program_, name.c_str()};
    std::vector<cl::Buffer> buffers;
    for (cl_uint i = 0; i < arguments.size(); ++i) {
      const Argument& each = arguments[i];
      if (each.buffer) {
        buffers.emplace_back(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, each.size,
                             each.data);
        kernel.setArg(i, buffers.back());
      } else {
        kernel.setArg(i, each.size, each.data);
      }
    }
    queue_.enqueueNDRangeKernel(kernel, {}, cl::NDRange{1}, cl::NDRange{1});
    auto next = buffers.begin();
    for (const Argument& each : arguments) {
      if (each.buffer) queue_.enqueueReadBuffer(*next++, true, 0, each.size, each.data);
    }
  }

 private:
  static constexpr const char* words = R"(
#define transmit
#define kill_order(order)
#define resizing_global_barrier()
#define global_barrier()
#define barrier(flags)
#define offer_kill()
#define request_fork()
#define get_global_id(...) 0u
#define get_local_id(...) 0u
#define get_group_id(...) 0u
#define get_global_size(...) 1u
#define get_local_size(...) 1u
#define get_num_groups(...) 1u
#define work_group_all(x) ((x) != 0)
#define work_group_any(x) ((x) != 0)
#define work_group_broadcast(x, i) (x)
#define work_group_reduce_max(x) (x)
#define get_global_linear_id() 0u
)";

  opencl::Chosen chosen_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  cl::Program program_;
};

/// Describes how memory differs from the expected contents after a run; empty if it does not.
inline std::string run_plain(PlainProgram& program, RandomKernel kernel) {
  std::vector<std::uint32_t> marks = first_marks();
  std::vector<std::uint32_t> items = first_items();
  std::vector<std::uint32_t> table = table_words();
  std::uint32_t n = random_items;
  program.run(kernel.name, {PlainProgram::buffer(marks),
                            PlainProgram::buffer(items),
                            PlainProgram::buffer(table),
                            {nullptr, random_room},
                            PlainProgram::value(n),
                            PlainProgram::value(kernel.a),
                            PlainProgram::value(kernel.b),
                            PlainProgram::value(kernel.c),
                            PlainProgram::value(kernel.f)});
  return difference(kernel, marks, items);
}

}  // namespace cohort::test
