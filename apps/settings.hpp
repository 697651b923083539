// An app's own options as KEY=VALUE, e.g. algorithm=paper.
// Invariant: an option that the app does not read is an error, so that misspelt options do not go
// unnoticed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::apps {

class Settings {
 public:
  Settings() = default;
  /// Throws Error{bad_options} for a text that is not KEY=VALUE, or a key given twice.
  explicit Settings(const std::vector<std::string>& texts);

  /// The index of the value in `choices`; 0 if the key is not given. Throws Error{bad_options}.
  [[nodiscard]] std::size_t choice(const std::string& key,
                                   const std::vector<std::string_view>& choices);
  /// A whole number from `least` to `most`. Throws Error{bad_options}.
  [[nodiscard]] std::uint64_t number(const std::string& key, std::uint64_t otherwise,
                                     std::uint64_t least = 0,
                                     std::uint64_t most = std::uint64_t{1} << 40U);
  /// Like number(), but for a 32-bit number, and empty if the key is not given.
  [[nodiscard]] std::optional<std::uint32_t> number_if_given(const std::string& key);
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise);
  /// Throws Error{bad_options} if any option is left. Call it after all options were read.
  void check_all_used() const;
  /// Throws Error{bad_options} if a key is given that is not among `keys`.
  void check_only(const std::vector<std::string>& keys) const;
  /// All given options, as one text.
  [[nodiscard]] std::string all() const;

 private:
  /// Returns the value of the key and marks it as used. Returns null if the key is not given.
  const std::string* take(const std::string& key);

  std::map<std::string, std::string> given_;
  std::set<std::string> asked_;
};

}  // namespace cohort::apps
