#include "cohort/program.hpp"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>

#include "program/build.hpp"

namespace cohort {
namespace {

KernelInfo kernel_of(const nlohmann::json& json) {
  KernelInfo result;
  result.name = json.at("name");
  result.suspendable = json.at("suspendable");
  if (json.at("kill_order") == "any") result.kill_order = KillOrder::any;
  if (json.at("survivors") == "may_all_leave") result.survivors = Survivors::may_all_leave;
  result.points = static_cast<std::uint32_t>(json.at("points").size());
  if (const auto& shape = json.at("required_local_size"); shape.is_array()) {
    const auto [x, y, z] = shape.get<std::array<std::uint32_t, 3>>();
    result.required_shape = {x, y, z};
    result.required_local_size = x * y * z;
  }
  for (const auto& each : json.at("parameters")) {
    Parameter parameter;
    parameter.name = each.at("name");
    parameter.type = each.at("type");
    parameter.kind = each.at("kind");
    parameter.element = each.at("element");
    parameter.element_size = each.value("element_size", std::size_t{0});
    parameter.size = each.at("size");
    parameter.offset = each.at("offset");
    result.parameters.push_back(std::move(parameter));
  }
  return result;
}

void describe(detail::Module& module, std::string description) {
  module.description = std::move(description);
  const auto parsed = nlohmann::json::parse(module.description);
  for (const auto& each : parsed.at("kernels")) module.kernels.push_back(kernel_of(each));
}

/// Machine code in this process.
class Loaded final : public detail::Module {
 public:
  explicit Loaded(const std::filesystem::path& file)
      : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      throw Error{Errc::unsupported, std::string{"cannot load a compiled program: "} +
                                         dlerror() +  // NOLINT(concurrency-mt-unsafe)
                                         "; link the program that loads it with -rdynamic"};
    }
    describe(*this, static_cast<const char*>(symbol("cohort_description")));
  }
  [[nodiscard]] void* symbol(const char* name) const override { return dlsym(handle_, name); }

 private:
  void* handle_;  // never closed: jobs may still run, and there are few
};

/// OpenCL C that an engine will merge into its megakernel.
class Text final : public detail::Module {
 public:
  explicit Text(program::Translated translated) {
    describe(*this, std::move(translated.description));
    source = std::move(translated.code);
  }
  [[nodiscard]] void* symbol(const char* /*name*/) const override { return nullptr; }
};

std::string names(const std::vector<KernelInfo>& kernels) {
  std::string result;
  for (const KernelInfo& each : kernels) result += (result.empty() ? "" : ", ") + each.name;
  return result.empty() ? "none" : result;
}

}  // namespace

Program Program::from_file(const std::filesystem::path& file, const ProgramOptions& options) {
  if (options.engine == "opencl") {
    auto text = std::make_shared<Text>(program::translate_for_opencl(file, options));
    text->engine = options.engine;
    text->title = file.stem().string();
    return Program{text};
  }
  const std::filesystem::path compiled = program::build(file, options);
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const detail::Module>> loaded;
  const std::lock_guard lock{mutex};
  auto& module = loaded[compiled.string()];
  if (module == nullptr) {
    auto fresh = std::make_shared<Loaded>(compiled);
    fresh->engine = options.engine;
    if (options.transmit == "per-thread") fresh->max_local_size = options.max_local_size;
    module = fresh;
  }
  return Program{module};
}

ProgramKernel Program::kernel(std::string_view name) const {
  const auto& all = module_->kernels;
  if (name.empty() && all.size() == 1) return {module_, 0};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return {module_, i};
  }
  throw Error{Errc::bad_options, (name.empty() ? std::string{"which kernel?"}
                                               : "no kernel '" + std::string{name} + "'") +
                                     " There is " + names(all)};
}

ProgramKernel::ProgramKernel(std::shared_ptr<const detail::Module> module, std::size_t index)
    : module_(std::move(module)),
      index_(index),
      arguments_(module_->kernels[index].parameters.size()) {}

void ProgramKernel::set_bytes(std::string_view name, const void* value, std::size_t size,
                              bool pointer) {
  const auto& parameters = info().parameters;
  std::string known;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& each = parameters[i];
    known += (known.empty() ? "" : ", ") + each.name;
    if (each.name != name) continue;
    if (each.size != size || (each.kind != "value") != pointer) {
      throw Error{Errc::bad_options,
                  "parameter '" + each.name + "' of kernel " + info().name + " is a " + each.type +
                      " of " + std::to_string(each.size) + " bytes; it was given " +
                      (pointer ? "a pointer of " : "a value of ") + std::to_string(size)};
    }
    arguments_[i].resize(size);
    std::memcpy(arguments_[i].data(), value, size);
    return;
  }
  throw Error{Errc::bad_options, "kernel " + info().name + " has no parameter '" +
                                     std::string{name} + "'; there is " + known};
}

std::vector<const void*> ProgramKernel::checked(LaunchOptions& options) const {
  std::vector<const void*> result;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].empty()) {
      throw Error{Errc::bad_options, "parameter '" + info().parameters[i].name + "' of kernel " +
                                         info().name + " has not been set"};
    }
    result.push_back(arguments_[i].data());
  }
  const auto required = info().required_local_size;
  const auto most = module_->max_local_size;
  if (!options.local_size) options.local_size = required;
  if (!options.local_size && module_->engine == "cuda") options.local_size = most;
  if (required && options.local_size != required) {
    throw Error{Errc::bad_options, "kernel " + info().name + " requires groups of " +
                                       std::to_string(*required) + " threads; local_size is " +
                                       std::to_string(*options.local_size)};
  }
  if (most && options.local_size > most) {
    throw Error{Errc::bad_options, "the program was compiled for groups of at most " +
                                       std::to_string(*most) +
                                       " threads (max_local_size); local_size is " +
                                       std::to_string(*options.local_size)};
  }
  return result;
}

void ProgramKernel::refuse_engine() const {
  throw Error{Errc::bad_options, "kernel " + info().name + " was compiled for the engine '" +
                                     module_->engine +
                                     "'; compile it for the one it is launched on"};
}

}  // namespace cohort
