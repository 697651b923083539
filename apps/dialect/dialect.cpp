#include "apps/dialect/dialect.hpp"

namespace cohort::apps {
namespace {

constexpr std::array apps{
    DialectApp{"bfs", "bfs", &detail::dialect_bfs},
    DialectApp{"color", "color", &detail::dialect_color},
    DialectApp{"mis", "mis", &detail::dialect_mis},
    DialectApp{"p-sssp", "p_sssp", &detail::dialect_p_sssp},
    DialectApp{"l-sssp", "l_sssp", &detail::dialect_l_sssp},
    DialectApp{"octree", "octree", &detail::dialect_octree},
    DialectApp{"game", "game", &detail::dialect_game},
};

/// Beside the installed program, or where it was built.
std::filesystem::path sources() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto installed = program.parent_path().parent_path() / "share" / "cohort" / "kernels";
  if (std::filesystem::is_directory(installed, error)) return installed;
  return COHORT_DIALECT_APPS;
}

}  // namespace

std::span<const DialectApp> dialect_apps() { return apps; }

Program dialect_program(std::string_view file) {
  return Program::from_file(sources() / (std::string{file} + ".cl"), {.engine = "opencl"});
}

ProgramKernel dialect_kernel(std::string_view file) { return dialect_program(file).kernel(file); }

namespace detail {

Report see_through(opencl::Engine& engine, const ProgramKernel& kernel, const RunOptions& options) {
  if (options.barrier != ResizingBarrier::one_pass || options.traces != nullptr) {
    throw Error{Errc::bad_options,
                "the engine opencl has the one-pass barrier only, and keeps no traces for "
                "--check-trace"};
  }
  const Job job = kernel.launch(engine, options.launch);
  try {
    return options.drive(job);
  } catch (...) {
    job.cancel();
    while (job.status() == Status::running) std::this_thread::yield();  // wait() might throw again
    throw;
  }
}

}  // namespace detail
}  // namespace cohort::apps
