// Parses input specs: `kind:value,option=number,...`. A bad spec throws Error{bad_options} with one
// line that names the spec and shows the right syntax.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// One kind of input spec.
struct SpecKind {
  std::string_view syntax;   ///< e.g. "rmat:<scale>[,seed=<n>]"
  std::string_view example;  ///< e.g. "rmat:20"
  std::string_view summary;
};

/// The text before the colon; the whole text if there is none.
[[nodiscard]] std::string_view kind_of(std::string_view spec);

/// A parsed spec. Refers to the spec's text.
class SpecArguments {
 public:
  /// Throws if the spec does not have this form, or has an option twice.
  SpecArguments(std::string_view spec, const SpecKind& kind);

  [[nodiscard]] std::string_view text() const { return value_; }
  /// The value as a whole number from `least` to `most`. Errors call it `what`.
  [[nodiscard]] std::uint64_t number(
      const char* what, std::uint64_t least = 0,
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  struct Pair {
    std::uint64_t first;
    std::uint64_t second;
  };
  /// The value as two whole numbers of at least `least`, as in 3x4. A number of more than 64 bits
  /// is clamped to the maximum.
  [[nodiscard]] Pair pair(const char* what, std::uint64_t least) const;
  /// The value of an option, or `otherwise` if the spec does not have it.
  [[nodiscard]] std::uint64_t option(
      std::string_view name, std::uint64_t otherwise, std::uint64_t least = 0,
      std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  /// An option's value, a number with at most two digits after the point, in hundredths.
  [[nodiscard]] std::uint64_t hundredths(std::string_view name, std::uint64_t otherwise,
                                         std::uint64_t least, std::uint64_t most);
  /// Throws if the spec has an option that was not read. Call it after the last option was read.
  void finish() const;

  [[noreturn]] void refuse(const std::string& why) const;
  /// Throws if this machine has less than `bytes` of memory.
  void needs_memory(double bytes) const;

 private:
  struct Option {
    std::string_view name;
    std::string_view value;
    bool known = false;
  };

  /// The text of an option, empty if it is not given. Marks the option as known.
  [[nodiscard]] std::optional<std::string_view> value_of(std::string_view name);
  [[nodiscard]] std::uint64_t parse(std::string_view text, const std::string& what,
                                    std::uint64_t least, std::uint64_t most) const;

  std::string_view spec_;
  const SpecKind& kind_;
  std::string_view value_;
  std::vector<Option> options_;
};

}  // namespace cohort
