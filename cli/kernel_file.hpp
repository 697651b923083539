// `cohort run kernel.cl`: compiles a kernel, makes its buffers from --arg, runs it, and prints the
// buffers of --print.
#pragma once

#include <string>
#include <vector>

#include "cohort/any_engine.hpp"

namespace cohort::cli {

class Interrupt;

struct KernelFileOptions {
  std::string file;
  std::string kernel;                  ///< name of the kernel; empty: the only one in the file
  std::vector<std::string> arguments;  ///< each is NAME=VALUE
  std::vector<std::string> prints;     ///< each is NAME or NAME:COUNT
  std::vector<std::string> defines;
  std::vector<std::string> include_paths;
  std::string standard;  ///< OpenCL C version, e.g. CL1.2; empty: CL3.0
  bool fast_math = false;
  std::string global;  ///< sizes of a range, joined by x; empty: no range
  std::string local;   ///< sizes of the range's work-groups
  std::string transmit = "annotated";
  EngineSpec engine;
  ResizingBarrier barrier = ResizingBarrier::one_pass;
  std::string resize = "none";
  LaunchOptions launch;
};

/// Whether `run` was given a source file rather than the name of an app.
[[nodiscard]] inline bool is_kernel_file(const std::string& name) { return name.ends_with(".cl"); }

/// Compiles, runs, prints. Returns the exit status.
int run_kernel_file(const KernelFileOptions& options, Interrupt& interrupt);

}  // namespace cohort::cli
