#include "cli/completion.hpp"

#include <array>
#include <regex>

#include "apps/registry.hpp"
#include "cli/options.hpp"
#include "cohort/any_engine.hpp"
#include "src/choices.hpp"

namespace cohort::cli {
namespace {

/// A word that can be completed.
struct Word {
  std::string text;
  std::string description;
};

struct OptionWord : Word {
  bool takes_value;
  std::vector<std::string> choices;  ///< values it accepts; empty: a file name or free text
};

/// Words and options that may follow a command. `path`: "" for the tool, "/bench/multitask".
struct CommandWords {
  std::string path;
  std::vector<Word> words;
  std::vector<OptionWord> options;
};

/// The words of "a|b|c" in a description.
std::vector<std::string> alternatives(const std::string& description) {
  static const std::regex pattern{"[a-z][a-z-]*(\\|[a-z][a-z-]*)+"};
  std::smatch match;
  if (!std::regex_search(description, match, pattern)) return {};
  const std::string all = match.str();
  const std::regex bar{"\\|"};
  return {std::sregex_token_iterator{all.begin(), all.end(), bar, -1}, {}};
}

void collect(std::vector<CommandWords>& places, const CLI::App& app, const std::string& path) {
  CommandWords place{.path = path, .words = {}, .options = {}};
  for (const CLI::App* const each : commands_of(app))
    place.words.push_back({each->get_name(), each->get_description()});
  for (const CLI::Option* const option : options_of(app)) {
    if (option->get_positional()) {
      if (option->get_name(true) == "app") {
        for (const auto& each : apps::all())
          place.words.push_back({std::string{each.name}, std::string{each.summary}});
      }
      continue;
    }
    std::vector<std::string> choices = alternatives(option->get_description());
    if (option->check_lname("engine")) {
      for (const EngineKind& each : engine_kinds()) choices.emplace_back(each.name);
    }
    const auto add = [&](const std::string& name) {
      place.options.push_back(
          {{name, option->get_description()}, option->get_items_expected_max() > 0, choices});
    };
    for (const std::string& name : option->get_lnames()) add("--" + name);
    for (const std::string& name : option->get_snames()) add("-" + name);
  }
  places.push_back(std::move(place));
  for (const CLI::App* const each : commands_of(app))
    collect(places, *each, path + "/" + each->get_name());
}

std::string quoted(const std::string& text) {
  return "'" + std::regex_replace(text, std::regex{"'"}, "'\\''") + "'";
}

template <class Strings>
std::string joined(const Strings& strings, const std::string& separator) {
  std::string all;
  for (const std::string& each : strings) all += (all.empty() ? "" : separator) + each;
  return all;
}

/// All command paths except "", joined for a `case` pattern.
std::string paths_of(const std::vector<CommandWords>& places, const std::string& separator) {
  std::vector<std::string> paths;
  for (const CommandWords& each : places) {
    if (!each.path.empty()) paths.push_back(each.path);
  }
  return joined(paths, separator);
}

std::string for_bash(const std::vector<CommandWords>& places) {
  std::string values;
  std::string words;
  for (const CommandWords& place : places) {
    std::vector<std::string> known;
    for (const Word& each : place.words) known.push_back(each.text);
    for (const OptionWord& each : place.options) {
      known.push_back(each.text);
      if (!each.takes_value) continue;
      values += "    " + place.path + "," + each.text + ") " +
                (each.choices.empty() ? "return" : "words=" + quoted(joined(each.choices, " "))) +
                " ;;\n";
    }
    words += "      '" + place.path + "') words=" + quoted(joined(known, " ")) + " ;;\n";
  }
  return R"(# bash completion for cohort; made by `cohort completion bash`
_cohort() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at= word words=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $at/$word in )" +
         paths_of(places, "|") + R"() at=$at/$word ;; esac
  done
  COMPREPLY=()
  case $at,$before in
)" + values +
         R"(  esac
  if [[ -z $words ]]; then
    case $at in
)" + words +
         R"(    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _cohort cohort
)";
}

std::string for_zsh(const std::vector<CommandWords>& places) {
  const auto item = [](const Word& word) { return quoted(word.text + ":" + word.description); };
  std::string values;
  std::string words;
  for (const CommandWords& place : places) {
    std::vector<std::string> known;
    for (const Word& each : place.words) known.push_back(item(each));
    for (const OptionWord& each : place.options) {
      known.push_back(item(each));
      if (!each.takes_value) continue;
      values += "    " + place.path + "," + each.text + ") " +
                (each.choices.empty() ? "_files; return"
                                      : "choices=(" + joined(each.choices, " ") + ")") +
                " ;;\n";
    }
    words += "      '" + place.path + "') choices=(" + joined(known, "\n        ") + ") ;;\n";
  }
  return R"(#compdef cohort
# zsh completion for cohort; made by `cohort completion zsh`
_cohort() {
  local before=${words[CURRENT-1]} at= word
  local -a choices
  for word in "${(@)words[2,CURRENT-1]}"; do
    case $at/$word in )" +
         paths_of(places, "|") + R"() at=$at/$word ;; esac
  done
  case $at,$before in
)" + values +
         R"(  esac
  if (( ! $#choices )); then
    case $at in
)" + words +
         R"(    esac
  fi
  _describe cohort choices || _files
}
if [[ $funcstack[1] == _cohort ]]; then _cohort "$@"; else compdef _cohort cohort; fi
)";
}

std::string for_fish(const std::vector<CommandWords>& places) {
  std::string lines;
  for (const CommandWords& place : places) {
    const std::string line = "complete -c cohort -n " + quoted("__cohort_at '" + place.path + "'");
    for (const Word& each : place.words)
      lines += line + " -f -a " + each.text + " -d " + quoted(each.description) + "\n";
    for (const OptionWord& each : place.options) {
      const bool longer = each.text.starts_with("--");
      lines += line + (longer ? " -l " : " -s ") + each.text.substr(longer ? 2 : 1);
      if (!each.choices.empty()) {
        lines += " -x -a " + quoted(joined(each.choices, " "));
      } else if (each.takes_value) {
        lines += " -r";
      }
      lines += " -d " + quoted(each.description) + "\n";
    }
  }
  return R"(# fish completion for cohort; made by `cohort completion fish`
function __cohort_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch $at/$word
      case )" +
         paths_of(places, " ") + R"(
        set at $at/$word
    end
  end
  test "$at" = "$argv[1]"
end
)" + lines;
}

struct Shell {
  std::string_view name;
  std::string (*script)(const std::vector<CommandWords>&);
};
constexpr std::array shells{Shell{"bash", &for_bash}, Shell{"zsh", &for_zsh},
                            Shell{"fish", &for_fish}};

}  // namespace

std::string completion(const CLI::App& tool, const std::string& shell) {
  std::vector<CommandWords> places;
  collect(places, tool, "");
  return choose("completion for", shell, shells).script(places);
}

}  // namespace cohort::cli
