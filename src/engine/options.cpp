#include "engine/options.hpp"

#include "cohort/error.hpp"

namespace cohort {

void check_range(const std::string& name, std::uint32_t value, std::uint32_t least,
                 std::uint32_t most) {
  if (value >= least && value <= most) return;
  throw Error{Errc::bad_options, name + " = " + std::to_string(value) + "; it can be " +
                                     std::to_string(least) + " to " + std::to_string(most)};
}

void check_capacity(std::uint32_t units, std::uint32_t most) {
  if (units >= 1 && units <= most) return;
  throw Error{Errc::bad_options, "engine: a capacity of " + std::to_string(units) +
                                     "; it can be 1 to " + std::to_string(most)};
}

std::uint32_t checked(const LaunchOptions& options, std::uint32_t capacity, const Traits& traits) {
  const std::uint32_t groups = options.max_groups.value_or(capacity);
  check_range("launch: max_groups", groups, 1, max_groups_limit);
  if (options.local_size)
    check_range("launch: local_size", *options.local_size, 1, traits.max_local_size);
  check_range("launch: weight", options.weight, 1, 1'000'000);
  if (options.start_groups) check_range("launch: start_groups", *options.start_groups, 1, groups);
  if (options.target) check_range("launch: target", *options.target, 1, groups);
  if (!options.resizable && (options.target || options.start_groups)) {
    throw Error{Errc::bad_options,
                "launch: a static launch (resizable = false) starts and stays with max_groups "
                "groups: drop start_groups and target"};
  }
  return groups;
}

std::uint32_t checked(const TaskOptions& options, std::uint32_t capacity) {
  check_range("submit: groups", options.groups, 1, capacity);
  if (options.local_size) check_range("submit: local_size", *options.local_size, 1, max_local_size);
  const auto check_time = [](const char* name, std::optional<std::chrono::nanoseconds> time) {
    if (!time || time->count() >= 0) return;
    throw Error{Errc::bad_options, std::string{"submit: "} + name + " = " +
                                       std::to_string(time->count()) + " ns; it can be 0 or more"};
  };
  check_time("start_within", options.start_within);
  check_time("finish_within", options.finish_within);
  if (options.finish_within && options.kind.empty()) {
    throw Error{Errc::bad_options,
                "submit: finish_within without a kind: name the kind, whose tasks are measured, or "
                "drop finish_within"};
  }
  return options.groups;
}

}  // namespace cohort
