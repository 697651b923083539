// An engine that is chosen by name while the program runs, of those that the library was built
// with. Target cohort::any. Invariant: nothing else has to know which engines there are.
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

/// Which engine. Everything has a default.
struct EngineSpec {
  std::string engine = "cpu";
  std::optional<std::uint32_t> capacity = {};
  std::string device = {};         ///< of cuda its number, of opencl that or part of its name
  std::string scheduler = "host";  ///< of opencl: "group" for one of its work-groups
  bool pinned = false;             ///< of cpu: each worker stays on a CPU of its own
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
  const char* unit;          ///< what a group runs on, in a word
  bool traces;               ///< tracers see when things happen
  std::string (*lacking)();  ///< why it cannot be used on this machine; empty if it can
  EngineVariant (*make)(const EngineSpec& spec);
};

/// Those that the library was built with.
[[nodiscard]] std::span<const EngineKind> engine_kinds();
/// The kind of that name. Throws Error{bad_options} when there is none.
[[nodiscard]] const EngineKind& engine_kind(std::string_view name);

class AnyEngine {
 public:
  /// Throws Error{bad_options} for what that engine does not have, and what its constructor throws.
  explicit AnyEngine(const EngineSpec& spec);

  [[nodiscard]] const EngineKind& kind() const { return kind_; }
  [[nodiscard]] std::uint32_t capacity() const;
  /// Whether groups are threads that take turns where there are more than CPUs.
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
