#include "apps/settings.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "cohort/error.hpp"

namespace cohort::apps {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error{Errc::bad_options, "option '" + text + "': " + why};
}

template <class Names>
std::string listed(const Names& names) {
  std::string all;
  for (const auto& each : names) all += (all.empty() ? "" : ", ") + std::string{each};
  return all;
}

}  // namespace

Settings::Settings(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      refuse(text, "write it as KEY=VALUE, as in algorithm=paper");
    if (!given_.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      refuse(text, "it is given twice");
  }
}

const std::string* Settings::take(const std::string& key) {
  asked_.insert(key);
  const auto found = given_.find(key);
  return found == given_.end() ? nullptr : &found->second;
}

std::size_t Settings::choice(const std::string& key, const std::vector<std::string_view>& choices) {
  const std::string* const value = take(key);
  if (value == nullptr) return 0;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == *value) return i;
  }
  refuse(key + "=" + *value, "choose one of " + listed(choices));
}

std::uint64_t Settings::number(const std::string& key, std::uint64_t otherwise, std::uint64_t least,
                               std::uint64_t most) {
  const std::string* const value = take(key);
  if (value == nullptr) return otherwise;
  std::uint64_t number = 0;
  const char* const end = value->data() + value->size();
  const auto [stopped, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc{} || stopped != end || number < least || number > most) {
    refuse(key + "=" + *value,
           "give a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

std::optional<std::uint32_t> Settings::number_if_given(const std::string& key) {
  if (take(key) == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(number(key, 0, 0, std::numeric_limits<std::uint32_t>::max()));
}

std::string Settings::text(const std::string& key, const std::string& otherwise) {
  const std::string* const value = take(key);
  return value == nullptr ? otherwise : *value;
}

void Settings::check_all_used() const { check_only({asked_.begin(), asked_.end()}); }

void Settings::check_only(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : given_) {
    if (std::ranges::find(keys, key) == keys.end()) {
      refuse(std::string{key}.append("=").append(value),
             keys.empty() ? "this app has no options" : "this app has only " + listed(keys));
    }
  }
}

std::string Settings::all() const {
  std::string text;
  for (const auto& [key, value] : given_) text.append(key).append("=").append(value).append(" ");
  return text;
}

}  // namespace cohort::apps
