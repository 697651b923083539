// Opens an engine by its name at run time, among the engines with which the library was built.
// Target cohort::any. Invariant: no other file has to know which engines exist.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cohort/cpu.hpp"
#ifdef COHORT_WITH_CUDA
#include "cohort/cuda.hpp"
#endif
#ifdef COHORT_WITH_OPENCL
#include "cohort/opencl.hpp"
#endif

namespace cohort {

/// Selects an engine. Every member has a default.
struct EngineSpec {
  std::string engine = "cpu";
  std::optional<std::uint32_t> capacity = {};
  std::string device = {};  ///< cuda: the device's number; opencl: its number or part of its name
  std::string scheduler = "host";  ///< opencl: "group" to schedule in a work-group
  bool pinned = false;             ///< cpu: bind each worker to its own CPU
  std::string share = {};          ///< cpu: lend workers to other processes under this name
};

/// An engine of any kind.
using EngineVariant = std::variant<std::unique_ptr<cpu::Engine>
#ifdef COHORT_WITH_CUDA
                                   ,
                                   std::unique_ptr<cuda::Engine>
#endif
#ifdef COHORT_WITH_OPENCL
                                   ,
                                   std::unique_ptr<opencl::Engine>
#endif
                                   >;

/// A kind of engine.
struct EngineKind {
  std::string_view name;
  std::string_view summary;
  const char* unit;          ///< one word for the thing on which a group runs
  bool traces;               ///< tracers receive events at the time they happen
  std::string (*lacking)();  ///< why this machine cannot use it; empty if it can
  EngineVariant (*make)(const EngineSpec& spec);
};

/// The engines that the library was built with.
[[nodiscard]] std::span<const EngineKind> engine_kinds();
/// The kind with that name. Throws Error{bad_options} if there is none.
[[nodiscard]] const EngineKind& engine_kind(std::string_view name);

/// Throws Error{bad_options} unless the engine has this EngineSpec::scheduler.
void check_scheduler(const std::string& scheduler, std::string_view engine);

class AnyEngine {
 public:
  /// Creates the engine. Throws Error{bad_options} for options that this engine does not have, and
  /// whatever its constructor throws.
  explicit AnyEngine(const EngineSpec& spec);

  [[nodiscard]] const EngineKind& kind() const { return kind_; }
  [[nodiscard]] std::uint32_t capacity() const;
  /// Whether groups are threads, which take turns if there are more of them than CPUs.
  [[nodiscard]] bool on_cpus() const;

  /// Calls `function(engine)`, with the engine's type.
  template <class Function>
  decltype(auto) visit(Function&& function) const {
    return std::visit(
        [&](const auto& engine) -> decltype(auto) {
          return std::forward<Function>(function)(*engine);
        },
        engine_);
  }

 private:
  const EngineKind& kind_;
  EngineVariant engine_;
};

}  // namespace cohort
