// Shared by the commands' options: numbers with limits, and spelling suggestions.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace cohort::cli {

/// Accepts whole numbers from `least` to `most`. Checked while the command line is parsed, before
/// anything is allocated: `--groups 100000: at most 4096`.
[[nodiscard]] CLI::Validator whole_number(const std::string& option, std::uint64_t least,
                                          std::uint64_t most);

/// Adds an option whose value is shown as `type` in the help: `--json FILE`.
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& option, Value& value,
                       const std::string& type, const std::string& description) {
  return command.add_option(option, value, description)->type_name(type);
}

/// Adds an option that takes a whole number from `least` to `most`.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& option, Number& number,
                        std::uint64_t least, std::uint64_t most, const std::string& description) {
  return add_value(command, option, number, "N", description)
      ->check(whole_number(option, least, most));
}

/// Adds `--share[=NAME]`.
CLI::Option* add_share(CLI::App& command, std::string& share);
/// The name for which `share` asks; empty if the option was not given.
[[nodiscard]] std::string share_name(const std::string& share);
/// Prints the name under which an engine is shared, if it is.
void announce_share(const std::string& name);

/// Accepts numbers above 0, up to `most`.
[[nodiscard]] CLI::Validator positive_number(const std::string& option, double most);

/// Prints help in this form: `--engine ENGINE  cpu, cuda or opencl (default: cpu)`
class HelpFormatter : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_option_desc(const CLI::Option* option) const override;
};
[[nodiscard]] inline bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}
/// "(default: cpu)"; empty if the option has no default.
[[nodiscard]] inline std::string default_of(const CLI::Option& option) {
  const std::string value = option.get_default_str();
  return value.empty() ? "" : "(default: " + value + ")";
}

/// The subcommands of `app` that are not hidden.
[[nodiscard]] inline std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}
/// The options of `app` that are not hidden.
[[nodiscard]] inline std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}
/// The subcommand `name` of `app`. Throws Error{bad_options}, with a suggestion.
[[nodiscard]] const CLI::App& command_named(const CLI::App& app, const std::string& name);

/// One-line message about arguments that `app` does not know.
[[nodiscard]] std::string unexpected(const CLI::App& app);

}  // namespace cohort::cli
