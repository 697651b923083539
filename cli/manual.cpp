#include "cli/manual.hpp"

#include <iostream>
#include <memory>
#include <regex>

#include "apps/registry.hpp"
#include "cli/commands.hpp"
#include "cohort/error.hpp"
#include "cohort/version.hpp"

namespace cohort::cli {
namespace {

/// The commands of `app` that are meant for people.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
}

/// The options of `app` that are meant for people.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// What roff would take for its own.
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char each : text) {
    if (line_begins && (each == '.' || each == '\'')) result += "\\&";
    if (each == '\\') {
      result += "\\e";
    } else if (each == '-') {
      result += "\\-";
    } else {
      result += each;
    }
    line_begins = each == '\n';
  }
  return result;
}

void describe(std::string& page, const CLI::App& app, const std::string& path) {
  page += ".SS " + roff(path) + "\n" + roff(app.get_description()) + ".\n";
  for (const CLI::Option* const option : options_of(app)) {
    page +=
        ".TP\n.B " + roff(option->get_positional() ? option->get_name(true) : option->get_name());
    page += takes_value(*option) && !option->get_positional()
                ? " \\fI" + option->get_type_name() + "\\fP\n"
                : "\n";
    page += roff(option->get_description());
    if (!option->get_default_str().empty()) page += " [" + roff(option->get_default_str()) + "]";
    page += "\n";
  }
  if (!app.get_footer().empty()) page += ".PP\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
  for (const CLI::App* const each : commands_of(app))
    describe(page, *each, path + " " + each->get_name());
}

/// The words of "a|b|c" in a description, separated by spaces.
std::string alternatives(const std::string& description) {
  static const std::regex pattern{"[a-z][a-z-]*(\\|[a-z][a-z-]*)+"};
  std::smatch match;
  if (!std::regex_search(description, match, pattern)) return "";
  return std::regex_replace(match.str(), std::regex{"\\|"}, " ");
}

void complete(std::string& paths, std::string& words, std::string& values, const CLI::App& app,
              const std::string& path) {
  std::string known;
  for (const CLI::App* const each : commands_of(app)) {
    known += each->get_name() + " ";
    paths += (paths.empty() ? "" : "|") + path + "/" + each->get_name();
    complete(paths, words, values, *each, path + "/" + each->get_name());
  }
  for (const CLI::Option* const option : options_of(app)) {
    if (option->get_positional()) {
      if (option->get_name(true) == "app") {
        for (const auto& each : apps::all()) known += std::string{each.name} + " ";
      }
      continue;
    }
    std::string patterns;
    const auto add = [&](const std::string& name) {
      known += name + " ";
      if (!patterns.empty()) patterns += '|';
      patterns.append(path).append(",").append(name);
    };
    for (const std::string& name : option->get_lnames()) add("--" + name);
    for (const std::string& name : option->get_snames()) add("-" + name);
    if (!takes_value(*option)) continue;
    const std::string choices = alternatives(option->get_description());
    values += "    " + patterns + ") " + (choices.empty() ? "return" : "words='" + choices + "'") +
              " ;;\n";
  }
  words += "      '" + path + "') words='" + known + "' ;;\n";
}

int print(const std::string& text) {
  std::cout << text;
  return fine;
}

}  // namespace

std::string manual_page(const CLI::App& tool) {
  std::string page = ".TH COHORT 1 \"\" \"cohort " COHORT_VERSION "\" \"User Commands\"\n";
  page += ".SH NAME\ncohort \\- " + roff(tool.get_description()) + "\n.SH SYNOPSIS\n";
  for (const CLI::App* const each : commands_of(tool))
    page += ".B cohort " + roff(each->get_name()) + "\n.RI [ options ]\n.br\n";
  page += ".SH COMMANDS\n";
  for (const CLI::App* const each : commands_of(tool))
    describe(page, *each, "cohort " + each->get_name());
  page +=
      ".SH EXIT STATUS\n.TP\n.B 0\nfine\n.TP\n.B 1\nsomething failed, or a result was wrong\n.TP\n"
      ".B 2\nbad input: one line on the standard error says what to change\n.TP\n"
      ".B 128+n\nended by signal n\n"
      ".SH ENVIRONMENT\n.TP\n.B COHORT_DATA\na folder with graph files, which are then found by "
      "their names\n";
  return page;
}

std::string bash_completion(const CLI::App& tool) {
  std::string paths;
  std::string words;
  std::string values;
  complete(paths, words, values, tool, "");
  return "# bash completion for cohort; made by `cohort completion bash`\n"
         "_cohort() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= word "
         "words=\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $path/$word in " +
         paths +
         ") path=$path/$word ;; esac\n"
         "  done\n"
         "  COMPREPLY=()\n"
         "  case $path,$before in\n" +
         values +
         "  esac\n"
         "  if [[ -z $words ]]; then\n"
         "    case $path in\n" +
         words +
         "    esac\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _cohort cohort\n";
}

void add_manual(CLI::App& tool, Action& chosen) {
  CLI::App* const completion =
      tool.add_subcommand("completion", "Print a completion script for a shell");
  completion->footer("  source <(cohort completion bash)");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash")->required();
  completion->callback([&tool, shell, &chosen] {
    chosen = [&tool, shell] {
      if (*shell != "bash")
        throw Error{Errc::bad_options, "no completion for '" + *shell + "'; there is bash"};
      return print(bash_completion(tool));
    };
  });
  CLI::App* const manual = tool.add_subcommand("manual", "Print the manual page, for man -l -");
  manual->callback([&tool, &chosen] { chosen = [&tool] { return print(manual_page(tool)); }; });
}

}  // namespace cohort::cli
