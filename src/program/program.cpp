#include "cohort/program.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "program/build.hpp"
#include "program/cache.hpp"

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
  if (const auto& range = json.at("range"); range.is_number()) result.range_offset = range;
  result.dimensions = json.at("dimensions");
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

void describe(detail::Module& module, std::string description, ResizingBarrier barrier) {
  module.description = std::move(description);
  const auto parsed = nlohmann::json::parse(module.description);
  for (const auto& each : parsed.at("kernels")) {
    module.kernels.push_back(kernel_of(each));
    module.kernels.back().barrier = barrier;
  }
}

/// A shared object loaded into this process.
class Loaded final : public detail::Module {
 public:
  Loaded(const std::filesystem::path& file, ResizingBarrier barrier)
      : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      throw Error{Errc::unsupported, std::string{"cannot load a compiled program: "} +
                                         dlerror() +  // NOLINT(concurrency-mt-unsafe)
                                         "; link the program that loads it with -rdynamic"};
    }
    describe(*this, static_cast<const char*>(symbol("cohort_description")), barrier);
  }
  [[nodiscard]] void* symbol(const char* name) const override { return dlsym(handle_, name); }

 private:
  void* handle_;  // never closed: jobs may still run its code, and there are few objects
};

/// OpenCL C that the engine compiles into its megakernel.
class Text final : public detail::Module {
 public:
  Text(program::Translated translated, ResizingBarrier barrier) {
    describe(*this, std::move(translated.description), barrier);
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
    program::Translated translated = program::translate_for_opencl(file, options);
    std::string warnings = std::move(translated.warnings);
    auto text = std::make_shared<Text>(std::move(translated), options.barrier);
    text->engine = options.engine;
    text->title = file.stem().string();
    return Program{text, std::move(warnings)};
  }
  program::Built built = program::build(file, options);
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const detail::Module>> loaded;
  const std::lock_guard lock{mutex};
  auto& module = loaded[built.file.string()];
  if (module == nullptr) {
    auto fresh = std::make_shared<Loaded>(built.file, options.barrier);
    fresh->engine = options.engine;
    if (options.transmit == "per-thread") fresh->max_local_size = options.max_local_size;
    module = fresh;
  }
  return Program{module, std::move(built.warnings)};
}

Program Program::from_source(std::string_view source, const std::string& name,
                             const ProgramOptions& options) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw Error{Errc::bad_options, "a program's name is '" + name + "'; give it a name without /"};
  const program::Scratch scratch{program::cache_folder(options)};
  const std::filesystem::path file = scratch.file((name + ".cl").c_str());
  std::ofstream out{file, std::ios::binary};
  out.write(source.data(), static_cast<std::streamsize>(source.size()));
  out.close();
  if (!out) throw Error{Errc::bad_options, "cannot write '" + file.string() + "'"};
  const std::string folder = file.parent_path().string() + "/";
  const auto shortened = [&](std::string text) {
    for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;)
      text.erase(at, folder.size());
    return text;
  };
  try {
    Program program = from_file(file, options);
    program.warnings_ = shortened(std::move(program.warnings_));
    return program;
  } catch (const Error& error) {
    throw Error{error.code(), shortened(error.what())};
  }
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

std::size_t ProgramKernel::index_of(std::string_view name) const {
  const auto& parameters = info().parameters;
  std::string known;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + parameters[i].name;
  }
  throw Error{Errc::bad_options, "kernel " + info().name + " has no parameter '" +
                                     std::string{name} + "'; there is " + known};
}

void ProgramKernel::set_bytes(std::string_view name, const void* value, std::size_t size,
                              bool pointer) {
  const std::size_t index = index_of(name);
  const Parameter& parameter = info().parameters[index];
  const std::string what = "parameter '" + parameter.name + "' of kernel " + info().name;
  if (parameter.kind == "local") {
    throw Error{Errc::bad_options, what + " is in local memory; give its size by set_local()"};
  }
  if (parameter.size != size || (parameter.kind != "value") != pointer) {
    throw Error{Errc::bad_options, what + " is a " + parameter.type + " of " +
                                       std::to_string(parameter.size) + " bytes; it was given " +
                                       (pointer ? "a pointer of " : "a value of ") +
                                       std::to_string(size)};
  }
  arguments_[index].resize(size);
  std::memcpy(arguments_[index].data(), value, size);
}

