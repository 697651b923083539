#include "apps/dialect/dialect.hpp"

#include <algorithm>

#include "src/choices.hpp"

namespace cohort::apps {
namespace {

/// The folder of the sources: next to the installed program, or in the source tree.
std::filesystem::path sources() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto installed = program.parent_path().parent_path() / "share" / "cohort" / "kernels";
  if (std::filesystem::is_directory(installed, error)) return installed;
  return COHORT_DIALECT_APPS;
}

}  // namespace

Program dialect_program(std::string_view file, const std::string& engine, ResizingBarrier barrier) {
  ProgramOptions how;
  how.engine = engine;
  how.barrier = barrier;
  how.optimise = "-O3";  // as the C++ apps do
  return Program::from_file(sources() / (std::string{file} + ".cl"), how);
}

ProgramKernel dialect_kernel(std::string_view file, const std::string& engine,
                             ResizingBarrier barrier) {
  return dialect_program(file, engine, barrier).kernel(file);
}

ProgramKernel dialect_kernel(const AppInfo& app, const std::string& engine,
                             ResizingBarrier barrier) {
  std::vector<AppInfo> those;
  std::ranges::copy_if(all(), std::back_inserter(those),
                       [](const AppInfo& each) { return each.dialect_options.has_value(); });
  std::string file{choose("app of the dialect", app.name, those).name};
  std::ranges::replace(file, '-', '_');
  return dialect_kernel(file, engine, barrier);
}

Ready prepare_dialect(const AppInfo& app, const std::string& input, const Settings& settings) {
  settings.check_only(words(app.dialect_options.value_or("")));
  return app.prepare(input, settings);
}

}  // namespace cohort::apps
