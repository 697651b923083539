#include "cli/completion.hpp"

#include <array>
#include <regex>

#include "apps/registry.hpp"
#include "cli/options.hpp"
#include "cohort/any_engine.hpp"
#include "src/choices.hpp"

namespace cohort::cli {
namespace {

struct Shell {
  std::string_view name;
  const char* script;
};
constexpr std::array shells{
    Shell{"bash", R"(# bash completion for cohort; made by `cohort completion bash`
_cohort() {
  COMPREPLY=($(cohort complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null | cut -f 1))
}
complete -o default -F _cohort cohort
)"},
    Shell{"zsh", R"(#compdef cohort
# zsh completion for cohort; made by `cohort completion zsh`
_cohort() {
  local -a found
  found=("${(@f)$(cohort complete "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  found=("${(@)${(@)found//:/\\:}/$'\t'/:}")
  if [[ -n $found ]]; then _describe cohort found; else _files; fi
}
if [[ $funcstack[1] == _cohort ]]; then _cohort "$@"; else compdef _cohort cohort; fi
)"},
    Shell{"fish", R"(# fish completion for cohort; made by `cohort completion fish`
function __cohort
  set -l current (commandline -ct)
  cohort complete (commandline -opc)[2..] "$current" 2> /dev/null | string match '*'
  or __fish_complete_path "$current"
end
complete -c cohort -f -a '(__cohort)'
)"},
};

/// The alternatives in a description of the form "a|b|c".
std::vector<std::string> alternatives(const std::string& description) {
  static const std::regex pattern{"[a-z][a-z-]*(\\|[a-z][a-z-]*)+"};
  std::smatch match;
  if (!std::regex_search(description, match, pattern)) return {};
  const std::string all = match.str();
  const std::regex bar{"\\|"};
  return {std::sregex_token_iterator{all.begin(), all.end(), bar, -1}, {}};
}

}  // namespace

std::string completion_script(const std::string& shell) {
  return choose("completion for", shell, shells).script;
}

std::string completions(const CLI::App& tool, std::vector<std::string> words) {
  const std::string current = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  const CLI::App* app = &tool;
  for (const std::string& word : words) {
    for (const CLI::App* const each : commands_of(*app)) {
      if (each->get_name() == word) app = each;
    }
  }
  std::string found;
  const auto offer = [&](std::string_view word, std::string_view description) {
    if (!word.starts_with(current)) return;
    found.append(word).append("\t").append(description).append("\n");
  };
  for (const CLI::Option* const option : options_of(*app)) {
    if (words.empty() || !takes_value(*option) || !option->check_name(words.back())) continue;
    for (const std::string& each : alternatives(option->get_description())) offer(each, "");
    if (option->check_lname("engine")) {
      for (const EngineKind& each : engine_kinds()) offer(each.name, each.summary);
    }
    return found;
  }
  for (const CLI::App* const each : commands_of(*app))
    offer(each->get_name(), each->get_description());
  for (const CLI::Option* const option : options_of(*app)) {
    if (option->get_positional() && option->get_name(true) == "app") {
      for (const auto& each : apps::all()) offer(each.name, each.summary);
    }
    for (const std::string& name : option->get_lnames())
      offer("--" + name, option->get_description());
    for (const std::string& name : option->get_snames())
      offer("-" + name, option->get_description());
  }
  return found;
}

}  // namespace cohort::cli