ProgramKernel& ProgramKernel::set_local(std::string_view name, std::size_t bytes) {
  const std::size_t index = index_of(name);
  const Parameter& parameter = info().parameters[index];
  const std::string what = "parameter '" + parameter.name + "' of kernel " + info().name;
  if (parameter.kind != "local")
    throw Error{Errc::bad_options, what + " is a " + parameter.type + ", not in local memory"};
  constexpr std::size_t most = std::size_t{1} << 30U;
  if (bytes == 0 || bytes > most) {
    throw Error{Errc::bad_options, what + " is given " + std::to_string(bytes) +
                                       " bytes of local memory; it can have 1 to " +
                                       std::to_string(most)};
  }
  const auto word = static_cast<std::uint32_t>(bytes);
  arguments_[index].resize(sizeof word);
  std::memcpy(arguments_[index].data(), &word, sizeof word);
  return *this;
}

ProgramKernel& ProgramKernel::set_range(const NDRange& range) {
  const KernelInfo& its = info();
  if (!its.range_offset) {
    throw Error{Errc::bad_options,
                "kernel " + its.name +
                    " has resizing points or global barriers, so it does not run over a range: "
                    "launch it with max_groups and local_size"};
  }
  std::uint64_t groups = 1;
  std::uint64_t threads = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::uint32_t global = range.global[d];
    const std::uint32_t local = range.local[d];
    if (global == 0 || local == 0 || global % local != 0) {
      throw Error{Errc::bad_options,
                  "range of kernel " + its.name + ": a global size of " + std::to_string(global) +
                      " is no multiple of the local size " + std::to_string(local) +
                      " in dimension " + std::to_string(d)};
    }
    threads = std::min<std::uint64_t>(threads * local, max_local_size + 1);
    groups *= global / local;
    if (groups > std::uint64_t{1} << 31U) {
      throw Error{Errc::bad_options,
                  "range of kernel " + its.name + ": more than 2147483648 work-groups"};
    }
  }
  if (threads > max_local_size) {
    throw Error{Errc::bad_options, "range of kernel " + its.name + ": work-groups of more than " +
                                       std::to_string(max_local_size) + " work-items"};
  }
  if (its.required_shape && *its.required_shape != range.local) {
    const auto [x, y, z] = *its.required_shape;
    throw Error{Errc::bad_options, "kernel " + its.name + " requires a local size of " +
                                       std::to_string(x) + " x " + std::to_string(y) + " x " +
                                       std::to_string(z)};
  }
  range_ = range;
  return *this;
}

detail::Range ProgramKernel::range() const {
  detail::Range result;
  if (!range_) return result;
  for (std::size_t d = 0; d < 3; ++d) {
    result.groups[d] = range_->global[d] / range_->local[d];
    result.local[d] = range_->local[d];
    if (range_->global[d] > 1) result.dimensions = static_cast<std::uint32_t>(d) + 1;
  }
  return result;
}

std::vector<const void*> ProgramKernel::checked(LaunchOptions& options) const {
  std::vector<const void*> result;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].empty()) {
      throw Error{Errc::bad_options,
                  "parameter '" + info().parameters[i].name + "' of kernel " + info().name +
                      " has not been set" +
                      (info().parameters[i].kind == "local" ? "; give its size in bytes" : "")};
    }
    result.push_back(arguments_[i].data());
  }
  const std::uint32_t seen = info().required_shape ? 3 : range_ ? 3 : 1;
  if (info().dimensions > seen) {
    throw Error{Errc::bad_options, "kernel " + info().name + " asks about dimension " +
                                       std::to_string(info().dimensions - 1) +
                                       "; launch it over a range (set_range, --global)"};
  }
  if (range_) {
    const auto& [x, y, z] = range_->local;
    const std::uint32_t threads = x * y * z;
    if (options.local_size.value_or(threads) != threads) {
      throw Error{Errc::bad_options, "local_size is " + std::to_string(*options.local_size) +
                                         ", but the range has work-groups of " +
                                         std::to_string(threads)};
    }
    options.local_size = threads;
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
