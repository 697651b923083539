// The engines of this build, by name.
#pragma once

#include <array>
#include <string_view>

namespace cohort::cli {

struct EngineKind {
  std::string_view name;
  std::string_view summary;
};

inline constexpr std::array engines{
    EngineKind{.name = "cpu", .summary = "worker threads of this machine"},
};

}  // namespace cohort::cli
