#include "apps/dialect/dialect.hpp"

namespace cohort::apps {
namespace {

/// Beside the installed program, or where it was built.
std::filesystem::path sources() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  auto installed = program.parent_path().parent_path() / "share" / "cohort" / "kernels";
  if (std::filesystem::is_directory(installed, error)) return installed;
  return COHORT_DIALECT_APPS;
}

}  // namespace

Program dialect_program(std::string_view file, const std::string& engine) {
  ProgramOptions how;
  how.engine = engine;
  how.optimise = "-O3";  // as the apps in C++
  return Program::from_file(sources() / (std::string{file} + ".cl"), how);
}

ProgramKernel dialect_kernel(std::string_view file, const std::string& engine) {
  return dialect_program(file, engine).kernel(file);
}

}  // namespace cohort::apps
