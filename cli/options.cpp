#include "cli/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <numeric>
#include <sstream>

#include "cohort/error.hpp"

namespace cohort::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text,
                         const std::string& why) {
  throw Error{Errc::bad_options, option + " " + text + ": " + why};
}

/// Edit distance: insertions, deletions, substitutions and swaps of adjacent letters.
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(other.size() + 1);
  std::iota(last.begin(), last.end(), 0U);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::vector<std::size_t> row(other.size() + 1, i);
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const bool same = one[i - 1] == other[j - 1];
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

/// The entry of `names` closest to the mistyped `word`, as a question.
std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  std::string best;
  // The distance must be smaller than this to count.
  std::size_t least = 1 + std::max<std::size_t>(1, word.size() / 3);
  for (const std::string& each : names) {
    const std::size_t wrong = distance(word, each);
    if (wrong >= least) continue;
    least = wrong;
    best = each;
  }
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

std::string no_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* const each : commands_of(app)) names.push_back(each->get_name());
  return "'" + word + "': no such command" + suggestion(word, names);
}

}  // namespace

CLI::Validator whole_number(const std::string& option, std::uint64_t least, std::uint64_t most) {
  const auto check = [option, least, most](const std::string& text) -> std::string {
    const bool negative = text.starts_with('-');
    const char* const begin = text.data() + (negative ? 1 : 0);
    const char* const end = text.data() + text.size();
    std::uint64_t number = 0;
    const auto [stopped, error] = std::from_chars(begin, end, number);
    if (begin == end || stopped != end || error == std::errc::invalid_argument)
      refuse(option, "'" + text + "'", "not a whole number");
    if (negative || (error == std::errc{} && number < least))
      refuse(option, text, "at least " + std::to_string(least));
    if (error != std::errc{} || number > most)
      refuse(option, text, "at most " + std::to_string(most));
    return "";
  };
  return {check, ""};
}

CLI::Option* add_share(CLI::App& command, std::string& share) {
  return command.add_flag("--share", share,
                          "Lend workers to other processes of yours (tenants) while this runs; "
                          "--share=NAME to name the engine (default: pid and the process id)");
}

std::string share_name(const std::string& share) {
  return share == "true" ? "pid" + std::to_string(::getpid()) : share;  // a flag without a value
}

void announce_share(const std::string& name) {
  if (!name.empty()) std::cout << "shared as " << name << std::endl;  // NOLINT: others wait for it
}

CLI::Validator positive_number(const std::string& option, double most) {
  const auto check = [option, most](const std::string& text) -> std::string {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (stopped != end || error == std::errc::invalid_argument)
      refuse(option, "'" + text + "'", "not a number");
    if (error == std::errc{} && !(number > 0)) refuse(option, text, "more than 0");
    if (error != std::errc{} || number > most)
      refuse(option, text, "at most " + std::to_string(static_cast<std::uint64_t>(most)));
    return "";
  };
  return {check, ""};
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  return takes_value(*option) && !option->get_positional() ? " " + option->get_type_name() : "";
}

/// Wraps the description into lines that fit next to the option names.
std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  constexpr std::size_t width = 70;
  std::istringstream description{option->get_description()};
  std::vector<std::string> words{std::istream_iterator<std::string>{description}, {}};
  if (const std::string value = default_of(*option); !value.empty()) words.push_back(value);
  std::string text;
  std::size_t length = 0;
  for (const std::string& word : words) {
    if (length + word.size() > width) length = 0;
    if (!text.empty()) text += length == 0 ? '\n' : ' ';
    text += word;
    length += word.size() + 1;
  }
  return text;
}

const CLI::App& command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* const each : commands_of(app)) {
    if (each->get_name() == name) return *each;
  }
  throw Error{Errc::bad_options, no_command(app, name)};
}

std::string unexpected(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return "unexpected arguments";
  const auto is_option = [](const std::string& each) { return each.starts_with('-'); };
  const auto option = std::ranges::find_if(words, is_option);
  const std::string& word = option == words.end() ? words.front() : *option;
  if (is_option(word)) {
    std::vector<std::string> names;
    for (const CLI::Option* const each : options_of(app)) {
      for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
    }
    return word + ": no such option" + suggestion(word, names);
  }
  if (!commands_of(app).empty()) return no_command(app, word);
  return "'" + word + "': one argument too many";
}

}  // namespace cohort::cli
