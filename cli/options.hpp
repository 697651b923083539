// Shared by the commands' options: numbers with limits, and spelling suggestions.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace cohort::cli {

/// Accepts whole numbers from `least` to `most`. Checked while the command line is parsed, before
/// anything is allocated: `--groups 100000: at most 4096`.
[[nodiscard]] CLI::Validator whole_number(const std::string& option, std::uint64_t least,
                                          std::uint64_t most);

/// Adds an option that takes such a number.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& option, Number& number,
                        std::uint64_t least, std::uint64_t most, const std::string& description) {
  return command.add_option(option, number, description)
      ->type_name("N")
      ->check(whole_number(option, least, most));
}

/// Accepts numbers above 0, up to `most`.
[[nodiscard]] CLI::Validator positive_number(const std::string& option, double most);

/// The entry of `names` closest to the mistyped `word`.
[[nodiscard]] std::optional<std::string> nearest(const std::string& word,
                                                 const std::vector<std::string>& names);

/// The subcommands of `app` that are not hidden.
[[nodiscard]] inline std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}
/// The options of `app` that are not hidden.
[[nodiscard]] inline std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}
/// The subcommand `name` of `app`, which is called as `path`. Throws Error{bad_options}, with a
/// suggestion.
[[nodiscard]] const CLI::App& command_named(const CLI::App& app, const std::string& path,
                                            const std::string& name);

/// One-line message about arguments that `app` does not know.
[[nodiscard]] std::string unexpected(const CLI::App& app, const std::string& path);

}  // namespace cohort::cli
