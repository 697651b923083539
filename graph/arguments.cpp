#include "graph/arguments.hpp"

#include <algorithm>
#include <charconv>

#include "cohort/error.hpp"
#include "graph/memory.hpp"

namespace cohort {
namespace {

std::string quoted(std::string_view text) { return std::string{"'"}.append(text).append("'"); }

}  // namespace

std::string_view kind_of(std::string_view spec) { return spec.substr(0, spec.find(':')); }

SpecArguments::SpecArguments(std::string_view spec, const SpecKind& kind)
    : spec_(spec), kind_(kind) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) refuse("something is missing");
  std::string_view rest = spec.substr(colon + 1);
  value_ = rest.substr(0, rest.find(','));
  while (rest.find(',') != std::string_view::npos) {
    rest.remove_prefix(rest.find(',') + 1);
    const std::string_view word = rest.substr(0, rest.find(','));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos)
      refuse(quoted(word) + " should be an option with a number");
    const std::string_view name = word.substr(0, equals);
    for (const Option& other : options_) {
      if (other.name == name) refuse(quoted(name) + " is there twice");
    }
    options_.push_back({.name = name, .value = word.substr(equals + 1)});
  }
}

void SpecArguments::refuse(const std::string& why) const {
  throw Error{Errc::bad_options, "input '" + std::string{spec_} + "': " + why + "; write it as " +
                                     std::string{kind_.syntax} + ", as in " +
                                     std::string{kind_.example}};
}

std::uint64_t SpecArguments::parse(std::string_view text, const std::string& what,
                                   std::uint64_t least, std::uint64_t most) const {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) value = std::numeric_limits<std::uint64_t>::max();
  if (stopped != end || error == std::errc::invalid_argument || value < least || value > most) {
    const bool bounded = most != std::numeric_limits<std::uint64_t>::max();
    refuse(what + " should be a whole number from " + std::to_string(least) +
           (bounded ? " to " + std::to_string(most) : ""));
  }
  return value;
}

std::uint64_t SpecArguments::number(const char* what, std::uint64_t least,
                                    std::uint64_t most) const {
  return parse(value_, what, least, most);
}

SpecArguments::Pair SpecArguments::pair(const char* what, std::uint64_t least) const {
  const std::size_t cross = value_.find('x');
  if (cross == std::string_view::npos) refuse("there should be an x between two numbers");
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return {parse(value_.substr(0, cross), what, least, most),
          parse(value_.substr(cross + 1), what, least, most)};
}

std::optional<std::string_view> SpecArguments::value_of(std::string_view name) {
  for (Option& each : options_) {
    if (each.name != name) continue;
    each.known = true;
    return each.value;
  }
  return std::nullopt;
}

std::uint64_t SpecArguments::option(std::string_view name, std::uint64_t otherwise,
                                    std::uint64_t least, std::uint64_t most) {
  const auto value = value_of(name);
  return value ? parse(*value, std::string{name}, least, most) : otherwise;
}

std::uint64_t SpecArguments::hundredths(std::string_view name, std::uint64_t otherwise,
                                        std::uint64_t least, std::uint64_t most) {
  const auto value = value_of(name);
  if (!value) return otherwise;
  const auto is_digits = [](std::string_view text) {
    return std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
  };
  const std::size_t point = std::min(value->find('.'), value->size());
  const std::string_view whole = value->substr(0, point);
  std::string parts{value->substr(std::min(point + 1, value->size()))};
  const bool complete = point == value->size() || !parts.empty();
  std::uint64_t result = 0;
  if (!whole.empty() && whole.size() <= 9 && parts.size() <= 2 && complete && is_digits(whole) &&
      is_digits(parts)) {
    parts.resize(2, '0');
    result = std::stoull(std::string{whole} + parts);
    if (result >= least && result <= most) return result;
  }
  const auto decimal = [](std::uint64_t number) {
    const std::string tail = std::to_string(100 + number % 100).substr(1);
    return std::to_string(number / 100) + "." + tail;
  };
  refuse(std::string{name} + " should be a number from " + decimal(least) + " to " + decimal(most) +
         " with at most two digits after the point");
}

void SpecArguments::finish() const {
  for (const Option& each : options_) {
    if (!each.known) refuse("there is no option " + quoted(each.name));
  }
}

void SpecArguments::needs_memory(double bytes) const {
  constexpr double mib = 1 << 20;
  const double memory = machine_memory();
  const auto in_mib = [](double size) {
    return std::to_string(static_cast<std::uint64_t>(size / mib)) + " MiB";
  };
  if (bytes > memory) {
    refuse("that needs " + in_mib(bytes) + ", and this machine has " + in_mib(memory) +
           ": choose a smaller one");
  }
}

}  // namespace cohort
