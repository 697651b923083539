// `cohort run kernel.cl`: compiles a kernel, makes its buffers from --arg, runs it, and prints the
// buffers of --print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cohort/job.hpp"

namespace cohort::cli {

class Interrupt;

struct KernelFileOptions {
  std::string file;
  std::string kernel;                  ///< empty: the only one
  std::vector<std::string> arguments;  ///< NAME=VALUE
  std::vector<std::string> prints;     ///< NAME or NAME:COUNT
  std::vector<std::string> defines;
  std::string transmit = "annotated";
  std::string barrier = "one-pass";
  std::string engine = "cpu";
  std::string device;                          ///< of a GPU engine: number or part of its name
  std::optional<std::uint32_t> capacity = {};  ///< default: the engine's
  std::string resize = "none";
  LaunchOptions launch;
};

/// Whether `run` was given a source file rather than the name of an app.
[[nodiscard]] inline bool is_kernel_file(const std::string& name) { return name.ends_with(".cl"); }

/// Compiles, runs, prints. Returns the exit status.
int run_kernel_file(const KernelFileOptions& options, Interrupt& interrupt);

}  // namespace cohort::cli
