// A cooperative kernel that is compiled while the program runs, with a formula of the user's in it.
// This file needs no nvcc.
#include <nvrtc.h>

#include <algorithm>
#include <cohort/cuda.hpp>
#include <iostream>
#include <sstream>

const std::string before = R"(
#include <cohort/grid.cuh>
struct State { int step = 0; };
extern "C" __global__ void iterate(cohort::GridArg arg, double* values, int n, int steps) {
  cohort::Grid<State> grid{arg};
  if (!grid) return;
  for (State s = grid.state(); s.step < steps;) {
    for (auto i : grid.stride(n)) {
      const double x = values[i];
      values[i] = )";
const std::string after = R"(;
    }
    ++s.step;
    if (grid.sync(s)) return;
  }
})";

/// The kernel as machine code. Throws the compiler's messages.
std::vector<char> compiled(const std::string& formula, const std::string& architecture) {
  // NVRTC has no standard library: cohort/nvrtc replaces what cohort needs of it.
  std::vector<std::string> options{"-std=c++20", "-default-device", "-arch=" + architecture};
  std::istringstream folders{COHORT_FOLDERS};  // include and include/cohort/nvrtc, and CUDA's
  for (std::string each; std::getline(folders, each, ':');) options.push_back("-I" + each);
  std::vector<const char*> pointers;
  for (const std::string& each : options) pointers.push_back(each.c_str());

  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, (before + formula + after).c_str(), "iterate.cu", 0, nullptr,
                     nullptr);
  const nvrtcResult result =
      nvrtcCompileProgram(program, static_cast<int>(pointers.size()), pointers.data());
  std::size_t size = 0;
  if (result != NVRTC_SUCCESS) {
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, ' ');
    nvrtcGetProgramLog(program, log.data());
    throw std::runtime_error{log};
  }
  nvrtcGetCUBINSize(program, &size);
  std::vector<char> code(size);
  nvrtcGetCUBIN(program, code.data());
  nvrtcDestroyProgram(&program);
  return code;
}

int main(int argc, char** argv) {
  std::string why;
  if (!cohort::cuda::available(&why)) {
    std::cout << "SKIPPED: " << why << '\n';
    return 77;
  }
  const std::string formula = argc > 1 ? argv[1] : "(x + 2 / x) / 2";  // Newton's, for a root of 2
  cohort::cuda::Engine engine;
  cudaDeviceProp device{};
  cudaGetDeviceProperties(&device, engine.device());
  const std::vector<char> code =
      compiled(formula, "sm_" + std::to_string(device.major) + std::to_string(device.minor));

  // Before any job runs: loading code may wait for the end of a running kernel.
  cudaLibrary_t library = nullptr;
  cudaKernel_t iterate = nullptr;
  cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&iterate, library, "iterate");

  constexpr int n = 1'000'000;
  const auto values = engine.fill<double>(n, 1.0);
  // Each argument has the type of its parameter: the compiler cannot check it here.
  const auto report = engine.launch(iterate, {.local_size = 256}, values.data(), n, 100).wait();

  const std::vector<double> results = values.read();
  std::cout << "x = " << formula << ", 100 times from 1 on " << report.start_groups
            << " blocks: " << results[0] << '\n';
  const bool alike =
      std::all_of(results.begin(), results.end(), [&](double each) { return each == results[0]; });
  return alike && (argc > 1 || std::abs(results[0] - 1.41421356) < 1e-8) ? 0 : 1;
}
